// SQL of the first start: is there an administrator, the operator's client and its identity.
import type { Sql } from '../../db/sql.ts';

/** Held until the transaction ends, so that replicas that start together take turns. Takes no transaction id. */
export async function takeTurn(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('realmkeeper bootstrap'))`;
}

export async function realmExists(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`select realm_id from realm where realm_id = ${realm}`;
  return row !== undefined;
}

export async function allRealms(sql: Sql): Promise<string[]> {
  const rows = await sql<{ realm_id: string }>`select realm_id from realm`;
  return rows.map((row) => row.realm_id);
}

/** Whether any person holds realm-admin over every realm. */
export async function hasAdministrator(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`
    select g.user_id from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
    where g.realm_id = ${realm} and g.user_id is not null and g.target_realm = '*' and r.name = 'realm-admin' limit 1`;
  return row !== undefined;
}

/** False where the name is taken. */
export async function insertUser(
  sql: Sql,
  realm: string,
  user: { id: string; username: string; at: Date },
): Promise<boolean> {
  const [row] = await sql`
    insert into realm_user (realm_id, id, username, created_at)
    values (${realm}, ${user.id}, ${user.username}, ${user.at}) on conflict do nothing returning id`;
  return row !== undefined;
}

/** Whether the client may do everything in every realm already. */
export async function isGranted(sql: Sql, realm: string, clientId: string): Promise<boolean> {
  const [row] = await sql`
    select c.id from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
    join client c on c.realm_id = g.realm_id and c.id = g.client
    where g.realm_id = ${realm} and c.client_id = ${clientId} and g.target_realm = '*' and r.name = 'realm-admin'`;
  return row !== undefined;
}

/** A client that becomes the operator's must not be reachable by what somebody trusted before. */
export async function deleteIdentitiesOf(sql: Sql, realm: string, clientId: string): Promise<void> {
  await sql`delete from workload_identity where realm_id = ${realm} and client_id = ${clientId}`;
}

export interface Identity {
  issuer: string;
  subject: string;
  audience: string;
}

/** False where it is so already. */
export async function putIdentity(
  sql: Sql,
  realm: string,
  identity: Identity & { id: string; name: string; clientId: string },
): Promise<boolean> {
  const { id, name, clientId, issuer, subject, audience } = identity;
  const [same] = await sql`
    select id from workload_identity where realm_id = ${realm} and name = ${name} and client_id = ${clientId}
      and issuer = ${issuer} and subject = ${subject} and audience = ${audience} and jwks_uri is null and enabled`;
  if (same) return false;
  await sql`
    delete from workload_identity where realm_id = ${realm} and name <> ${name}
      and issuer = ${issuer} and subject = ${subject} and audience = ${audience}`;
  await sql`
    insert into workload_identity (realm_id, id, name, issuer, subject, audience, client_id)
    values (${realm}, ${id}, ${name}, ${issuer}, ${subject}, ${audience}, ${clientId})
    on conflict (realm_id, name) do update set issuer = excluded.issuer, subject = excluded.subject,
      audience = excluded.audience, client_id = excluded.client_id, jwks_uri = null, enabled = true`;
  return true;
}
