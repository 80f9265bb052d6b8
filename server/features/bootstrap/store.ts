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

export interface OperatorRow {
  id: string;
  secret_hash: Buffer | null;
  secret_slow: string | null;
  /** It can do just what the operator needs, and be nobody else's. */
  as_made: boolean;
  granted: boolean;
}

export async function findOperator(sql: Sql, realm: string, clientId: string): Promise<OperatorRow | undefined> {
  const [row] = await sql<OperatorRow>`
    select c.id, c.secret_hash, c.secret_slow,
      c.enabled and c.grant_types = '{client_credentials}' and c.token_endpoint_auth_method = 'client_secret_basic'
        and c.jwks is null and c.jwks_uri is null as as_made,
      exists (
        select from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
        where g.realm_id = c.realm_id and g.client = c.id and g.target_realm = '*' and r.name = 'realm-admin'
      ) as granted
    from client c where c.realm_id = ${realm} and c.client_id = ${clientId}`;
  return row;
}

/** Makes the client, or puts an existing one back into the shape that it was made in. */
export async function putOperator(
  sql: Sql,
  realm: string,
  client: { id: string; clientId: string; secretHash: Buffer | null; secretSlow: string | null; at: Date },
): Promise<void> {
  const { id, clientId, secretHash, secretSlow, at } = client;
  await sql`
    insert into client (realm_id, id, client_id, name, description, grant_types, secret_hash, secret_slow, created_at)
    values (${realm}, ${id}, ${clientId}, 'Kubernetes operator', 'Made at start from SVC_OPERATOR_*',
      '{client_credentials}', ${secretHash}, ${secretSlow}, ${at})
    on conflict (realm_id, client_id) do update set enabled = true, token_endpoint_auth_method = 'client_secret_basic',
      grant_types = excluded.grant_types, redirect_uris = '{}', jwks = null, jwks_uri = null,
      secret_hash = excluded.secret_hash, secret_slow = excluded.secret_slow`;
}

/**
 * Makes realmctl's client where there is none; where the server's address has changed since, the admin API's new name
 * takes the place of the old one. Undefined: nothing to do.
 */
export async function putCliClient(
  sql: Sql,
  realm: string,
  client: { id: string; clientId: string; adminAudience: string; at: Date },
): Promise<{ id: string } | undefined> {
  const { id, clientId, adminAudience, at } = client;
  // Asked first: a write that comes to nothing would take a transaction id too.
  const [current] = await sql<{ resources: string[] }>`
    select allowed_resources as resources from client where realm_id = ${realm} and client_id = ${clientId}`;
  const [only = '', ...more] = current?.resources ?? [];
  if (current && (only === adminAudience || more.length > 0 || !only.endsWith('/admin'))) return undefined;
  const [row] = await sql<{ id: string }>`
    insert into client (realm_id, id, client_id, name, description, token_endpoint_auth_method, redirect_uris,
      grant_types, consent_required, require_pkce, allowed_resources, created_at)
    values (${realm}, ${id}, ${clientId}, 'realmctl, the command line',
      'Lets administrators sign in from a terminal; disable it to forbid that', 'none',
      '{http://127.0.0.1/callback,"http://[::1]/callback"}', '{authorization_code,refresh_token}', true, true,
      array[${adminAudience}], ${at})
    on conflict (realm_id, client_id) do update set allowed_resources = excluded.allowed_resources
    returning id`;
  return row;
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
