// A client between its row and the wire, pure.
import { type Client, type ClientInput, freshClient } from '../../contract/clients.ts';
import type { Changes } from '../../contract/names.ts';
import type { ClientRow, ClientWithLinks } from './store.ts';

export const toWire = (row: ClientWithLinks): Client => ({
  id: row.id,
  clientId: row.client_id,
  name: row.name,
  description: row.description,
  enabled: row.enabled,
  tokenEndpointAuthMethod: row.token_endpoint_auth_method,
  redirectUris: row.redirect_uris,
  postLogoutRedirectUris: row.post_logout_redirect_uris,
  webOrigins: row.web_origins,
  grantTypes: row.grant_types,
  defaultClientScopes: row.default_scopes,
  optionalClientScopes: row.optional_scopes,
  consentRequired: row.consent_required,
  requirePkce: row.require_pkce,
  flowOverride: row.flow_override,
  accessTokenTtlSeconds: row.access_token_ttl_seconds,
  refreshTokenTtlSeconds: row.refresh_token_ttl_seconds,
  jwks: row.jwks,
  jwksUri: row.jwks_uri,
  allowedResources: row.allowed_resources,
  serviceAccountRoles: row.roles,
  secretSet: row.secret_hash !== null || row.secret_slow !== null,
  createdAt: row.created_at.getTime(),
});

export const toRow = (client: Client, secret: { hash: Buffer | null; slow: string | null }): ClientRow => ({
  id: client.id,
  client_id: client.clientId,
  name: client.name,
  description: client.description,
  enabled: client.enabled,
  token_endpoint_auth_method: client.tokenEndpointAuthMethod,
  secret_hash: secret.hash,
  secret_slow: secret.slow,
  redirect_uris: client.redirectUris,
  post_logout_redirect_uris: client.postLogoutRedirectUris,
  web_origins: client.webOrigins,
  grant_types: client.grantTypes,
  consent_required: client.consentRequired,
  require_pkce: client.requirePkce,
  flow_override: client.flowOverride,
  access_token_ttl_seconds: client.accessTokenTtlSeconds,
  refresh_token_ttl_seconds: client.refreshTokenTtlSeconds,
  jwks: client.jwks,
  jwks_uri: client.jwksUri,
  allowed_resources: client.allowedResources,
  created_at: new Date(client.createdAt),
});

const set = (names: readonly string[]): string[] => [...new Set(names)].sort();
const once = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** The client as the input wants it: what is left out keeps its value; sets are sorted, lists lose repetitions. */
export function merged(current: Client, input: Changes<ClientInput>): Client {
  const { secret: _, ...fields } = input;
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const next: Client = {
    ...current,
    ...given,
    id: current.id,
    createdAt: current.createdAt,
    secretSet: current.secretSet,
  };
  return {
    ...next,
    redirectUris: once(next.redirectUris),
    postLogoutRedirectUris: once(next.postLogoutRedirectUris),
    webOrigins: once(next.webOrigins),
    grantTypes: once(next.grantTypes),
    allowedResources: once(next.allowedResources),
    defaultClientScopes: set(next.defaultClientScopes),
    optionalClientScopes: set(next.optionalClientScopes),
    serviceAccountRoles: set(next.serviceAccountRoles),
  };
}

/** A client of which nothing was said but its name. */
export const fresh = (id: string, clientId: string, at: Date): Client =>
  merged(
    {
      ...freshClient,
      id,
      clientId,
      redirectUris: [],
      postLogoutRedirectUris: [],
      webOrigins: [],
      grantTypes: [...freshClient.grantTypes],
      defaultClientScopes: [...freshClient.defaultClientScopes],
      optionalClientScopes: [...freshClient.optionalClientScopes],
      allowedResources: [],
      serviceAccountRoles: [],
      secretSet: false,
      createdAt: at.getTime(),
    },
    {},
  );
