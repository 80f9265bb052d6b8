// A realm's webhook whose row is held for long, as by an import or a deletion of its realm, must hold up no other realm: an
// event's delivery refers to it, and events of many realms are written together.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { getCode, makePeopledRealm, redeem, refresh } from '../../support/applications.ts';
import { basic, makeClient, post, SECRET } from '../../support/clients.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { lockWaits } from '../../support/database.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ connections: 10 });
  for (const realm of ['stalled', 'peaceful']) {
    await makePeopledRealm(server, realm);
    await makeClient(server, realm, { clientId: 'robot', secret: SECRET, grantTypes: ['client_credentials'] });
  }
  await server.admin.call(createWebhook, {
    params: { realm: 'stalled' },
    body: { name: 'all', url: 'https://127.0.0.1:1/', eventTypes: '*', enabled: true },
  });
});
afterAll(() => server?.stop());

/** While the row is held. */
async function whileHeld(work: () => Promise<void>): Promise<void> {
  await connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from webhook where realm_id = 'stalled' for update`);
    await work();
    await client.query('rollback');
  });
}
const waits = () => lockWaits(server.databaseUrl);
const refreshToken = async (realm: string) =>
  (await redeem(server, realm, 'spa', await getCode(server, realm, 'spa'))).body.refresh_token;
const robot = async (realm: string) =>
  (await post(server, realm, 'token', { grant_type: 'client_credentials' }, { authorization: basic('robot') })).status;
const issued = async (realm: string): Promise<number> => {
  const { body = [] } = await server.admin.call(listEvents, { params: { realm }, query: { type: 'TOKEN_ISSUED' } });
  return body.filter(({ clientId }) => clientId === 'robot').length;
};

/** Somebody who waits for the row nearly as long as a request would, by PostgreSQL's own clock. */
const patience = () =>
  connectedCluster(server.databaseUrl, async (client) => {
    await client.query(`set lock_timeout = '9s'`);
    await client.query(`select from webhook where realm_id = 'stalled' for update`).catch(() => {});
  });

test('refreshes of its realm hold up those of no other', async () => {
  const stuck = await Promise.all(Array.from({ length: 6 }, () => refreshToken('stalled')));
  const mine = await Promise.all(Array.from({ length: 6 }, () => refreshToken('peaceful')));
  const order: string[] = [];
  let rest: Promise<unknown> = Promise.resolve();
  await whileHeld(async () => {
    const long = patience().then(() => void order.push('patience'));
    await expect.poll(waits).toBe(1);
    const answers = stuck.map((token) => refresh(server, 'stalled', 'spa', token));
    rest = Promise.all([long, ...answers.map(async (answer) => void order.push(`stalled ${(await answer).status}`))]);
    const others = mine.map((token) => refresh(server, 'peaceful', 'spa', token));
    order.push(...(await Promise.all(others)).map(({ status }) => `peaceful ${status}`));
  });
  await rest;
  expect(order.slice(0, mine.length)).toEqual(mine.map(() => 'peaceful 200'));
  expect(order.slice(mine.length).sort()).toEqual(['patience', ...stuck.map(() => 'stalled 200')]);
});

test('the audit log of the others goes on, and its own follows', async () => {
  await whileHeld(async () => {
    expect([await robot('stalled'), await robot('peaceful')]).toEqual([200, 200]);
    await expect.poll(() => issued('peaceful'), { timeout: 8_000 }).toBe(1);
    expect(await issued('stalled')).toBe(0);
  });
  await expect.poll(() => issued('stalled')).toBe(1);
});
