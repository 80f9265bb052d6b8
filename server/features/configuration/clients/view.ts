// Clients as the protocol endpoints use them, cached in this process: a client_credentials request with a warm cache
// needs no query. resource.ts has the admin API of clients. Decisions "Client".
import type { SigningAlgorithm } from '../../../contract/algorithms.ts';
import type { TokenEndpointAuthMethod } from '../../../contract/clients.ts';
import type { AssertionAudience } from '../../../contract/settings.ts';
import { createRealmCache } from '../../../db/cache.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { agentActs } from '../../../domain/agents.ts';
import type { ClaimView, ScopeView } from '../../../domain/claims.ts';
import { type RolePairs, type Roles, rolesOf } from '../../../domain/person.ts';
import { withoutFragment } from '../../../domain/redirect-uri.ts';
import { sectorOf } from '../../../domain/subjects.ts';
import { type AboutClient, aboutOf } from '../../../http/about-client.ts';
import { originsOf } from '../../../http/web-origin.ts';

/** A client secret, hashed in one of two ways. */
export interface ClientSecret {
  hash: Buffer | null;
  /** The PHC string of a secret that a person chose. */
  slow: string | null;
  /** null: for good */
  until: number | null;
}

/** A client as the token path sees it. */
export interface ClientView {
  id: string;
  clientId: string;
  /** The name that pages show: the client's own, else its application's, else its clientId. */
  title: string;
  /** Further details that pages show. */
  about: AboutClient | undefined;
  /** The address at which users open its application. */
  homeUrl: string | null;
  /** Whether the client is enabled, and its agent, if it has one, may act. */
  enabled: boolean;
  authMethod: TokenEndpointAuthMethod;
  /** null: the realm's. */
  clientAssertionAudience: AssertionAudience | null;
  /** The valid secrets; a second one is valid until its end. */
  secrets: readonly ClientSecret[];
  redirectUris: readonly string[];
  postLogoutRedirectUris: readonly string[];
  backchannelLogoutUri: string | null;
  /** By `isOriginOf`: `+` is resolved to the origins of the redirect URIs. */
  webOrigins: ReadonlySet<string>;
  grantTypes: ReadonlySet<string>;
  consentRequired: boolean;
  requirePkce: boolean;
  idTokenUserinfoClaims: boolean;
  requirePushedAuthorizationRequests: boolean;
  requireSignedRequestObject: boolean;
  requestObjectSigningAlg: string | null;
  /** Addresses without their fragments. */
  requestUris: ReadonlySet<string>;
  /** null: the default algorithm. */
  idTokenSignedResponseAlg: SigningAlgorithm | null;
  accessTokenSignedResponseAlg: SigningAlgorithm | null;
  /** null: as JSON. */
  userinfoSignedResponseAlg: SigningAlgorithm | null;
  /** The client's own flow, else its application's. */
  flowOverride: string | null;
  accessTokenTtlSeconds: number | null;
  refreshTokenTtlSeconds: number | null;
  jwks: Record<string, unknown> | null;
  jwksUri: string | null;
  allowedResources: ReadonlySet<string>;
  /** Tokens are bound to a key that the client proves. */
  dpopBoundAccessTokens: boolean;
  /** Tokens that the client gets by exchange don't name it as the acting party. */
  tokenExchangeImpersonation: boolean;
  /** The only client that may exchange this client's tokens. */
  mayActClient: string | null;
  /** The client registered itself: an empty list of resources permits none. */
  registered: boolean;
  /** The host of its metadata document, whose address is its id. */
  documentHost: string | null;
  /** null: the realm's subject type. */
  subjectType: 'public' | 'pairwise' | null;
  /** The sector of its pairwise subjects. */
  sector: string;
  defaultScopes: readonly ScopeView[];
  optionalScopes: readonly ScopeView[];
  /** The client's own mappers, in addition to those of its scopes. */
  mappers: readonly ClaimView[];
  /** The service account's roles. */
  roles: Roles;
  /** The application that the client belongs to. */
  application: ApplicationView | null;
  /** The agent that the client belongs to: the client's tokens have only the agent's scopes. */
  agent: AgentView | null;
  /** The client holds an admin role, so it may request the admin API's audience. */
  administers: boolean;
}

export interface AgentView {
  id: string;
  name: string;
  scopes: readonly string[];
  /** Epoch ms. */
  expiresAt: number | null;
}

export interface ApplicationView {
  name: string;
  enabled: boolean;
  /** Roles that permit the application's use: a user needs one of them; empty: none is needed. */
  roles: readonly string[];
}

/** Facts about a realm's clients together. */
export interface Overview {
  origins: ReadonlySet<string>;
  /** Whether any client has a secret that is checked slowly. Then every refusal takes as long. */
  slowSecrets: boolean;
}

interface Row {
  id: string;
  client_id: string;
  name: string | null;
  logo_uri: string | null;
  client_uri: string | null;
  policy_uri: string | null;
  tos_uri: string | null;
  enabled: boolean;
  token_endpoint_auth_method: TokenEndpointAuthMethod;
  client_assertion_audience: AssertionAudience | null;
  secret_hash: Buffer | null;
  secret_slow: string | null;
  previous_secret_hash: Buffer | null;
  previous_secret_slow: string | null;
  previous_secret_expires_at: Date | null;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  backchannel_logout_uri: string | null;
  web_origins: string[];
  grant_types: string[];
  consent_required: boolean;
  require_pkce: boolean;
  id_token_userinfo_claims: boolean;
  require_pushed_authorization_requests: boolean;
  require_signed_request_object: boolean;
  request_object_signing_alg: string | null;
  request_uris: string[];
  id_token_signed_response_alg: SigningAlgorithm | null;
  access_token_signed_response_alg: SigningAlgorithm | null;
  userinfo_signed_response_alg: SigningAlgorithm | null;
  flow_override: string | null;
  access_token_ttl_seconds: number | null;
  refresh_token_ttl_seconds: number | null;
  jwks: Record<string, unknown> | null;
  jwks_uri: string | null;
  allowed_resources: string[];
  dpop_bound_access_tokens: boolean;
  token_exchange_impersonation: boolean;
  may_act_client: string | null;
  registered: 'itself' | 'document' | null;
  subject_type: 'public' | 'pairwise' | null;
  sector_identifier_uri: string | null;
  scopes: { name: string; description: string | null; inTokenScope: boolean; claims: ClaimView[]; optional: boolean }[];
  mappers: ClaimView[];
  roles: RolePairs;
  application:
    | (ApplicationView & { displayName: string | null; url: string | null; flowOverride: string | null })
    | null;
  administers: boolean;
  agent: (AgentView & { acts: boolean }) | null;
}

/** The mapper row `k`, in the form that tokens need. */
const claimView = fragment`jsonb_build_object('name', coalesce(k.claim, k.name), 'source', k.source,
  'attribute', k.attribute, 'value', k.value, 'multivalued', k.multivalued, 'aggregate', k.aggregate, 'jsonType', k.json_type, 'in', k.places)`;

const read = (sql: Sql, realm: string, clientId: string) => sql<Row>`
  select c.id, c.client_id, c.name, c.logo_uri, c.client_uri, c.policy_uri, c.tos_uri, c.enabled, c.token_endpoint_auth_method, c.secret_hash, c.secret_slow,
    c.previous_secret_hash, c.previous_secret_slow, c.previous_secret_expires_at, c.redirect_uris,
    c.post_logout_redirect_uris, c.backchannel_logout_uri, c.web_origins, c.grant_types, c.consent_required, c.require_pkce, c.flow_override,
    c.id_token_userinfo_claims,
    c.require_pushed_authorization_requests, c.require_signed_request_object, c.request_object_signing_alg, c.request_uris,
    c.id_token_signed_response_alg, c.access_token_signed_response_alg, c.userinfo_signed_response_alg,
    c.access_token_ttl_seconds, c.refresh_token_ttl_seconds, c.jwks, c.jwks_uri, c.allowed_resources,
    c.client_assertion_audience, c.dpop_bound_access_tokens, c.token_exchange_impersonation, c.may_act_client, c.subject_type, c.sector_identifier_uri,
    (
      select case when g.document_fresh_until is null then 'itself' else 'document' end
      from client_registration g where g.realm_id = c.realm_id and g.client = c.id
    ) as registered,
    (
      select coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'description', s.description,
        'inTokenScope', s.include_in_token_scope, 'optional', l.optional, 'claims', (
          select coalesce(jsonb_agg(${claimView} order by k.claim nulls first, k.name), '[]')
          from client_scope_claim sc join claim k on k.realm_id = sc.realm_id and k.id = sc.claim_id
          where sc.realm_id = s.realm_id and sc.scope_id = s.id
        )) order by s.name), '[]')
      from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
      where l.realm_id = c.realm_id and l.client = c.id
    ) as scopes,
    (
      select coalesce(jsonb_agg(${claimView} order by k.claim nulls first, k.name), '[]') from protocol_mapper k
      where k.realm_id = c.realm_id and k.client = c.id
    ) as mappers,
    (
      with recursive held (role_id) as (
        select role_id from client_role where realm_id = c.realm_id and client = c.id
        union
        select rc.child_id from held h join role_composite rc on rc.realm_id = c.realm_id and rc.role_id = h.role_id
      )
      select coalesce(jsonb_agg(jsonb_build_array(o.client_id, r.name) order by o.client_id, r.name), '[]')
      from held h join role r on r.realm_id = c.realm_id and r.id = h.role_id
        left join client o on o.realm_id = r.realm_id and o.id = r.client
    ) as roles,
    (
      select jsonb_build_object('name', a.name, 'enabled', a.enabled, 'displayName', a.display_name, 'url', a.url,
        'flowOverride', a.flow_override, 'roles', array(
        select r.name from application_role ar join role r on r.realm_id = ar.realm_id and r.id = ar.role_id
        where ar.realm_id = a.realm_id and ar.application_id = a.id))
      from application_client ac join application a on a.realm_id = ac.realm_id and a.id = ac.application_id
      where ac.realm_id = c.realm_id and ac.client = c.id
    ) as application,
    exists (select from admin_grant g where g.realm_id = c.realm_id and g.client = c.id) as administers,
    (
      select jsonb_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'acts', ${agentActs},
        'expiresAt', extract(epoch from t.expires_at) * 1000)
      from agent t where t.realm_id = c.realm_id and t.client_id = c.client_id
    ) as agent
  from client c where c.realm_id = ${realm} and c.client_id = ${clientId}`;

const secretsOf = (row: Row): ClientSecret[] => {
  const { previous_secret_hash: hash, previous_secret_slow: slow, previous_secret_expires_at: until } = row;
  return [
    { hash: row.secret_hash, slow: row.secret_slow, until: null },
    ...(until ? [{ hash, slow, until: until.getTime() }] : []),
  ];
};

const scopesOf = ({ scopes, agent }: Row): Row['scopes'] =>
  agent ? scopes.filter(({ name }) => agent.scopes.includes(name)) : scopes;

const documentHost = ({ registered, client_id }: Row): string | null =>
  registered === 'document' ? new URL(client_id).host : null;

/** The client's title. For a metadata document its host follows the name that it claims, wherever users read it. */
function titleOf(row: Row): string {
  const title = row.name ?? row.application?.displayName;
  const host = documentHost(row);
  return host === null ? (title ?? row.client_id) : title ? `${title} (${host})` : host;
}

const toView = (row: Row, scopes: Row['scopes'] = scopesOf(row)): ClientView => ({
  id: row.id,
  clientId: row.client_id,
  title: titleOf(row),
  about: aboutOf({ logo: row.logo_uri, home: row.client_uri, policy: row.policy_uri, terms: row.tos_uri }),
  homeUrl: row.application?.url ?? null,
  enabled: row.enabled && row.agent?.acts !== false,
  authMethod: row.token_endpoint_auth_method,
  clientAssertionAudience: row.client_assertion_audience,
  secrets: secretsOf(row),
  redirectUris: row.redirect_uris,
  postLogoutRedirectUris: row.post_logout_redirect_uris,
  backchannelLogoutUri: row.backchannel_logout_uri,
  webOrigins: originsOf(row.web_origins, row.redirect_uris),
  grantTypes: new Set(row.grant_types),
  consentRequired: row.consent_required,
  requirePkce: row.require_pkce,
  idTokenUserinfoClaims: row.id_token_userinfo_claims,
  requirePushedAuthorizationRequests: row.require_pushed_authorization_requests,
  requireSignedRequestObject: row.require_signed_request_object,
  requestObjectSigningAlg: row.request_object_signing_alg,
  requestUris: new Set(row.request_uris.map(withoutFragment)),
  idTokenSignedResponseAlg: row.id_token_signed_response_alg,
  accessTokenSignedResponseAlg: row.access_token_signed_response_alg,
  userinfoSignedResponseAlg: row.userinfo_signed_response_alg,
  flowOverride: row.flow_override ?? row.application?.flowOverride ?? null,
  accessTokenTtlSeconds: row.access_token_ttl_seconds,
  refreshTokenTtlSeconds: row.refresh_token_ttl_seconds,
  jwks: row.jwks,
  jwksUri: row.jwks_uri,
  allowedResources: new Set(row.allowed_resources),
  dpopBoundAccessTokens: row.dpop_bound_access_tokens,
  tokenExchangeImpersonation: row.token_exchange_impersonation,
  mayActClient: row.may_act_client,
  registered: row.registered !== null,
  documentHost: documentHost(row),
  subjectType: row.subject_type,
  sector: sectorOf({ id: row.id, redirectUris: row.redirect_uris, sectorIdentifierUri: row.sector_identifier_uri }),
  defaultScopes: scopes.filter((s) => !s.optional),
  optionalScopes: scopes.filter((s) => s.optional),
  mappers: row.mappers,
  roles: rolesOf(row.roles),
  application: row.application,
  administers: row.administers,
  agent: row.agent,
});

/** The form of a clientId; other texts need no query. */
const CLIENT_ID = /^[\x20-\x7e]{1,255}$/;

export function createClientViews({ sql, now }: { sql: Sql; now: () => Date }) {
  const views = createRealmCache<ClientView | undefined>({
    now,
    async load(realm, clientId) {
      const [row] = await read(sql, realm, clientId);
      return row && toView(row);
    },
  });
  const overviews = createRealmCache<Overview>({
    now,
    async load(realm) {
      const rows = await sql<{ web_origins: string[]; redirect_uris: string[]; slow: boolean }>`
        select web_origins, redirect_uris, secret_slow is not null or previous_secret_slow is not null as slow from client
        where realm_id = ${realm} and enabled
          and (web_origins <> '{}' or secret_slow is not null or previous_secret_slow is not null)`;
      return {
        origins: new Set(rows.flatMap((row) => [...originsOf(row.web_origins, row.redirect_uris)])),
        slowSecrets: rows.some((row) => row.slow),
      };
    },
  });
  const known = createRealmCache<ReadonlySet<string>>({
    now,
    async load(realm) {
      const rows = await sql<{ name: string }>`select name from client_scope where realm_id = ${realm}`;
      return new Set(rows.map(({ name }) => name));
    },
  });

  return {
    /** The client by its clientId, enabled or not. */
    view: async (realm: string, clientId: string): Promise<ClientView | undefined> => {
      const view = CLIENT_ID.test(clientId) ? await views.get(realm, clientId) : undefined;
      const end = view?.agent?.expiresAt ?? null;
      return view && end !== null && end <= now().getTime() ? { ...view, enabled: false } : view;
    },
    overview: (realm: string): Promise<Overview> => overviews.get(realm, ''),
    /** The names of all the realm's scopes, for every client. */
    knownScopes: (realm: string): Promise<ReadonlySet<string>> => known.get(realm, ''),
    drop(realm: string | undefined): void {
      views.drop(realm);
      known.drop(realm);
      overviews.drop(realm);
    },
  };
}
export type ClientViews = ReturnType<typeof createClientViews>;
