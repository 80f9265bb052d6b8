// What an export of a realm costs that was filled since PostgreSQL last looked at its tables.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const TABLES = ['realm_user', 'user_role', 'group_member', 'role', 'user_group', 'client'];
const fill = (realm: string, count: number) =>
  admin.apply(realm, {
    roles: [{ name: 'member' }],
    groups: [{ path: '/all' }],
    clients: [{ clientId: 'shop' }],
    clientRoles: { shop: [{ name: 'buyer' }] },
    users: Array.from({ length: count }, (_, i) => ({
      username: `user-${i}`,
      roles: ['member'],
      groups: ['/all'],
      clientRoles: { shop: ['buyer'] },
    })),
  });

async function leastOf(times: number, work: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const begun = performance.now();
    await work();
    took.push(performance.now() - begun);
  }
  return Math.min(...took);
}

test('an export of a realm that was just filled takes no longer than one whose size the planner knows', async () => {
  for (const table of TABLES) await server.pool.query(`alter table ${table} set (autovacuum_enabled = false)`);
  await fill('before', 3000);
  await server.pool.query(`analyze ${TABLES.join(', ')}`);
  await fill('fresh', 3000);
  const unknown = await leastOf(2, () => admin.download('fresh'));
  await server.pool.query(`analyze ${TABLES.join(', ')}`);
  const known = await leastOf(2, () => admin.download('fresh'));
  // A nested loop over all users and all roles costs a hundred times as much.
  expect(unknown / known).toBeLessThan(5);
});
