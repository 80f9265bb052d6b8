// An import whose client hangs up: what the database was doing for it ends, and nothing of it stays.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockWaits } from '../../support/database.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;

beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const users = (count: number) => Array.from({ length: count }, (_, i) => ({ username: `user-${i}` }));
const staged = async () =>
  (await server.pool.query(`select from pg_class where relname ~ '^import_user_' and relkind = 'r'`)).rowCount;

test.each([
  ['that is staged', 'few', 3],
  ['that is written while it is parsed', 'many', 20_000],
])('an import %s ends when its client hangs up', async (_, realm, count) => {
  await admin.apply(realm, { roles: [{ name: 'member' }] });
  const locking = await server.pool.connect();
  await locking.query('begin');
  await locking.query('select from realm where realm_id = $1 for update', [realm]);
  const leaving = new AbortController();
  const { url, headers } = admin.raw(`/admin/realms/${realm}/import`);
  const answer = fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ users: users(count) }),
    signal: leaving.signal,
  });
  const gone = expect(answer).rejects.toThrow('abort');
  await expect.poll(() => lockWaits(server.databaseUrl)).toBe(1);
  leaving.abort();
  await gone;
  await expect.poll(() => lockWaits(server.databaseUrl), { timeout: 8_000 }).toBe(0);
  await locking.query('rollback');
  locking.release();
  await expect.poll(staged).toBe(0);
  const { rowCount } = await server.pool.query('select from realm_user where realm_id = $1', [realm]);
  expect(rowCount).toBe(0);
});
