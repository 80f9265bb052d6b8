// People's sign-ins are ended together: what one realm does in the database, or one person, must not hold up the others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { getCode, makePeopledRealm } from '../../support/applications.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { lockWaits } from '../../support/database.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALMS = ['stalled', 'peaceful'];
const PEOPLE = ['alice', 'bob', 'carol', 'dave'];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ connections: 10 });
  for (const realm of REALMS) await makePeopledRealm(server, realm, PEOPLE);
});
afterAll(() => server?.stop());

const signIn = (realm: string, username: string) => getCode(server, realm, 'spa', { username });
const successes = async (realm: string): Promise<number> =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_SUCCESS' } })).body?.length ?? 0;

const waits = () => lockWaits(server.databaseUrl);

// As a deletion holds them, of a realm or of many users, from its beginning to its commit.
test.each(['realm_user', 'client'])(
  'sign-ins of a realm whose rows of %s are held hold up no other, and come through when they are free',
  async (table) => {
    const before = await successes('stalled');
    const order: string[] = [];
    const stuck = await connectedCluster(server.databaseUrl, async (client) => {
      await client.query('begin');
      await client.query(`select from ${table} where realm_id = 'stalled' for update`);
      const all = Promise.all(PEOPLE.map((username) => signIn('stalled', username))).then(() => order.push('stalled'));
      await expect.poll(waits).toBe(PEOPLE.length);
      await Promise.all(PEOPLE.map((username) => signIn('peaceful', username)));
      order.push('peaceful');
      await client.query('rollback');
      return all;
    });
    expect(stuck).toBe(2);
    expect(order).toEqual(['peaceful', 'stalled']);
    expect(await successes('stalled')).toBe(before + PEOPLE.length);
  },
);

test('one person whose row is held is signed in when it is free, and holds up nobody who comes at the same moment', async () => {
  const order: string[] = [];
  await connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from realm_user where realm_id = 'peaceful' and username = 'alice' for update`);
    const all = PEOPLE.map((username) => signIn('peaceful', username).then(() => void order.push(username)));
    await Promise.all(all.slice(1));
    order.push('the others');
    await client.query('rollback');
    await all[0];
  });
  expect(order.slice(3)).toEqual(['the others', 'alice']);
});
