// What docs/scim.md says is looked up by an index is: the plans of PostgreSQL for a realm of many.
import { beforeAll, expect, test } from 'vitest';
import { fragment } from '../../../server/db/sql.ts';
import { freshProfile } from '../../../server/domain/user-profile.ts';
import { parseFilter } from '../../../server/features/operations/scim/filter.ts';
import { sqlOf } from '../../../server/features/operations/scim/filter-sql.ts';
import { placeOf, userType } from '../../../server/features/operations/scim/schema.ts';
import { userColumns, usersOf } from '../../../server/features/operations/scim/user-store.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const bare = bareDatabase({ max: 1 });
const GROUP = '00000000-0000-7000-8000-000000000007';

beforeAll(async () => {
  await bare.pool.query(`
    insert into realm (realm_id, created_at) values ('acme', now());
    insert into realm_user (realm_id, id, username, email, created_at)
      select 'acme', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'user' || n, 'user' || n || '@x.example', now()
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
])('%s reads no table as a whole', async (filter) => {
  const condition = sqlOf(parseFilter(filter), userColumns('acme', freshProfile), (path) => placeOf(userType, path));
  const rows = await bare.sql<{ 'QUERY PLAN': string }>`
    explain select u.id ${usersOf('acme')} and ${condition} order by ${fragment`u.id`} limit 101`;
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).not.toMatch(/Seq Scan on (realm_user|group_member|scim_user)/);
  // Nor by its key, one by one, until enough were found.
  expect(plan).not.toMatch(
    /(Index Scan|Index Only Scan) using realm_user_pkey on realm_user u\s[^\n]*\n\s*Index Cond: \(realm_id = '?[^ ]*\)/,
  );
});
