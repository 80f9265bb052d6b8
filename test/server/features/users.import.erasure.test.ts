// Owns: erasing somebody while imports run, in their realm and in others.
// Does not own: what an erasure leaves elsewhere (gdpr.test.ts), the tables that imports wait in (staging.test.ts).
// Implements: specification 1 ("a change in one realm never affects another"), 2.9.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createUser } from '../../../server/contract/users.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { lockWaits } from '../../support/database.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  for (const realm of ['mine', 'other']) await admin.apply(realm, { users: [{ username: 'first' }] });
});
afterAll(() => server?.stop());

const rows = Array.from({ length: 13 }, (_, i) => ({ username: `user-${i}`, email: `user-${i}@people.example` }));
const create = async (realm: string, username: string, email: string) => {
  const { body } = await server.admin.call(createUser, { params: { realm }, body: { username, email } });
  return body?.id ?? '';
};
const erase = (realm: string, userId: string) => server.admin.call(eraseUser, { params: { realm, userId } });
const usersOf = async (realm: string): Promise<string[]> =>
  (
    await server.pool.query(
      `select username from realm_user where realm_id = $1 and username like 'user-%' order by 1`,
      [realm],
    )
  ).rows.map(({ username }) => username);

/** The import's rows are staged, and it waits for the realm, while `meanwhile` is done. */
async function importing(realm: string, path: string, body: object, meanwhile: () => Promise<unknown>) {
  return connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(7164202502::bigint # hashtextextended($1, 0))`, [realm]);
    const answer = admin.fetch(`/admin/realms/${realm}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await expect.poll(() => lockWaits(server.databaseUrl)).toBe(1);
    await meanwhile();
    await client.query('commit');
    const { status } = await answer;
    expect(status).toBe(200);
    return (await answer).json();
  });
}

test.each([
  ['rows of users', 'users/import', rows],
  ['a document', 'import', { users: rows }],
])('erasing people of one realm leaves %s for another whole', async (_, path, body) => {
  const ids = await Promise.all([
    create('mine', 'user-3', 'a@people.example'),
    create('mine', 'b', 'user-7@people.example'),
    create('mine', 'USER-9', 'user-9@people.example'),
  ]);
  const answer = await importing('other', path, body, () => Promise.all(ids.map((id) => erase('mine', id))));
  expect(answer).toMatchObject(
    path === 'import' ? { summary: { create: 13 } } : { created: 13, unchanged: 0, failed: 0 },
  );
  expect(await usersOf('other')).toHaveLength(13);
  await server.pool.query(`delete from realm_user where realm_id = 'other' and username like 'user-%'`);
});

test('who is erased while their own realm imports them doesn’t come back, and the report says so', async () => {
  const id = await create('mine', 'user-3', 'user-3@people.example');
  const answer = await importing('mine', 'users/import', rows, () => erase('mine', id));
  expect(answer).toMatchObject({
    created: 12,
    unchanged: 0,
    failed: 1,
    failures: [{ row: 3, errors: [{ message: 'was erased while the import ran' }] }],
  });
  expect(await usersOf('mine')).not.toContain('user-3');
});

test('erasures succeed while many imports begin and end', async () => {
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, i) => create('mine', `gone-${i}`, `gone-${i}@people.example`)),
  );
  const imports = Array.from({ length: 24 }, (_, i) =>
    admin.fetch(`/admin/realms/${i % 2 === 0 ? 'other' : 'mine'}/import?dryRun=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ users: [{ username: `user-${i}` }] }),
    }),
  );
  const erased = await Promise.all(ids.map((userId) => erase('mine', userId).then(({ status }) => status)));
  expect(erased).toEqual(ids.map(() => 204));
  expect((await Promise.all(imports)).map(({ status }) => status)).toEqual(imports.map(() => 200));
});
