// One address that tries hundreds of passwords at the same moment.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_TRUST_PROXY: '127.0.0.1' } });
  await makeRealm(server, 'acme');
  await server.admin.call(createUser, { params: { realm: 'acme' }, body: { username: 'alice', password: PASSWORD } });
});
afterAll(() => server?.stop());

const from = (address: string) => createPerson(server.baseUrl, { 'x-forwarded-for': address });

test('few of them are tried, and somebody elsewhere is signed in meanwhile', async () => {
  const many = Array.from({ length: 400 }, () => from('10.0.0.1'));
  const pages = await Promise.all(many.map((one) => one.open('/realms/acme/login')));
  const alice = from('10.0.0.2');
  const hers = await alice.open('/realms/acme/login');
  let answered = 0;
  const flood = Promise.all(
    many.map(async (one, i) => {
      const page = pages[i];
      if (page) await one.fill(page, { username: `nobody${i}`, password: 'guessed by somebody' });
      answered += 1;
    }),
  );
  await expect.poll(() => answered).toBeGreaterThan(0);
  const { heading } = await alice.fill(hers, { username: 'alice', password: PASSWORD });
  expect(heading).toBe('alice');
  await flood;
  const { rows } = await server.pool.query(
    `select count(*)::int as failures from event where realm_id = 'acme' and type = 'LOGIN_FAILURE'`,
  );
  // Those that one address may have in a minute, and those that are under way when it has had them.
  expect(rows[0].failures).toBeLessThanOrEqual(20 + 32);
});
