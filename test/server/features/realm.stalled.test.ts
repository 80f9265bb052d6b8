// A realm whose rows are locked for long, as by a large import, must leave database connections to all others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { type CodeGrant, getCode, makePeopledRealm, redeem } from '../../support/applications.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { lockWaits } from '../../support/database.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const MORE = Array.from({ length: 9 }, (_, i) => `stalled${i}`);
beforeAll(async () => {
  server = await startTestServer({ connections: 10 });
  for (const realm of ['stalled', ...MORE, 'peaceful']) await makePeopledRealm(server, realm);
});
afterAll(() => server?.stop());

/** The answer's status, and after how many seconds to come back. */
const write = (realm: string, welcomeText: string): Promise<[number, number | undefined]> =>
  server.admin.call(putSettings, { params: { realm }, body: { welcomeText } }).then(
    ({ status }) => [status, undefined],
    (error: unknown) => {
      if (!(error instanceof ServerProblem)) throw error;
      return [error.status, error.retryAfterSeconds];
    },
  );

const waits = () => lockWaits(server.databaseUrl);

/** A write and a code's exchange of the realm that nobody holds, as many at once as there are grants. */
async function expectServed(grants: readonly CodeGrant[]): Promise<void> {
  const served = grants.map(async (grant, i) => [
    (await write('peaceful', `${i}`))[0],
    (await redeem(server, 'peaceful', 'spa', grant)).status,
  ]);
  expect(await Promise.all(served)).toEqual(grants.map(() => [200, 200]));
}

test('twenty writes to a realm that is locked hold up no other, and those that can’t wait are told to come back', async () => {
  // several, so that one place alone wouldn't do
  const grants = await Promise.all(Array.from({ length: 4 }, () => getCode(server, 'peaceful', 'spa')));
  await connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from realm where realm_id = 'stalled' for no key update`);
    const answers: [number, number | undefined][] = [];
    const stuck = Promise.all(
      Array.from({ length: 20 }, async (_, i) => void answers.push(await write('stalled', `${i}`))),
    );
    await expect.poll(waits).toBe(5);
    await expectServed(grants);
    expect(answers).toEqual([]);
    // those without a turn give up, those with one still wait for the lock
    await expect.poll(() => answers.length).toBe(15);
    expect(await waits()).toBe(5);
    await client.query('rollback');
    await stuck;
    expect(answers.filter(([status]) => status === 200)).toHaveLength(5);
    expect(answers.filter(([status]) => status !== 200)).toEqual(Array.from({ length: 15 }, () => [503, 2]));
  });
});

test('a dozen sign-ins of people who are being deleted hold up no other realm', async () => {
  await server.admin.call(putSettings, { params: { realm: 'stalled' }, body: { lockoutEnabled: true } });
  const grants = await Promise.all(Array.from({ length: 4 }, () => getCode(server, 'peaceful', 'spa')));
  const people = Array.from({ length: 12 }, () => createPerson(server.baseUrl));
  const pages = await Promise.all(people.map((person) => person.open('/realms/stalled/login')));
  await connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from realm_user where realm_id = 'stalled' for update`);
    const credentials = { username: 'alice', password: 'not the right one' };
    const stuck = Promise.all(
      people.map(async (person, i) => {
        const page = pages[i];
        return page && (await person.fill(page, credentials)).status;
      }),
    );
    await expect.poll(waits).toBe(5);
    await expectServed(grants);
    await client.query('rollback');
    await stuck;
  });
});

test('as many realms as there are connections that are all locked hold up no other', async () => {
  const grants = await Promise.all(Array.from({ length: 4 }, () => getCode(server, 'peaceful', 'spa')));
  const realms = ['stalled', ...MORE];
  for (const realm of realms)
    await server.admin.call(putSettings, { params: { realm }, body: { lockoutEnabled: true } });
  await connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from realm where realm_id like 'stalled%' for no key update`);
    // Of each a transaction, and a statement of its own: a failed try that is counted.
    await client.query(`select from realm_user where realm_id like 'stalled%' for update`);
    const people = await Promise.all(
      realms.map(async (realm) => {
        const person = createPerson(server.baseUrl);
        return { person, page: await person.open(`/realms/${realm}/login`) };
      }),
    );
    const stuck = Promise.all([
      ...realms.map((realm) => write(realm, 'hello')),
      ...people.map(({ person, page }) => person.fill(page, { username: 'alice', password: 'not the right one' })),
    ]);
    await expect.poll(waits).toBeGreaterThanOrEqual(8);
    await expectServed(grants);
    await client.query('rollback');
    await stuck;
  });
});
