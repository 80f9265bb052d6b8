// SQL of clients, the scopes they may ask for, and their service accounts' roles.
import type { TokenEndpointAuthMethod } from '../../contract/clients.ts';
import { fragment, type Sql } from '../../db/sql.ts';

export interface ClientRow {
  id: string;
  client_id: string;
  name: string | null;
  description: string | null;
  enabled: boolean;
  token_endpoint_auth_method: TokenEndpointAuthMethod;
  secret_hash: Buffer | null;
  secret_slow: string | null;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  web_origins: string[];
  grant_types: ('authorization_code' | 'refresh_token' | 'client_credentials')[];
  consent_required: boolean;
  require_pkce: boolean;
  flow_override: string | null;
  access_token_ttl_seconds: number | null;
  refresh_token_ttl_seconds: number | null;
  jwks: Record<string, unknown> | null;
  jwks_uri: string | null;
  allowed_resources: string[];
  created_at: Date;
}
/** With what other tables say of it; names sorted as JavaScript sorts them. */
export interface ClientWithLinks extends ClientRow {
  default_scopes: string[];
  optional_scopes: string[];
  roles: string[];
}

const columns = fragment`
  c.id, c.client_id, c.name, c.description, c.enabled, c.token_endpoint_auth_method, c.secret_hash, c.secret_slow,
  c.redirect_uris, c.post_logout_redirect_uris, c.web_origins, c.grant_types, c.consent_required, c.require_pkce,
  c.flow_override, c.access_token_ttl_seconds, c.refresh_token_ttl_seconds, c.jwks, c.jwks_uri, c.allowed_resources,
  c.created_at,
  array(
    select s.name from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
    where l.realm_id = c.realm_id and l.client = c.id and not l.optional order by s.name collate "C"
  ) as default_scopes,
  array(
    select s.name from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
    where l.realm_id = c.realm_id and l.client = c.id and l.optional order by s.name collate "C"
  ) as optional_scopes,
  array(
    select r.name from client_role cr join role r on r.realm_id = cr.realm_id and r.id = cr.role_id
    where cr.realm_id = c.realm_id and cr.client = c.id and r.client is null order by r.name collate "C"
  ) as roles`;

/** @param search a pattern for ilike; undefined: all */
export const list = (
  sql: Sql,
  realm: string,
  { after, limit, search }: { after: string; limit: number; search: string | undefined },
): Promise<ClientWithLinks[]> => sql<ClientWithLinks>`
  select ${columns} from client c
  where c.realm_id = ${realm} and c.client_id > ${after}
    ${search === undefined ? fragment`` : fragment`and (c.client_id ilike ${search} or c.name ilike ${search})`}
  order by c.client_id limit ${limit}`;

export async function find(sql: Sql, realm: string, id: string): Promise<ClientWithLinks | undefined> {
  const [row] = await sql<ClientWithLinks>`
    select ${columns} from client c where c.realm_id = ${realm} and c.id = ${id}`;
  return row;
}

/** Makes other writers of this client wait. */
export async function lock(sql: Sql, realm: string, id: string): Promise<void> {
  await sql`select id from client where realm_id = ${realm} and id = ${id} for update`;
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** False where the clientId is taken. */
export async function insert(sql: Sql, realm: string, c: ClientRow): Promise<boolean> {
  const [row] = await sql`
    insert into client (realm_id, id, client_id, name, description, enabled, token_endpoint_auth_method, secret_hash,
      secret_slow, redirect_uris, post_logout_redirect_uris, web_origins, grant_types, consent_required, require_pkce,
      flow_override, access_token_ttl_seconds, refresh_token_ttl_seconds, jwks, jwks_uri, allowed_resources, created_at)
    values (${realm}, ${c.id}, ${c.client_id}, ${c.name}, ${c.description}, ${c.enabled},
      ${c.token_endpoint_auth_method}, ${c.secret_hash}, ${c.secret_slow}, ${c.redirect_uris},
      ${c.post_logout_redirect_uris}, ${c.web_origins}, ${c.grant_types}, ${c.consent_required}, ${c.require_pkce},
      ${c.flow_override}, ${c.access_token_ttl_seconds}, ${c.refresh_token_ttl_seconds}, ${json(c.jwks)},
      ${c.jwks_uri}, ${c.allowed_resources}, ${c.created_at})
    on conflict do nothing returning id`;
  return row !== undefined;
}

/** False where the new clientId is taken. */
export async function update(sql: Sql, realm: string, c: ClientRow): Promise<boolean> {
  const [row] = await sql`
    update client set client_id = ${c.client_id}, name = ${c.name}, description = ${c.description},
      enabled = ${c.enabled}, token_endpoint_auth_method = ${c.token_endpoint_auth_method},
      secret_hash = ${c.secret_hash}, secret_slow = ${c.secret_slow}, redirect_uris = ${c.redirect_uris},
      post_logout_redirect_uris = ${c.post_logout_redirect_uris}, web_origins = ${c.web_origins},
      grant_types = ${c.grant_types}, consent_required = ${c.consent_required}, require_pkce = ${c.require_pkce},
      flow_override = ${c.flow_override}, access_token_ttl_seconds = ${c.access_token_ttl_seconds},
      refresh_token_ttl_seconds = ${c.refresh_token_ttl_seconds}, jwks = ${json(c.jwks)}, jwks_uri = ${c.jwks_uri},
      allowed_resources = ${c.allowed_resources}
    where realm_id = ${realm} and id = ${c.id}
      and not exists (select from client where realm_id = ${realm} and client_id = ${c.client_id} and id <> ${c.id})
    returning id`;
  return row !== undefined;
}

export async function setSecret(
  sql: Sql,
  realm: string,
  id: string,
  { hash, slow }: { hash: Buffer | null; slow: string | null },
): Promise<void> {
  await sql`update client set secret_hash = ${hash}, secret_slow = ${slow} where realm_id = ${realm} and id = ${id}`;
}

export async function remove(sql: Sql, realm: string, id: string): Promise<boolean> {
  const [row] = await sql`delete from client where realm_id = ${realm} and id = ${id} returning id`;
  return row !== undefined;
}

export async function flowExists(sql: Sql, realm: string, alias: string): Promise<boolean> {
  const [row] = await sql`select alias from flow where realm_id = ${realm} and alias = ${alias}`;
  return row !== undefined;
}

/** Those of the names that are client scopes of the realm. */
export async function scopesNamed(sql: Sql, realm: string, names: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ name: string }>`
    select name from client_scope where realm_id = ${realm} and name = any(${names}::text[])`;
  return new Set(rows.map((row) => row.name));
}

/** Those of the names that are realm roles. */
export async function rolesNamed(sql: Sql, realm: string, names: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ name: string }>`
    select name from role where realm_id = ${realm} and client is null and name = any(${names}::text[])`;
  return new Set(rows.map((row) => row.name));
}

export async function setScopes(
  sql: Sql,
  realm: string,
  id: string,
  { defaults, optional }: { defaults: readonly string[]; optional: readonly string[] },
): Promise<void> {
  await sql`delete from client_scope_link where realm_id = ${realm} and client = ${id}`;
  await sql`
    insert into client_scope_link (realm_id, client, scope_id, optional)
    select ${realm}, ${id}, s.id, s.name <> all(${defaults}::text[])
    from client_scope s
    where s.realm_id = ${realm} and (s.name = any(${defaults}::text[]) or s.name = any(${optional}::text[]))`;
}

export async function setServiceAccountRoles(
  sql: Sql,
  realm: string,
  id: string,
  roles: readonly string[],
): Promise<void> {
  await sql`
    delete from client_role cr using role r
    where cr.realm_id = ${realm} and cr.client = ${id} and r.realm_id = cr.realm_id and r.id = cr.role_id
      and r.client is null`;
  await sql`
    insert into client_role (realm_id, client, role_id)
    select ${realm}, ${id}, r.id from role r
    where r.realm_id = ${realm} and r.client is null and r.name = any(${roles}::text[])`;
}
