// Gives new users of a realm its default roles and default groups, however the users are created.
// Decisions "Role", "Group".
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

/** A new user whose creator named no roles or groups, which would replace the defaults. */
export const newUser = (id: string): Fragment =>
  fragment`select ${id}::uuid as id, false as says_roles, false as says_client_roles, false as says_groups`;

/**
 * @param newUsers a query of their ids with three flags (`says_roles`, `says_client_roles`, `says_groups`). A flag is true if the
 *   creator named the user's roles or groups; then the defaults of that kind are not given.
 */
export async function giveDefaults(sql: Sql, realm: string, newUsers: Fragment): Promise<void> {
  const defaults = await sql<{ kind: 'role' | 'clientRole' | 'group'; id: string }>`
    select case when client is null then 'role' else 'clientRole' end as kind, id from role
    where realm_id = ${realm} and is_default
    union all select 'group', id from user_group where realm_id = ${realm} and is_default`;
  const of = (kind: string) => defaults.flatMap((one) => (one.kind === kind ? [one.id] : []));
  const [roles, clientRoles, groups] = [of('role'), of('clientRole'), of('group')];
  if (roles.length + clientRoles.length > 0)
    await sql`
      insert into user_role (realm_id, user_id, role_id)
      select ${realm}, n.id, d.id from (${newUsers}) n cross join lateral (
        select unnest(${roles}::uuid[]) as id where not n.says_roles
        union all select unnest(${clientRoles}::uuid[]) where not n.says_client_roles) d
      on conflict do nothing`;
  if (groups.length > 0)
    await sql`
      insert into group_member (realm_id, group_id, user_id)
      select ${realm}, d.id, n.id from (${newUsers}) n cross join unnest(${groups}::uuid[]) as d (id)
      where not n.says_groups on conflict do nothing`;
}
