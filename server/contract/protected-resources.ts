// Metadata of protected resources: the tokens that they accept, and their issuers (RFC 9728). Each 401 of the server names the document.
import { z } from 'zod';
import { InRealm } from './names.ts';
import { OAuthErrorBody } from './oauth.ts';
import { servedTo } from './surface.ts';

export const ProtectedResource = z
  .object({
    resource: z.string().describe('What a token for it has as its audience'),
    authorization_servers: z.array(z.string()),
    jwks_uri: z.string().optional().describe('Its own keys, where they are known'),
    scopes_supported: z.array(z.string()).optional(),
    bearer_methods_supported: z.array(z.string()).readonly(),
    dpop_signing_alg_values_supported: z.array(z.string()).readonly().optional(),
    tls_client_certificate_bound_access_tokens: z.boolean().optional().describe('RFC 8705 §3.3'),
    resource_name: z.string().optional(),
  })
  .meta({ id: 'ProtectedResource' });
export type ProtectedResource = z.infer<typeof ProtectedResource>;

const base = { tags: ['oauth2'], security: [] };
const ofRealm = {
  ...base,
  params: InRealm,
  querystring: z.object({
    resource: z.string().optional().describe('One of the realm’s `resourceIndicators`; left out: the realm’s own APIs'),
  }),
  response: {
    200: ProtectedResource,
    404: OAuthErrorBody.describe('There is no such realm, or it has no such resource'),
    default: OAuthErrorBody.describe('`server_error` (500), `temporarily_unavailable` (503)'),
  },
};

/** The metadata that a 401 of the realm's own APIs names, such as the account API's; other resource servers name it too. */
export const protectedResourceRoute = {
  method: 'GET',
  url: '/realms/:realm/.well-known/oauth-protected-resource',
  config: servedTo('anonymous'),
  schema: {
    ...ofRealm,
    operationId: 'getProtectedResource',
    summary: 'Metadata of a protected resource: the realm’s own APIs, or one that it declares (RFC 9728)',
  },
} as const;
/** RFC 9728 §3.1: the well-known part goes between host and the resource's path. */
export const insertedProtectedResourceRoute = {
  method: 'GET',
  url: '/.well-known/oauth-protected-resource/realms/:realm',
  config: servedTo('anonymous'),
  schema: { ...protectedResourceRoute.schema, operationId: 'getInsertedProtectedResource' },
} as const;
export const adminProtectedResourceRoute = {
  method: 'GET',
  url: '/.well-known/oauth-protected-resource/admin',
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'getAdminProtectedResource',
    summary: 'Metadata of the admin API as a protected resource (RFC 9728)',
    response: { 200: ProtectedResource },
  },
} as const;
