// What one realm does in the database must not hold up the tokens of another: they are committed together.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getCode, makePeopledRealm, redeem, refresh } from '../../support/applications.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { lockWaits } from '../../support/database.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALMS = ['hostile', 'peaceful'];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const realm of REALMS) await makePeopledRealm(server, realm);
});
afterAll(() => server?.stop());

const waits = () => lockWaits(server.databaseUrl);

// As a deletion holds them, of a realm or of many users, from its beginning to its commit.
test.each(['realm_user', 'session', 'client', 'authorization_code'])(
  'codes of a realm whose rows of %s are held hold up no other realm',
  async (table) => {
    const stuck = await Promise.all(Array.from({ length: 6 }, () => getCode(server, 'hostile', 'spa')));
    const grant = await getCode(server, 'peaceful', 'spa');
    await connectedCluster(server.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query(`select from ${table} where realm_id = 'hostile' for update`);
      const waiting = stuck.map((code) => redeem(server, 'hostile', 'spa', code));
      const order: string[] = [];
      const all = Promise.all(waiting).then(() => void order.push('hostile'));
      await expect.poll(waits).toBeGreaterThan(0);
      const { status } = await redeem(server, 'peaceful', 'spa', grant);
      order.push('peaceful');
      await client.query('rollback');
      await all;
      expect([status, ...order]).toEqual([200, 'peaceful', 'hostile']);
    });
  },
);

test('refreshes of a realm whose grants are held hold up no other realm', async () => {
  const refreshToken = async (realm: string) =>
    (await redeem(server, realm, 'spa', await getCode(server, realm, 'spa'))).body.refresh_token;
  const stuck = await Promise.all(Array.from({ length: 6 }, () => refreshToken('hostile')));
  const mine = await refreshToken('peaceful');
  await connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    for (const table of ['refresh_family', 'session', 'realm_user'])
      await client.query(`select from ${table} where realm_id = 'hostile' for update`);
    const waiting = stuck.map((token) => refresh(server, 'hostile', 'spa', token));
    const order: string[] = [];
    const all = Promise.all(waiting).then(() => void order.push('hostile'));
    await expect.poll(waits).toBeGreaterThan(0);
    const { status } = await refresh(server, 'peaceful', 'spa', mine);
    order.push('peaceful');
    await client.query('rollback');
    await all;
    expect([status, ...order]).toEqual([200, 'peaceful', 'hostile']);
  });
});
