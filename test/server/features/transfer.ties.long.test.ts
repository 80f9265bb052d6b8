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

const USERS = 3000;
const NAMES = 1000;
const names = (prefix: string) => Array.from({ length: NAMES }, (_, i) => `${prefix}-${i}`);

/** Everybody has a role, a client's role and a group, each by the place `from` on. */
const documentOf = (from: number) => ({
  clients: [{ clientId: 'app/50%' }],
  roles: names('role').map((name) => ({ name })),
  clientRoles: { 'app/50%': names('duty').map((name) => ({ name: `${name}/all` })) },
  groups: names('group').map((name) => ({ path: `/${name}` })),
  users: Array.from({ length: USERS }, (_, i) => ({
    username: `user-${i}`,
    roles: [`role-${(i + from) % NAMES}`],
    clientRoles: { 'app/50%': [`duty-${(i + from) % NAMES}/all`] },
    groups: [`/group-${(i + from) % NAMES}`],
  })),
});

/** Rows that were read from the tables of what users are tied to, as PostgreSQL counts them. */
async function read(): Promise<number> {
  const { rows } = await server.pool.query<{ read: string }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as read from pg_stat_user_tables where relname in ('role', 'user_group')`,
  );
  return Number(rows[0]?.read);
}

test('what users are tied to is looked up by its key, just after an import too, when nothing is known of how much there is', async () => {
  await server.pool.query('alter table role set (autovacuum_enabled = false)');
  await server.pool.query('alter table user_group set (autovacuum_enabled = false)');
  expect(await admin.apply('tied', documentOf(0))).toMatchObject({ inSync: false });
  const before = await read();
  expect(await admin.apply('tied', documentOf(0))).toMatchObject({ inSync: true, changes: [] });
  const moved = await admin.apply('tied', documentOf(1));
  expect(moved.summary).toMatchObject({ create: 0, update: USERS, delete: 0 });
  // counted once a connection has nothing to do
  await expect.poll(read).toBeGreaterThan(before + 4 * USERS);
  expect((await read()) - before).toBeLessThan(USERS * NAMES);
});
