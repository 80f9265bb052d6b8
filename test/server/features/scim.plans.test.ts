// What docs/scim.md says is looked up by an index is: the plans of PostgreSQL for a realm of many.
import { beforeAll, expect, test } from 'vitest';
import type { ScimQuery } from '../../../server/contract/scim.ts';
import { fragment } from '../../../server/db/sql.ts';
import { freshProfile } from '../../../server/domain/user-profile.ts';
import { parseFilter } from '../../../server/features/operations/scim/filter.ts';
import { sqlOf } from '../../../server/features/operations/scim/filter-sql.ts';
import { findPage, orderOf } from '../../../server/features/operations/scim/listing.ts';
import { placeOf, userType } from '../../../server/features/operations/scim/schema.ts';
import {
  inRealm,
  type ScimUserRow,
  userColumns,
  userSelect,
  usersOf,
  userTable,
} from '../../../server/features/operations/scim/user-store.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const bare = bareDatabase({ max: 1 });
const resolve = (path: string) => placeOf(userType, path);
const GROUP = '00000000-0000-7000-8000-000000000007';

const planOf = async (filter: string): Promise<string> => {
  const condition = sqlOf(parseFilter(filter), userColumns('acme', freshProfile), resolve);
  const rows = await bare.sql<{ 'QUERY PLAN': string }>`
    explain select u.id ${usersOf('acme')} and ${condition} order by ${fragment`u.id`} limit 101`;
  return rows.map((row) => row['QUERY PLAN']).join('\n');
};

beforeAll(async () => {
  await bare.pool.query(`
    insert into realm (realm_id, created_at) values ('acme', now());
    insert into realm_user (realm_id, id, username, email, attributes, created_at)
      select 'acme', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'user' || n, 'user' || n || '@x.example',
        jsonb_build_object('manager', jsonb_build_array('user' || n / 10)), now()
      from generate_series(1, 20000) n;
    insert into user_group (realm_id, id, name, path)
      select 'acme', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'group' || n, '/group' || n from generate_series(1, 2000) n;
    insert into group_member (realm_id, group_id, user_id)
      select 'acme', ('00000000-0000-7000-8000-' || lpad((n % 2000 + 1)::text, 12, '0'))::uuid,
        ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid from generate_series(1, 20000) n;
    insert into scim_user (realm_id, user_id, external_id)
      select realm_id, id, username from realm_user;
    update scim_user s set document = jsonb_build_object('emails', jsonb_build_array(jsonb_build_object('value', u.username || '@home.example'))),
      further_emails = array[u.username || '@home.example'] from realm_user u where u.id = s.user_id;
    analyze realm_user; analyze user_group; analyze group_member; analyze scim_user`);
});

test.each([
  `id eq "${GROUP}"`,
  'userName eq "user7"',
  'emails eq "user7@x.example"',
  'emails.value eq "user7@x.example"',
  'externalId eq "user7"',
  `groups.value eq "${GROUP}"`,
  `groups eq "${GROUP}"`,
  `groups[value eq "${GROUP}"]`,
  'emails[type eq "work" and value eq "user7@x.example"]',
  'emails[type eq "home"].value eq "user7@home.example"',
  'userName eq "user7" or emails.value eq "user7@x.example"',
  'manager eq "user7"',
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value eq "nobody"',
  'meta.lastModified gt "2100-01-01T00:00:00Z"',
  'name.familyName eq "Nobody"',
])('%s reads no table as a whole', async (filter) => {
  const plan = await planOf(filter);
  expect(plan).not.toMatch(/Seq Scan on (realm_user|group_member|scim_user)/);
  // Nor by its key, one by one, until enough were found.
  expect(plan).not.toMatch(
    /(Index Scan|Index Only Scan) using realm_user_pkey on realm_user u\s[^\n]*\n\s*Index Cond: \(realm_id = '?[^ ]*\)/,
  );
});

test.each([
  'emails eq "user7@x.example"',
  'emails.value eq "user7@home.example"',
  'emails[type eq "work" and value eq "user7@x.example"]',
  'emails[type eq "work"].value eq "user7@x.example"',
])('%s is one look-up by ids, whatever PostgreSQL thinks of how many there are', async (filter) => {
  expect(await planOf(filter)).not.toMatch(/BitmapOr/);
});

test.each(['userName co "77"', 'userName eq "u"'])(
  '%s compares no text that the index of names does not serve',
  async (filter) => {
    expect(await planOf(filter)).not.toContain('search_form');
  },
);

/** How often each table was looked into. */
async function looked(): Promise<Record<string, number>> {
  await bare.pool.query('select pg_stat_force_next_flush()');
  const { rows } = await bare.pool.query<{ relname: string; n: string }>(
    'select relname, coalesce(idx_scan, 0) + coalesce(seq_scan, 0) as n from pg_stat_all_tables where relname = any($1)',
    [['scim_user', 'group_member', 'user_role']],
  );
  return Object.fromEntries(rows.map(({ relname, n }) => [relname, Number(n)]));
}

test.each<[string, object]>([
  ['by id', {}],
  ['by userName', { sortBy: 'userName' }],
  ['filtered', { filter: 'active eq true' }],
])('a page far behind reads what its own users have alone: %s', async (_, query: ScimQuery) => {
  const columns = userColumns('acme', freshProfile);
  const before = await looked();
  const { rows, total } = await findPage<ScimUserRow>(
    bare.sql,
    {
      table: userTable,
      within: inRealm('acme'),
      select: userSelect,
      id: fragment`u.id`,
      condition: query.filter ? sqlOf(parseFilter(query.filter), columns, resolve) : fragment`true`,
      order: orderOf(query, columns, resolve),
    },
    { ...query, startIndex: 19_001, count: 10 },
  );
  expect([rows.length, total]).toEqual([10, 20_000]);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(10);
  const names = rows.map(({ username }) => username);
  expect(names).toEqual(query.sortBy ? [...names].sort() : names.map((_name, i) => `user${19_001 + i}`));
  const after = await looked();
  // Each user's row asks scim_user four times.
  for (const [table, n] of Object.entries(after)) expect(n - (before[table] ?? 0), table).toBeLessThanOrEqual(11 * 4);
});
