// The realm document's `clients` and `serviceAccountRoles`. Specification 2.10; decisions "Client".
import { z } from 'zod';
import {
  ClientDocument,
  clientFields,
  freshClient,
  ServiceAccountRolesDocument,
  type TokenEndpointAuthMethod,
} from '../../contract/clients.ts';
import type { FieldError } from '../../contract/problem.ts';
import { hashClientSecret, sameClientSecret } from '../../crypto/client-secret.ts';
import type { Passwords } from '../../crypto/passwords.ts';
import { asSet, clientRoleKey, declared, join, parsing, splitClientRoleKey } from '../../http/document.ts';
import type { Existing, Item, RealmPart, Reference, Saved, StoredSecret } from '../transfer/part.ts';
import { clientFaults, usesSecret } from './rules.ts';

interface Row {
  client_id: string;
  name: string | null;
  description: string | null;
  enabled: boolean;
  token_endpoint_auth_method: TokenEndpointAuthMethod;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  web_origins: string[];
  grant_types: string[];
  default_scopes: string[];
  optional_scopes: string[];
  consent_required: boolean;
  require_pkce: boolean;
  flow_override: string | null;
  access_token_ttl_seconds: number | null;
  refresh_token_ttl_seconds: number | null;
  jwks: unknown;
  jwks_uri: string | null;
  allowed_resources: string[];
  secret_hash: Buffer | null;
  secret_slow: string | null;
}

const SETS = [
  'redirectUris',
  'postLogoutRedirectUris',
  'webOrigins',
  'grantTypes',
  'defaultClientScopes',
  'optionalClientScopes',
  'allowedResources',
] as const;
const SECRET_LENGTH = 16;

function itemOf(document: ClientDocument, path: string): Item {
  const { clientId: key, ...fields } = document;
  const sets = Object.fromEntries(SETS.map((field) => [field, asSet<string>(fields[field])]));
  return { key, fields: declared({ ...fields, ...sets }), path };
}
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string') : [];

function refersTo({ fields }: Item): Reference[] {
  const scopes = (path: string) => strings(fields[path]).map((key) => ({ kind: 'clientScope', key, path }));
  const flow = typeof fields.flowOverride === 'string' ? fields.flowOverride : undefined;
  return [
    ...scopes('defaultClientScopes'),
    ...scopes('optionalClientScopes'),
    ...(flow === undefined ? [] : [{ kind: 'flow', key: flow, path: 'flowOverride' }]),
  ];
}

export function createClientsPart({
  passwords,
  newId,
  now,
}: {
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  newId: () => string;
  now: () => Date;
}): RealmPart {
  const secretOf = (row: Row): StoredSecret | null =>
    (row.secret_hash === null && row.secret_slow === null) || !usesSecret(row.token_endpoint_auth_method)
      ? null
      : { matches: (plain) => sameClientSecret({ hash: row.secret_hash, slow: row.secret_slow }, plain, passwords) };

  const existing = (row: Row): Existing => ({
    fields: {
      name: row.name,
      description: row.description,
      enabled: row.enabled,
      tokenEndpointAuthMethod: row.token_endpoint_auth_method,
      redirectUris: asSet(row.redirect_uris),
      postLogoutRedirectUris: asSet(row.post_logout_redirect_uris),
      webOrigins: asSet(row.web_origins),
      grantTypes: asSet(row.grant_types),
      defaultClientScopes: asSet(row.default_scopes),
      optionalClientScopes: asSet(row.optional_scopes),
      consentRequired: row.consent_required,
      requirePkce: row.require_pkce,
      flowOverride: row.flow_override,
      accessTokenTtlSeconds: row.access_token_ttl_seconds,
      refreshTokenTtlSeconds: row.refresh_token_ttl_seconds,
      jwks: row.jwks,
      jwksUri: row.jwks_uri,
      allowedResources: asSet(row.allowed_resources),
      secret: secretOf(row),
    },
  });

  /** Hashes of the secrets that are new, one after the other: a slow one takes a thread of its own for a while. */
  async function rowsOf(saved: readonly Saved[]) {
    const rows = [];
    for (const { key, fields, changed } of saved) {
      const { secret, ...rest } = fields;
      const fresh = changed.includes('secret') && typeof secret === 'string';
      const { hash, slow } = fresh ? await hashClientSecret(secret, passwords) : { hash: null, slow: null };
      rows.push({ id: newId(), clientId: key, ...rest, setSecret: fresh, hash: hash?.toString('hex') ?? null, slow });
    }
    return JSON.stringify(rows);
  }

  return {
    section: 'clients',
    kind: 'client',
    area: 'clients',
    list: true,
    parse: parsing(ClientDocument, (document, path) => [itemOf(document, path)]),
    print: (objects) => objects.map(({ key, fields }) => ({ clientId: key, ...fields })),
    fresh: () => itemOf({ clientId: '', ...structuredClone(freshClient) }, '').fields,
    secrets: ['secret'],
    async read(sql, realm, keys) {
      const rows = await sql<Row>`
        select c.*,
          array(select s.name from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
            where l.realm_id = c.realm_id and l.client = c.id and not l.optional) as default_scopes,
          array(select s.name from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
            where l.realm_id = c.realm_id and l.client = c.id and l.optional) as optional_scopes
        from client c
        where c.realm_id = ${realm} and (${keys ?? null}::text[] is null or c.client_id = any(${keys ?? null}::text[]))`;
      return new Map(rows.map((row) => [row.client_id, existing(row)]));
    },
    references: refersTo,
    check: (_, saved) => saved.flatMap(faults),
    async write(sql, realm, { create, update, remove }) {
      const at = now();
      if (create.length > 0 || update.length > 0) {
        const rows = await rowsOf([...create, ...update]);
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
        await sql`
          update client c set secret_hash = decode(x.hash, 'hex'), secret_slow = x.slow
          from jsonb_to_recordset(${rows}::jsonb) as x ("clientId" text, "setSecret" boolean, hash text, slow text)
          where c.realm_id = ${realm} and c.client_id = x."clientId" and x."setSecret"`;
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
      if (remove.length > 0)
        await sql`delete from client where realm_id = ${realm} and client_id = any(${remove}::text[])`;
    },
    // Roles of the client vanish with it as they would in the admin API, unless somebody else manages them.
    dependents: (sql, realm, removed) => sql<{ kind: string; key: string; on: string }>`
      select 'workloadIdentity' as kind, name as key, client_id as on from workload_identity
      where realm_id = ${realm} and client_id = any(${removed}::text[])
      union all
      select o.kind, o.key, c.client_id from managed_object o
      join unnest(${removed}::text[]) as c (client_id) on o.kind = 'serviceAccountRoles' and o.key = c.client_id
        or o.kind = 'clientRole' and starts_with(o.key, replace(replace(c.client_id, '%', '%25'), '/', '%2F') || '/')
      where o.realm_id = ${realm}`,
    events: { create: 'CLIENT_CREATED', update: 'CLIENT_UPDATED', delete: 'CLIENT_DELETED' },
  };
}

const Shape = z.object(clientFields);

function faults({ fields, changed, path, key }: Saved): FieldError[] {
  const { secret } = fields;
  const fresh = changed.includes('secret') && typeof secret === 'string';
  const short =
    fresh && secret.length < SECRET_LENGTH
      ? [{ path: 'secret', message: `must have at least ${SECRET_LENGTH} characters` }]
      : [];
  // What is stored already was accepted once; only a client that changes is asked again.
  const shape = Shape.safeParse(fields);
  const found = shape.success ? clientFaults(shape.data, fresh) : [];
  return [...short, ...found].map((f) => ({ path: join(path, f.path), message: `${key}: ${f.message}` }));
}

interface AccountRow {
  client_id: string;
  roles: string[];
  client_roles: string[] | null;
  admin_roles: string[];
}

/** Roles of service accounts: the realm's, clients', and admin roles over this realm. */
export const serviceAccountRolesPart: RealmPart = {
  section: 'serviceAccountRoles',
  kind: 'serviceAccountRoles',
  area: 'clients',
  list: true,
  parse: parsing(ServiceAccountRolesDocument, ({ clientId, roles, clientRoles, adminRoles }, path) => [
    {
      key: clientId,
      fields: declared({
        roles: asSet(roles),
        clientRoles: clientRoles && sortedLists(clientRoles),
        adminRoles: asSet(adminRoles),
      }),
      path,
    },
  ]),
  // A client without any has nothing to say.
  print: (objects) =>
    objects
      .filter(
        ({ fields }) =>
          ![fields.roles, fields.adminRoles].every((l) => strings(l).length === 0) || hasAny(fields.clientRoles),
      )
      .map(({ key, fields }) => ({ clientId: key, ...fields })),
  fresh: () => ({ roles: [], clientRoles: {}, adminRoles: [] }),
  async read(sql, realm, keys) {
    const rows = await sql<AccountRow>`
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
      where c.realm_id = ${realm} and (${keys ?? null}::text[] is null or c.client_id = any(${keys ?? null}::text[]))`;
    return new Map(
      rows.map((row): [string, Existing] => [
        row.client_id,
        {
          fields: {
            roles: asSet(row.roles),
            clientRoles: byClient(row.client_roles ?? []),
            adminRoles: asSet(row.admin_roles),
          },
        },
      ]),
    );
  },
  references: ({ key, fields }) => [
    { kind: 'client', key, path: 'clientId' },
    ...strings(fields.roles).map((role) => ({ kind: 'role', key: role, path: 'roles' })),
    ...strings(fields.adminRoles).map((role) => ({ kind: 'adminRole', key: role, path: 'adminRoles' })),
    ...pairs(fields.clientRoles).map((role) => ({ kind: 'clientRole', key: role, path: 'clientRoles' })),
  ],
  async write(sql, realm, { create, update, remove }) {
    const rows = [
      ...[...create, ...update].map(({ key, fields }) => ({
        clientId: key,
        roles: fields.roles ?? [],
        clientRoles: pairs(fields.clientRoles).map(splitClientRoleKey),
        adminRoles: fields.adminRoles ?? [],
      })),
      ...remove.map((clientId) => ({ clientId, roles: [], clientRoles: [], adminRoles: [] })),
    ];
    if (rows.length === 0) return;
    const json = JSON.stringify(rows);
    await sql`
      with account as (
        select c.id, x.roles, x."clientRoles" from client c
        join jsonb_to_recordset(${json}::jsonb) as x ("clientId" text, roles text[], "clientRoles" jsonb) on x."clientId" = c.client_id
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
    await sql`
      with account as (
        select c.id, x."adminRoles" from client c
        join jsonb_to_recordset(${json}::jsonb) as x ("clientId" text, "adminRoles" text[]) on x."clientId" = c.client_id
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
  },
  events: { create: 'CLIENT_UPDATED', update: 'CLIENT_UPDATED', delete: 'CLIENT_UPDATED' },
};

const hasAny = (map: unknown): boolean => pairs(map).length > 0;
const sortedLists = (map: Record<string, string[]>) =>
  Object.fromEntries(
    Object.entries(map)
      .filter(([, l]) => l.length > 0)
      .map(([clientId, list]) => [clientId, asSet(list)]),
  );
/** Keys of client roles of a map clientId → names. */
const pairs = (map: unknown): string[] =>
  typeof map === 'object' && map !== null
    ? Object.entries(map).flatMap(([clientId, names]) => strings(names).map((role) => clientRoleKey(clientId, role)))
    : [];
const byClient = (keys: readonly string[]) => {
  const map = new Map<string, string[]>();
  for (const { clientId, role } of keys.map(splitClientRoleKey))
    map.set(clientId, [...(map.get(clientId) ?? []), role]);
  return sortedLists(Object.fromEntries(map));
};
