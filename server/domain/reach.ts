// The objects that an administrator of single groups or clients may see: users in these groups or below them, and the clients. Other
// objects don't exist for this administrator. Decisions "Admin authentication".
import type { ReachedBy } from '../contract/route.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

/** Ids of groups and clients. */
export interface Reach {
  groups: readonly string[];
  clients: readonly string[];
}

/** The kinds of objects that a route's path names by id. */
export type Named = Exclude<ReachedBy, 'rows'>;

/** The reach's groups, and all groups below them. */
const groupsIn = (realm: string, { groups }: Reach): Fragment => fragment`(
  select g.id from user_group top
  join user_group g on g.realm_id = top.realm_id and (g.id = top.id or starts_with(g.path, top.path || '/'))
  where top.realm_id = ${realm} and top.id = any(${groups}::uuid[]))`;

/** Condition on rows `t` of groups. */
export const groupReached = (realm: string, reach: Reach): Fragment => fragment`and t.id in ${groupsIn(realm, reach)}`;
/** Condition on rows `t` of clients. */
export const clientReached = (_realm: string, { clients }: Reach): Fragment =>
  fragment`and t.id = any(${clients}::uuid[])`;
/** Condition on rows `u` of users. */
export const userReached = (realm: string, reach: Reach): Fragment => fragment`u.id in (
  select user_id from group_member where realm_id = ${realm} and group_id in ${groupsIn(realm, reach)})`;

/**
 * Condition: the user `u` has no group, organization or role outside the reach, except the realm's defaults. An administrator who
 * changes a user can sign in as that user, and would get the rights of those groups and roles.
 */
const whollyReached = (realm: string, reach: Reach): Fragment => fragment`not exists (
    select from group_member m join user_group g on g.realm_id = m.realm_id and g.id = m.group_id
    where m.realm_id = ${realm} and m.user_id = u.id and not g.is_default and g.id not in ${groupsIn(realm, reach)})
  and not exists (
    select from user_role ur join role r on r.realm_id = ur.realm_id and r.id = ur.role_id
    where ur.realm_id = ${realm} and ur.user_id = u.id and not r.is_default)
  and not exists (select from organization_member m where m.realm_id = ${realm} and m.user_id = u.id)`;

/** Whether the object that a path names is in reach. */
export async function isReached(
  sql: Sql,
  realm: string,
  reach: Reach,
  { group, user, client }: Named,
  { writes }: { writes: boolean },
): Promise<boolean> {
  const [row] = await sql`
    select where true
    ${group === undefined ? fragment`` : fragment`and ${group}::uuid in ${groupsIn(realm, reach)}`}
    ${client === undefined ? fragment`` : fragment`and ${client}::uuid = any(${reach.clients}::uuid[])`}
    ${
      user === undefined
        ? fragment``
        : fragment`and exists (select from realm_user u where u.realm_id = ${realm} and u.id = ${user}::uuid
            and ${userReached(realm, reach)} ${writes ? fragment`and ${whollyReached(realm, reach)}` : fragment``})`
    }`;
  return row !== undefined;
}

/** Which of these groups, by path, aren't in reach. */
export async function groupsBeyond(sql: Sql, realm: string, reach: Reach, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const rows = await sql<{ path: string }>`
    select path from user_group where realm_id = ${realm} and path = any(${paths}::text[]) and id in ${groupsIn(realm, reach)}`;
  const reached = new Set(rows.map(({ path }) => path));
  return paths.filter((path) => !reached.has(path));
}
