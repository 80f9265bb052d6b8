// Owns: what a row costs, in an import of few rows and in one of many, where PostgreSQL knows nothing yet of the realm.
// Does not own: a hundred thousand rows and their memory (users.import.large.long.test.ts).
// Implements: specification 4.2, "of any length".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UsersImported } from '../../../server/contract/user-import.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  // What PostgreSQL knows of users by then is another realm's.
  await admin.apply('other', {});
  await server.pool.query(
    `insert into realm_user (realm_id, id, username, email, created_at)
     select 'other', gen_random_uuid(), 'other-' || i, 'other-' || i || '@people.example', now() from generate_series(1, 50000) i`,
  );
  await server.pool.query('analyze');
});
afterAll(() => server?.stop());

const configuration = { roles: [{ name: 'clerk' }], groups: [{ path: '/all' }] };
const rowsOf = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({
    username: `user-${from + i}`,
    email: `user-${from + i}@people.example`,
    firstName: 'First',
    roles: ['clerk'],
    groups: ['/all'],
    credentials: [{ type: 'otp', secret: 'JBSWY3DPEHPK3PXP' }],
  }));

async function timed(realm: string, rows: object[]) {
  const body = JSON.stringify(rows);
  const begun = performance.now();
  const answer = await admin.fetch(`/admin/realms/${realm}/users/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { created, updated, unchanged, failed } = UsersImported.parse(await answer.json());
  return { ms: performance.now() - begun, told: { created, updated, unchanged, failed } };
}

/** Of a row, in the best of some tries: whatever else the machine does only adds to it. */
async function perRow(count: number, tries: number, of: (realm: string) => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i += 1) {
    const realm = `of-${count}-${i}`;
    best = Math.min(best, await of(realm));
  }
  return best / count;
}

test('a row of 20,000 costs no more than one of 1,000, when it is new and when it is there already', async () => {
  const again = new Map<number, number>();
  const cost = async (count: number, tries: number) =>
    perRow(count, tries, async (realm) => {
      await admin.apply(realm, configuration);
      const first = await timed(realm, rowsOf(count));
      expect(first.told).toEqual({ created: count, updated: 0, unchanged: 0, failed: 0 });
      const second = await timed(realm, rowsOf(count));
      expect(second.told).toEqual({ created: 0, updated: 0, unchanged: count, failed: 0 });
      again.set(count, Math.min(again.get(count) ?? Number.POSITIVE_INFINITY, second.ms / count));
      return first.ms;
    });
  const few = await cost(1000, 3);
  const many = await cost(20_000, 1);
  expect(many / few).toBeLessThan(2.5);
  expect((again.get(20_000) ?? Number.NaN) / (again.get(1000) ?? Number.NaN)).toBeLessThan(2.5);
});

test('a thousand more rows cost no more where there are twenty thousand than where there are none', async () => {
  await admin.apply('filled', configuration);
  const empty = await timed('filled', rowsOf(1000));
  for (const at of [1000, 11_000]) await timed('filled', rowsOf(10_000, at));
  const more = await timed('filled', rowsOf(1000, 21_000));
  const changed = await timed(
    'filled',
    rowsOf(1000).map((row) => ({ ...row, firstName: 'Other', roles: [] })),
  );
  expect(more.told).toMatchObject({ created: 1000 });
  expect(changed.told).toMatchObject({ updated: 1000 });
  expect(more.ms / empty.ms).toBeLessThan(4);
  expect(changed.ms / empty.ms).toBeLessThan(6);
});
