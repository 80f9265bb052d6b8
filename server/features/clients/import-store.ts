// SQL of clients as the realm document moves them: many at once, given as one JSON array.
// What one request of the admin API reads and writes is store.ts's.
import type { Sql } from '../../db/sql.ts';
import type { ClientRow } from './store.ts';

export interface MovedClientRow extends Omit<ClientRow, 'created_at'> {
  default_scopes: string[];
  optional_scopes: string[];
}
/** `client_roles`: keys as clientRoleKey makes them. */
export interface AccountRow {
  client_id: string;
  roles: string[];
  client_roles: string[] | null;
  admin_roles: string[];
}

/** @param only these clientIds; null: all */
export const read = (sql: Sql, realm: string, only: readonly string[] | null): Promise<MovedClientRow[]> =>
  sql<MovedClientRow>`
    select c.*,
      array(select s.name from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
        where l.realm_id = c.realm_id and l.client = c.id and not l.optional) as default_scopes,
      array(select s.name from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
        where l.realm_id = c.realm_id and l.client = c.id and l.optional) as optional_scopes
    from client c
    where c.realm_id = ${realm} and (${only}::text[] is null or c.client_id = any(${only}::text[]))`;

/** Makes or changes clients; their secrets and scopes have statements of their own. */
export async function upsert(sql: Sql, realm: string, rows: string, at: Date): Promise<void> {
  await sql`
    insert into client (realm_id, id, client_id, name, description, enabled, token_endpoint_auth_method, secret_hash,
      secret_slow, redirect_uris, post_logout_redirect_uris, web_origins, grant_types, consent_required, require_pkce,
      flow_override, access_token_ttl_seconds, refresh_token_ttl_seconds, jwks, jwks_uri, allowed_resources, created_at)
    select ${realm}, id, "clientId", name, description, enabled, "tokenEndpointAuthMethod", decode(hash, 'hex'), slow,
      "redirectUris", "postLogoutRedirectUris", "webOrigins", "grantTypes", "consentRequired", "requirePkce",
      "flowOverride", "accessTokenTtlSeconds", "refreshTokenTtlSeconds", nullif(jwks, 'null'), "jwksUri",
      "allowedResources", ${at}
    from jsonb_to_recordset(${rows}::jsonb) as x (id uuid, "clientId" text, name text, description text, enabled boolean,
      "tokenEndpointAuthMethod" text, hash text, slow text, "redirectUris" text[], "postLogoutRedirectUris" text[],
      "webOrigins" text[], "grantTypes" text[], "consentRequired" boolean, "requirePkce" boolean, "flowOverride" text,
      "accessTokenTtlSeconds" int, "refreshTokenTtlSeconds" int, jwks jsonb, "jwksUri" text, "allowedResources" text[])
    on conflict (realm_id, client_id) do update set name = excluded.name, description = excluded.description,
      enabled = excluded.enabled, token_endpoint_auth_method = excluded.token_endpoint_auth_method,
      redirect_uris = excluded.redirect_uris, post_logout_redirect_uris = excluded.post_logout_redirect_uris,
      web_origins = excluded.web_origins, grant_types = excluded.grant_types,
      consent_required = excluded.consent_required, require_pkce = excluded.require_pkce,
      flow_override = excluded.flow_override, access_token_ttl_seconds = excluded.access_token_ttl_seconds,
      refresh_token_ttl_seconds = excluded.refresh_token_ttl_seconds, jwks = excluded.jwks,
      jwks_uri = excluded.jwks_uri, allowed_resources = excluded.allowed_resources`;
}

/** Sets the secrets that are new. */
export async function setSecrets(sql: Sql, realm: string, rows: string): Promise<void> {
  await sql`
    update client c set secret_hash = decode(x.hash, 'hex'), secret_slow = x.slow
    from jsonb_to_recordset(${rows}::jsonb) as x ("clientId" text, "setSecret" boolean, hash text, slow text)
    where c.realm_id = ${realm} and c.client_id = x."clientId" and x."setSecret"`;
}

/** The clients' scopes are these and no other. */
export async function setScopes(sql: Sql, realm: string, rows: string): Promise<void> {
  await sql`
    with wanted as (
      select c.id as client, s.id as scope_id, bool_and(w.optional) as optional
      from jsonb_to_recordset(${rows}::jsonb) as x ("clientId" text, "defaultClientScopes" text[], "optionalClientScopes" text[])
      join client c on c.realm_id = ${realm} and c.client_id = x."clientId"
      cross join lateral (
        select unnest(x."defaultClientScopes") as name, false as optional
        union all select unnest(x."optionalClientScopes"), true) w
      join client_scope s on s.realm_id = ${realm} and s.name = w.name
      group by c.id, s.id
    ), dropped as (
      delete from client_scope_link l using client c, jsonb_to_recordset(${rows}::jsonb) as x ("clientId" text)
      where c.realm_id = ${realm} and c.client_id = x."clientId" and l.realm_id = ${realm} and l.client = c.id
        and not exists (select from wanted w where w.client = l.client and w.scope_id = l.scope_id)
    )
    insert into client_scope_link (realm_id, client, scope_id, optional)
    select ${realm}, client, scope_id, optional from wanted
    on conflict (realm_id, client, scope_id) do update set optional = excluded.optional
      where client_scope_link.optional is distinct from excluded.optional`;
}

export async function remove(sql: Sql, realm: string, clientIds: readonly string[]): Promise<void> {
  await sql`delete from client where realm_id = ${realm} and client_id = any(${clientIds}::text[])`;
}

/** What goes with clients that are removed, or keeps them. */
export const dependents = (sql: Sql, realm: string, removed: readonly string[]) => sql<{
  kind: string;
  key: string;
  on: string;
}>`
  select 'workloadIdentity' as kind, name as key, client_id as on from workload_identity
  where realm_id = ${realm} and client_id = any(${removed}::text[])
  union all
  select o.kind, o.key, c.client_id from managed_object o
  join unnest(${removed}::text[]) as c (client_id) on o.kind = 'serviceAccountRoles' and o.key = c.client_id
    or o.kind = 'clientRole' and starts_with(o.key, replace(replace(c.client_id, '%', '%25'), '/', '%2F') || '/')
  where o.realm_id = ${realm}`;

export const readAccounts = (sql: Sql, realm: string, only: readonly string[] | null): Promise<AccountRow[]> =>
  sql<AccountRow>`
    select c.client_id,
      array(select r.name from client_role cr join role r on r.realm_id = cr.realm_id and r.id = cr.role_id
        where cr.realm_id = c.realm_id and cr.client = c.id and r.client is null) as roles,
      array(select replace(replace(rc.client_id, '%', '%25'), '/', '%2F') || '/' || r.name
        from client_role cr join role r on r.realm_id = cr.realm_id and r.id = cr.role_id
        join client rc on rc.realm_id = r.realm_id and rc.id = r.client
        where cr.realm_id = c.realm_id and cr.client = c.id) as client_roles,
      array(select a.name from admin_grant g join admin_role a on a.realm_id = g.realm_id and a.id = g.role_id
        where g.realm_id = c.realm_id and g.client = c.id and g.target_realm = c.realm_id) as admin_roles
    from client c
    where c.realm_id = ${realm} and (${only}::text[] is null or c.client_id = any(${only}::text[]))`;

/** The service accounts' realm and client roles are these and no other. */
export async function setAccountRoles(sql: Sql, realm: string, accounts: string): Promise<void> {
  await sql`
    with account as (
      select c.id, x.roles, x."clientRoles" from client c
      join jsonb_to_recordset(${accounts}::jsonb) as x ("clientId" text, roles text[], "clientRoles" jsonb) on x."clientId" = c.client_id
      where c.realm_id = ${realm}
    ), wanted as (
      select a.id as client, r.id as role_id from account a
      join role r on r.realm_id = ${realm} and r.client is null and r.name = any(a.roles)
      union
      select a.id, r.id from account a, jsonb_to_recordset(a."clientRoles") as k ("clientId" text, role text)
      join client kc on kc.realm_id = ${realm} and kc.client_id = k."clientId"
      join role r on r.realm_id = ${realm} and r.client = kc.id and r.name = k.role
    ), dropped as (
      delete from client_role cr using account a where cr.realm_id = ${realm} and cr.client = a.id
        and not exists (select from wanted w where w.client = cr.client and w.role_id = cr.role_id)
    )
    insert into client_role (realm_id, client, role_id) select ${realm}, client, role_id from wanted on conflict do nothing`;
}

/** Their admin roles over this realm are these and no other. */
export async function setAccountAdminRoles(sql: Sql, realm: string, accounts: string): Promise<void> {
  await sql`
    with account as (
      select c.id, x."adminRoles" from client c
      join jsonb_to_recordset(${accounts}::jsonb) as x ("clientId" text, "adminRoles" text[]) on x."clientId" = c.client_id
      where c.realm_id = ${realm}
    ), wanted as (
      select a.id as client, r.id as role_id from account a
      join admin_role r on r.realm_id = ${realm} and r.name = any(a."adminRoles")
    ), dropped as (
      delete from admin_grant g using account a where g.realm_id = ${realm} and g.client = a.id and g.target_realm = ${realm}
        and not exists (select from wanted w where w.client = g.client and w.role_id = g.role_id)
    )
    insert into admin_grant (realm_id, role_id, client, target_realm) select ${realm}, role_id, client, ${realm} from wanted
    on conflict do nothing`;
}
