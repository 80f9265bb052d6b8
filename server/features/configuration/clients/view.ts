// Clients as the protocol endpoints use them, cached in this process: a client_credentials request with a warm cache
// needs no query. resource.ts has the admin API of clients. Decisions "Client".
import type { SigningAlgorithm } from '../../../contract/algorithms.ts';
import type { CertificateName, TokenEndpointAuthMethod } from '../../../contract/client-authentication.ts';
import type { EncryptionFields } from '../../../contract/client-jwts.ts';
import type { SecurityProfile } from '../../../contract/security-profiles.ts';
import type { AssertionAudience } from '../../../contract/settings.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import type { ClaimView, ScopeView } from '../../../domain/claims.ts';
import { type Roles, rolesOf } from '../../../domain/person.ts';
import { withoutFragment } from '../../../domain/redirect-uri.ts';
import { sectorOf } from '../../../domain/subjects.ts';
import { type AboutClient, aboutOf } from '../../../http/about-client.ts';
import { originsOf } from '../../../http/web-origin.ts';
import { profileFaults, stricterProfile, underProfile } from './profile.ts';
import { type ClientRow as Row, readClient } from './view-row.ts';

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
  /** The security profile that counts: its own or the realm's. The fields below are what it sets. */
  profile: SecurityProfile | null;
  /** The contradictions of the profile, in words: a client with any is refused. */
  profileLacks: readonly string[];
  /** null: the realm's. */
  clientAssertionAudience: AssertionAudience | null;
  /** null: any. */
  tokenEndpointAuthSigningAlg: string | null;
  /** The valid secrets; a second one is valid until its end. */
  secrets: readonly ClientSecret[];
  redirectUris: readonly string[];
  postLogoutRedirectUris: readonly string[];
  backchannelLogoutUri: string | null;
  /** null: the client polls for decisions on a device (OpenID Connect CIBA). */
  backchannelNotificationEndpoint: string | null;
  /** The server pushes its tokens to that endpoint; the client may not poll for them. */
  tokensArePushed: boolean;
  /** Its backchannel requests need the user's code. */
  sendsUserCode: boolean;
  /** By `isOriginOf`: `+` is resolved to the origins of the redirect URIs. */
  webOrigins: ReadonlySet<string>;
  grantTypes: ReadonlySet<string>;
  consentRequired: boolean;
  requirePkce: boolean;
  idTokenUserinfoClaims: boolean;
  requirePushedAuthorizationRequests: boolean;
  requireSignedRequestObject: boolean;
  /** The client gets authorization responses and the answers of introspection only as a signed JWT. */
  requireSignedResponse: boolean;
  requestObjectSigningAlg: string | null;
  /** Addresses without their fragments. */
  requestUris: ReadonlySet<string>;
  /** null: the default algorithm. */
  idTokenSignedResponseAlg: SigningAlgorithm | null;
  accessTokenSignedResponseAlg: SigningAlgorithm | null;
  /** null: as JSON. */
  userinfoSignedResponseAlg: SigningAlgorithm | null;
  /** Of responses that it asks for as a JWT. */
  authorizationSignedResponseAlg: SigningAlgorithm | null;
  introspectionSignedResponseAlg: SigningAlgorithm | null;
  /** How its answers and requests are encrypted; null: none is. */
  encryption: EncryptionFields | null;
  /** The client's own flow, else its application's. */
  flowOverride: string | null;
  accessTokenTtlSeconds: number | null;
  refreshTokenTtlSeconds: number | null;
  /** null: the realm's. */
  reuseRefreshTokens: boolean | null;
  jwks: Record<string, unknown> | null;
  jwksUri: string | null;
  allowedResources: ReadonlySet<string>;
  /** The types of details that it may ask for (RFC 9396). */
  authorizationDetailsTypes: ReadonlySet<string>;
  /** Tokens are bound to a key that the client proves. */
  dpopBoundAccessTokens: boolean;
  /** Tokens are bound to the certificate of the client's connection. */
  certificateBoundAccessTokens: boolean;
  /** Of a client that authenticates by an authority's certificate. */
  certificate: CertificateTerms | null;
  /** The workload identities that authenticate it; empty if it authenticates otherwise. */
  workloads: readonly WorkloadTerms[];
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

/** What a client's certificate has to say, and the authorities that may say it. */
export type CertificateTerms = Readonly<Record<CertificateName | 'tlsClientAuthAuthorities', string | null>>;

/** A workload identity, as far as it authenticates a client. */
export interface WorkloadTerms {
  name: string;
  issuer: string;
  jwksUri: string | null;
  subject: string;
  audience: string;
  singleUse: boolean | null;
  adminAccess: boolean;
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

/** Stored contradictions of the profile: the realm's may be newer than the client. */
const lacksOf = (row: Row, profile: SecurityProfile | null): string[] =>
  profileFaults(
    {
      tokenEndpointAuthMethod: row.token_endpoint_auth_method,
      clientAssertionAudience: row.client_assertion_audience,
      backchannelTokenDeliveryMode: row.backchannel_token_delivery_mode,
      redirectUris: row.redirect_uris,
      reuseRefreshTokens: row.reuse_refresh_tokens,
      idTokenSignedResponseAlg: row.id_token_signed_response_alg,
      accessTokenSignedResponseAlg: row.access_token_signed_response_alg,
      userinfoSignedResponseAlg: row.userinfo_signed_response_alg,
      authorizationSignedResponseAlg: row.authorization_signed_response_alg,
      introspectionSignedResponseAlg: row.introspection_signed_response_alg,
      tokenEndpointAuthSigningAlg: row.token_endpoint_auth_signing_alg,
      requestObjectSigningAlg: row.request_object_signing_alg,
    },
    profile,
  ).map(({ path, message }) => `${path} ${message}`);

function toView(row: Row): ClientView {
  const profile = stricterProfile(row.profile, row.realm_profile);
  const view = plainView(row);
  return profile === null ? view : underProfile({ ...view, profile, profileLacks: lacksOf(row, profile) }, profile);
}

const plainView = (row: Row, scopes: Row['scopes'] = scopesOf(row)): ClientView => ({
  id: row.id,
  clientId: row.client_id,
  title: titleOf(row),
  about: aboutOf({ logo: row.logo_uri, home: row.client_uri, policy: row.policy_uri, terms: row.tos_uri }),
  homeUrl: row.application?.url ?? null,
  enabled: row.enabled && row.agent?.acts !== false,
  authMethod: row.token_endpoint_auth_method,
  profile: null,
  profileLacks: [],
  clientAssertionAudience: row.client_assertion_audience,
  tokenEndpointAuthSigningAlg: row.token_endpoint_auth_signing_alg,
  secrets: secretsOf(row),
  redirectUris: row.redirect_uris,
  postLogoutRedirectUris: row.post_logout_redirect_uris,
  backchannelLogoutUri: row.backchannel_logout_uri,
  backchannelNotificationEndpoint: row.backchannel_notification_endpoint,
  sendsUserCode: row.backchannel_user_code_parameter,
  tokensArePushed: row.backchannel_notification_endpoint !== null && row.backchannel_token_delivery_mode === 'push',
  webOrigins: originsOf(row.web_origins, row.redirect_uris),
  grantTypes: new Set(row.grant_types),
  consentRequired: row.consent_required,
  requirePkce: row.require_pkce,
  idTokenUserinfoClaims: row.id_token_userinfo_claims,
  requirePushedAuthorizationRequests: row.require_pushed_authorization_requests,
  requireSignedRequestObject: row.require_signed_request_object,
  requireSignedResponse: false,
  requestObjectSigningAlg: row.request_object_signing_alg,
  requestUris: new Set(row.request_uris.map(withoutFragment)),
  idTokenSignedResponseAlg: row.id_token_signed_response_alg,
  accessTokenSignedResponseAlg: row.access_token_signed_response_alg,
  userinfoSignedResponseAlg: row.userinfo_signed_response_alg,
  authorizationSignedResponseAlg: row.authorization_signed_response_alg,
  introspectionSignedResponseAlg: row.introspection_signed_response_alg,
  encryption: row.encryption,
  flowOverride: row.flow_override ?? row.application?.flowOverride ?? null,
  accessTokenTtlSeconds: row.access_token_ttl_seconds,
  refreshTokenTtlSeconds: row.refresh_token_ttl_seconds,
  reuseRefreshTokens: row.reuse_refresh_tokens,
  jwks: row.jwks,
  jwksUri: row.jwks_uri,
  allowedResources: new Set(row.allowed_resources),
  authorizationDetailsTypes: new Set(row.authorization_details_types),
  dpopBoundAccessTokens: row.dpop_bound_access_tokens,
  certificateBoundAccessTokens: row.tls_client_certificate_bound_access_tokens,
  certificate: row.certificate,
  workloads: row.workloads ?? [],
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
      const [row] = await readClient(sql, realm, clientId);
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
