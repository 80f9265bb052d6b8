// Which of the clients that registered themselves nobody uses any more.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listUnusedRegisteredClients, putProvisioning } from '../../../server/contract/provisioning.ts';
import { basic, makeRealm, post } from '../../support/clients.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'acme';
const params = { realm };
const DAY = 86_400_000;
let server: TestServer;
let clock = Date.now();
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
  await makeRealm(server, realm);
});
afterAll(() => server?.stop());

test('registered clients that got no tokens for long are listed, page by page', async () => {
  await server.admin.call(putProvisioning, {
    params,
    body: { registration: 'open', allowedGrantTypes: ['client_credentials'] },
  });
  const register = async () => {
    const answer = await fetch(`${server.baseUrl}/realms/${realm}/connect/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Job', grant_types: ['client_credentials'], response_types: [] }),
    });
    const { client_id: id, client_secret: secret } = JSON.parse(await answer.text());
    return { id: String(id), secret: String(secret) };
  };
  const [once, busy, never] = [await register(), await register(), await register()];
  await server.admin.call(createClient, { params, body: { clientId: 'by-hand' } });
  const works = async ({ id, secret }: typeof once) => {
    const form = { grant_type: 'client_credentials' };
    expect((await post(server, realm, 'token', form, { authorization: basic(id, secret) })).status).toBe(200);
  };

  const begun = clock;
  await works(once);
  // rows of the audit log that tell of tokens are written in batches
  await expect
    .poll(async () => (await server.admin.call(listEvents, { params, query: { type: 'TOKEN_ISSUED' } })).body)
    .toHaveLength(1);
  clock += 100 * DAY;
  await works(busy);
  // the session of before has ended
  const admin = await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
  const unused = async (query: object = {}) =>
    (await admin.call(listUnusedRegisteredClients, { params, query })).body ?? [];
  await expect
    .poll(async () => (await unused()).map(({ clientId, name, lastUsedAt }) => [clientId, name, lastUsedAt]))
    .toEqual([
      [once.id, 'Job', begun],
      [never.id, 'Job', null],
    ]);
  expect(await unused({ days: 101 })).toEqual([]);

  expect((await unused({ limit: 1 })).map(({ clientId }) => clientId)).toEqual([once.id]);
  const cursor = Buffer.from(JSON.stringify([once.id])).toString('base64url');
  expect((await unused({ limit: 1, cursor })).map(({ clientId }) => clientId)).toEqual([never.id]);
  await expect(unused({ days: 0 })).rejects.toMatchObject({ status: 400 });
});
