// Pieces of SQL that read a token's user, with groups and with roles (direct, by group, by composite).
// grants.ts has the statements around them. Decisions "Role", "Group".
import { fragment, type Sql } from '../db/sql.ts';

/** Roles with composites resolved. */
export interface Roles {
  realm: readonly string[];
  clients: Readonly<Record<string, readonly string[]>>;
}

export interface Membership {
  id: string;
  name: string;
}

/** The subject of claims. A service account has only roles. */
export interface Person {
  id: string;
  username: string;
  /** The user's value of the realm's subject attribute, if the realm has one. */
  subject: string | null;
  email: string | null;
  emailVerified: boolean;
  /** When the user's data last changed. */
  updatedAt: Date;
  firstName: string | null;
  lastName: string | null;
  attributes: Readonly<Record<string, readonly string[]>>;
  /** Attributes of the user's groups, sorted by path; each group is followed by the groups above it. */
  inherited: readonly Readonly<Record<string, readonly string[]>>[];
  groups: readonly string[];
  /** Enabled ones. */
  organizations: readonly Membership[];
  roles: Roles;
}

/** `[clientId or null, role name]` of each role. */
export type RolePairs = [string | null, string][];

export interface PersonRow {
  user_id: string;
  username: string;
  subject: string | null;
  email: string | null;
  email_verified: boolean;
  updated_at: Date;
  first_name: string | null;
  last_name: string | null;
  enabled: boolean;
  attributes: Record<string, string[]>;
  inherited: Record<string, string[]>[];
  groups: string[];
  organizations: Membership[];
  roles: RolePairs;
}

/** The columns of {@link PersonRow}, for a query that has the user as `u`. */
export const personColumns = fragment`
  u.id as user_id, u.username, u.subject, u.email, u.email_verified, u.updated_at, u.first_name, u.last_name, u.enabled, u.attributes,
  array(
    select g.path from group_member m join user_group g on g.realm_id = m.realm_id and g.id = m.group_id
    where m.realm_id = u.realm_id and m.user_id = u.id order by g.path
  ) as groups,
  (
    with recursive above (path, height, parent_id, attributes) as (
      select g.path, 0, g.parent_id, g.attributes from group_member m join user_group g on g.realm_id = m.realm_id and g.id = m.group_id
      where m.realm_id = u.realm_id and m.user_id = u.id
      union all
      select a.path, a.height + 1, g.parent_id, g.attributes
      from above a join user_group g on g.realm_id = u.realm_id and g.id = a.parent_id
    ) select coalesce(jsonb_agg(attributes order by path, height), '[]') from above where attributes <> '{}'
  ) as inherited,
  (
    select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'name', o.name) order by o.name), '[]')
    from organization_member m join organization o on o.realm_id = m.realm_id and o.id = m.organization_id
    where m.realm_id = u.realm_id and m.user_id = u.id and o.enabled
  ) as organizations,
  (
    with recursive inside (group_id) as (
      select group_id from group_member where realm_id = u.realm_id and user_id = u.id
      union
      select g.parent_id from inside i join user_group g on g.realm_id = u.realm_id and g.id = i.group_id
      where g.parent_id is not null
    ), held (role_id) as (
      select role_id from user_role where realm_id = u.realm_id and user_id = u.id
      union
      select gr.role_id from inside i join group_role gr on gr.realm_id = u.realm_id and gr.group_id = i.group_id
      union
      select rc.child_id from held h join role_composite rc on rc.realm_id = u.realm_id and rc.role_id = h.role_id
    )
    select coalesce(jsonb_agg(jsonb_build_array(c.client_id, r.name) order by c.client_id, r.name), '[]')
    from held h join role r on r.realm_id = u.realm_id and r.id = h.role_id
      left join client c on c.realm_id = r.realm_id and c.id = r.client
  ) as roles`;

/** Reads a user with groups and roles. The row says whether the user is enabled. */
export async function readPersonRow(sql: Sql, realm: string, userId: string): Promise<PersonRow | undefined> {
  const [row] = await sql<PersonRow>`
    select ${personColumns} from realm_user u where u.realm_id = ${realm} and u.id = ${userId}`;
  return row;
}

/** The realm's roles and the clients' roles, out of pairs of client id (null: the realm's) and name. */
export function rolesOf(pairs: RolePairs): Roles {
  const realm: string[] = [];
  const clients = new Map<string, string[]>();
  for (const [clientId, name] of pairs) {
    if (clientId === null) realm.push(name);
    else clients.set(clientId, [...(clients.get(clientId) ?? []), name]);
  }
  return { realm, clients: Object.fromEntries(clients) };
}

/** A user out of its row. */
export const personOf = (row: PersonRow): Person => ({
  id: row.user_id,
  username: row.username,
  subject: row.subject,
  email: row.email,
  emailVerified: row.email_verified,
  updatedAt: row.updated_at,
  firstName: row.first_name,
  lastName: row.last_name,
  attributes: row.attributes,
  inherited: row.inherited,
  groups: row.groups,
  organizations: row.organizations,
  roles: rolesOf(row.roles),
});
