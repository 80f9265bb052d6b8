// SQL of the first start: the first administrator, the operator's client and its identity.
import type { Sql } from '../../../db/sql.ts';

/**
 * Locks until the transaction ends, so that replicas that start together run one after the other. Assigns no
 * transaction id.
 */
export async function takeTurn(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('realmkeeper bootstrap'))`;
}

export async function realmExists(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`select realm_id from realm where realm_id = ${realm}`;
  return row !== undefined;
}

export async function allRealms(sql: Sql): Promise<string[]> {
  const rows = await sql<{ realm_id: string }>`select realm_id from realm where deleted_at is null`;
  return rows.map((row) => row.realm_id);
}

export interface UserRow {
  id: string;
  username: string;
}

export async function userNamed(sql: Sql, realm: string, username: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow>`
    select id, username from realm_user where realm_id = ${realm} and lower(username) = lower(${username})`;
  return row;
}

/** Whether a server has created the first administrator: then no start creates another. */
export async function isBootstrapped(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`select realm_id from first_administrator where realm_id = ${realm}`;
  return row !== undefined;
}

export async function markBootstrapped(sql: Sql, realm: string, at: Date): Promise<void> {
  await sql`insert into first_administrator (realm_id, made_at) values (${realm}, ${at}) on conflict do nothing`;
}

/** Whether any user, enabled or not, holds realm-admin over every realm, as created by a replica of an older release. */
export async function hasGrant(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`
    select g.user_id from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
    where g.realm_id = ${realm} and g.user_id is not null and g.target_realm = '*' and r.name = 'realm-admin' limit 1`;
  return row !== undefined;
}

/** Whether the client already has all permissions in every realm. */
export async function isGranted(sql: Sql, realm: string, clientId: string): Promise<boolean> {
  const [row] = await sql`
    select c.id from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
    join client c on c.realm_id = g.realm_id and c.id = g.client
    where g.realm_id = ${realm} and c.client_id = ${clientId} and g.target_realm = '*' and r.name = 'realm-admin'`;
  return row !== undefined;
}

export interface Identity {
  issuer: string;
  subject: string;
  audience: string;
}

/** Names of the workload identities that can act as this client. */
export async function identitiesOf(sql: Sql, realm: string, clientId: string): Promise<string[]> {
  const rows = await sql<{ name: string }>`
    select name from workload_identity where realm_id = ${realm} and client_id = ${clientId}`;
  return rows.map(({ name }) => name);
}

/** The name of another workload identity that accepts the same tokens. */
export async function sameIdentity(
  sql: Sql,
  realm: string,
  { name, issuer, subject, audience }: Identity & { name: string },
): Promise<string[]> {
  const rows = await sql<{ name: string }>`
    select name from workload_identity where realm_id = ${realm} and name <> ${name}
      and issuer = ${issuer} and subject = ${subject} and audience = ${audience}`;
  return rows.map((row) => row.name);
}
