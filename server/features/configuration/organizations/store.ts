// SQL of organizations' members.
import { fragment, type Sql } from '../../../db/sql.ts';

export interface MemberRow {
  id: string;
  username: string;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  enabled: boolean;
  joinedAt: Date;
}
type At = { id: string; userId: string };

export async function exists(sql: Sql, realm: string, id: string): Promise<boolean> {
  const [row] = await sql`select from organization where realm_id = ${realm} and id = ${id}`;
  return row !== undefined;
}

/** Ordered by the case-folded username, which is unique. */
export const members = (
  sql: Sql,
  realm: string,
  id: string,
  after: string | undefined,
  limit: number,
): Promise<MemberRow[]> => sql<MemberRow>`
  select u.id, u.username, u.email, u.first_name as "firstName", u.last_name as "lastName", u.enabled, m.joined_at as "joinedAt"
  from organization_member m join realm_user u on u.realm_id = m.realm_id and u.id = m.user_id
  where m.realm_id = ${realm} and m.organization_id = ${id}
    ${after === undefined ? fragment`` : fragment`and lower(u.username) > lower(${after})`}
  order by lower(u.username) limit ${limit}`;

export interface UserOrganizationRow {
  id: string;
  name: string;
  displayName: string | null;
  enabled: boolean;
  joinedAt: Date;
}
export const organizationsOf = (
  sql: Sql,
  realm: string,
  userId: string,
  after: string | undefined,
  limit: number,
): Promise<UserOrganizationRow[]> => sql<UserOrganizationRow>`
  select o.id, o.name, o.display_name as "displayName", o.enabled, m.joined_at as "joinedAt"
  from organization_member m join organization o on o.realm_id = m.realm_id and o.id = m.organization_id
  where m.realm_id = ${realm} and m.user_id = ${userId}
    ${after === undefined ? fragment`` : fragment`and o.name collate "C" > ${after}`}
  order by o.name collate "C" limit ${limit}`;

export async function userExists(sql: Sql, realm: string, userId: string): Promise<boolean> {
  const [row] = await sql`select from realm_user where realm_id = ${realm} and id = ${userId}`;
  return row !== undefined;
}

/** The names of both; undefined: there is no such organization; no username: no such user. */
export async function membershipNames(sql: Sql, realm: string, id: string, userId: string) {
  const [row] = await sql<{ organization: string; username: string | null }>`
    select o.name as organization, u.username from organization o
    left join realm_user u on u.realm_id = o.realm_id and u.id = ${userId}
    where o.realm_id = ${realm} and o.id = ${id}`;
  return row;
}

const isMember = async (sql: Sql, realm: string, { id, userId }: At): Promise<boolean> =>
  (
    await sql`
      select from organization_member where realm_id = ${realm} and organization_id = ${id} and user_id = ${userId}`
  ).length > 0;

/** False: was one already. */
export async function addMember(sql: Sql, realm: string, at: At, joinedAt: Date): Promise<boolean> {
  if (await isMember(sql, realm, at)) return false;
  const [row] = await sql`
    insert into organization_member (realm_id, organization_id, user_id, joined_at)
    values (${realm}, ${at.id}, ${at.userId}, ${joinedAt}) on conflict do nothing returning user_id`;
  return row !== undefined;
}

/** False: was none. */
export async function removeMember(sql: Sql, realm: string, { id, userId }: At): Promise<boolean> {
  const [row] = await sql`
    delete from organization_member where realm_id = ${realm} and organization_id = ${id} and user_id = ${userId}
    returning user_id`;
  return row !== undefined;
}
