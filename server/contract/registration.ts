// Dynamic client registration as clients see it: RFC 7591, RFC 7592, OpenID Connect Dynamic Client Registration 1.0 §2.
// Specification 4.8.
import { z } from 'zod';
import { anyObject, InRealm, RealmName } from './names.ts';
import { OAuthErrorBody } from './oauth.ts';
import { servedTo } from './surface.ts';

const list = z.array(z.string().max(2048)).max(200);
const words = z.string().max(2000);

/** The supported metadata; the server ignores other metadata, as RFC 7591 §2 demands. */
export const ClientMetadata = z.object({
  redirect_uris: list.optional(),
  post_logout_redirect_uris: list.optional(),
  token_endpoint_auth_method: words.optional().describe('Default client_secret_basic'),
  application_type: words
    .optional()
    .describe('web: redirect_uris are https; native: an app’s own scheme, or http on loopback. Left out: as they are'),
  grant_types: list.optional().describe('Default authorization_code'),
  response_types: list.optional().describe('code alone'),
  client_name: words.optional(),
  logo_uri: words.optional().describe('This and the next three are shown to people; what isn’t https is passed over'),
  client_uri: words.optional(),
  policy_uri: words.optional(),
  tos_uri: words.optional(),
  scope: words.optional().describe('Scopes that the client may ask for, separated by spaces'),
  jwks: anyObject().optional(),
  jwks_uri: words.optional(),
  token_endpoint_auth_signing_alg: words.optional().describe('Left out: any that the realm supports'),
  id_token_signed_response_alg: words.optional().describe('Default RS256; PS256 in a realm with a security profile'),
  id_token_encrypted_response_alg: words.optional().describe('Left out: ID tokens are not encrypted'),
  id_token_encrypted_response_enc: words.optional().describe('Default A128CBC-HS256, here and below'),
  userinfo_signed_response_alg: words.optional().describe('Left out: userinfo is JSON'),
  userinfo_encrypted_response_alg: words.optional().describe('Left out: userinfo is not encrypted'),
  userinfo_encrypted_response_enc: words.optional(),
  authorization_signed_response_alg: words.optional().describe('Default RS256, where a response_mode is a JWT (JARM)'),
  authorization_encrypted_response_alg: words.optional().describe('Left out: they are not encrypted'),
  authorization_encrypted_response_enc: words.optional(),
  introspection_signed_response_alg: words.optional().describe('Default RS256, for the answer as a JWT (RFC 9701)'),
  introspection_encrypted_response_alg: words.optional().describe('Left out: it is not encrypted'),
  introspection_encrypted_response_enc: words.optional(),
  require_pushed_authorization_requests: z.boolean().optional().describe('RFC 9126 §6'),
  require_signed_request_object: z.boolean().optional().describe('RFC 9101 §10.5'),
  request_object_signing_alg: words
    .optional()
    .describe('One of the realm’s request_object_signing_alg_values_supported'),
  request_object_encryption_alg: words.optional().describe('Left out: encrypted requests are refused'),
  request_object_encryption_enc: words.optional().describe('Left out: any that the realm supports'),
  request_uris: list
    .optional()
    .describe('Where signed requests of the client are, for the parameter request_uri; https'),
  authorization_details_types: list
    .optional()
    .describe('RFC 9396 §10: types that the realm opens to clients that register themselves'),
  tls_client_auth_subject_dn: words.optional().describe('RFC 8705 §2.1.2: tls_client_auth needs one of these five'),
  tls_client_auth_san_dns: words.optional(),
  tls_client_auth_san_uri: words.optional(),
  tls_client_auth_san_ip: words.optional(),
  tls_client_auth_san_email: words.optional(),
  tls_client_certificate_bound_access_tokens: z.boolean().optional().describe('RFC 8705 §3.4'),
  dpop_bound_access_tokens: z.boolean().optional().describe('RFC 9449 §5.2'),
  backchannel_token_delivery_mode: words.optional().describe('poll (default), ping or push'),
  backchannel_client_notification_endpoint: words.optional().describe('For the modes ping and push; https'),
  backchannel_user_code_parameter: z.boolean().optional(),
  backchannel_logout_uri: words.optional().describe('Logout tokens always say sid'),
  frontchannel_logout_uri: words.optional().describe('iss and sid are always added'),
  subject_type: words.optional().describe('One of the realm’s subject_types_supported'),
  sector_identifier_uri: words
    .optional()
    .describe('A JSON list there must hold all redirect_uris; its host is the sector of pairwise subjects'),
});
export type ClientMetadata = z.infer<typeof ClientMetadata>;

/** RFC 7592 §2.2: an omitted member is reset to its default. */
export const ClientMetadataUpdate = ClientMetadata.extend({
  client_id: z.string(),
  client_secret: z.string().optional(),
});

export const RegisteredClient = ClientMetadata.extend({
  client_id: z.string(),
  client_secret: z.string().optional().describe('Shown where it is new'),
  client_secret_expires_at: z.int().optional().describe('0: never'),
  client_id_issued_at: z.int(),
  registration_access_token: z
    .string()
    .describe('For the next request to registration_client_uri; the one before ends'),
  registration_client_uri: z.string(),
}).meta({ id: 'RegisteredClient' });
export type RegisteredClient = z.infer<typeof RegisteredClient>;

const example = { client_name: 'A shop', redirect_uris: ['https://shop.example.com/callback'] };

const tag = 'registration';
const url = '/realms/:realm/connect/register' as const;
const failures = {
  400: OAuthErrorBody.describe('`invalid_client_metadata`, `invalid_redirect_uri`, or `invalid_request`'),
  401: OAuthErrorBody.describe('`invalid_token`; see WWW-Authenticate'),
  404: OAuthErrorBody.describe('There is no such realm'),
  default: OAuthErrorBody.describe('`slow_down` (429), `server_error` (500), `temporarily_unavailable` (503)'),
};
const schema = { tags: [tag], consumes: ['application/json'] };
const one = {
  ...schema,
  security: [{ registrationAccessToken: [] }],
  params: z.object({ realm: RealmName, clientInternalId: z.string() }),
};

export const registerRoute = {
  method: 'POST',
  url,
  config: servedTo('anonymous', 'registration'),
  schema: {
    ...schema,
    operationId: 'registerClient',
    security: [{ initialAccessToken: [] }, {}],
    params: InRealm,
    summary: 'Register a client (RFC 7591)',
    description: 'With an initial access token where the realm asks for one: `Authorization: Bearer svc_iat_…`.',
    body: ClientMetadata.meta({ examples: [example] }),
    response: { 201: RegisteredClient, ...failures },
  },
} as const;
export const readRegistrationRoute = {
  method: 'GET',
  url: `${url}/:clientInternalId`,
  config: servedTo('own-token', 'registration'),
  schema: {
    ...one,
    operationId: 'getRegisteredClient',
    summary: 'Read a registered client (RFC 7592)',
    response: { 200: RegisteredClient, ...failures },
  },
} as const;
export const updateRegistrationRoute = {
  method: 'PUT',
  url: `${url}/:clientInternalId`,
  config: servedTo('own-token', 'registration'),
  schema: {
    ...one,
    operationId: 'updateRegisteredClient',
    summary: 'Replace a registered client’s metadata (RFC 7592)',
    body: ClientMetadataUpdate.meta({ examples: [{ ...example, client_id: 'dcr-…' }] }),
    response: { 200: RegisteredClient, ...failures },
  },
} as const;
export const deleteRegistrationRoute = {
  method: 'DELETE',
  url: `${url}/:clientInternalId`,
  config: servedTo('own-token', 'registration'),
  schema: {
    ...one,
    operationId: 'deleteRegisteredClient',
    summary: 'Delete a registered client (RFC 7592)',
    response: { 204: z.null(), ...failures },
  },
} as const;
