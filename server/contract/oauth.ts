// The protocol endpoints as documents: addresses, parameters and responses for OpenAPI. They are parsed by the rules of
// their RFCs (http/form.ts), not by these schemas. Specification 4.11; decisions "Protocol paths", "Errors".
import { z } from 'zod';
import { InRealm } from './names.ts';
import { servedTo } from './surface.ts';
import { ID_JAG_TYPE, ID_TOKEN_TYPE, JWT_GRANT_TYPE, REFRESH_TOKEN_TYPE, TXN_TOKEN_TYPE } from './token-types.ts';
import { UMA_TICKET, UmaDecision, UmaPermission, umaTicketBody } from './uma-grant.ts';

const tag = 'openid-connect';
const at = '/realms/:realm/oauth2' as const;

export const OAuthErrorBody = z
  .object({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: 'OAuthError', description: 'RFC 6749 §5.2' });

export const TokenResponse = z
  .object({
    access_token: z
      .string()
      .describe('RFC 9068: a JWT of type at+jwt, signed by the realm’s active key of the client’s algorithm'),
    token_type: z
      .enum(['Bearer', 'DPoP', 'N_A'])
      .describe(
        'DPoP where the request proved a key (RFC 9449); a token that is bound to a certificate is a Bearer token; N_A: no access token, but a grant for another domain or a transaction token (RFC 8693 §2.2.1)',
      ),
    expires_in: z.int(),
    refresh_token: z
      .string()
      .optional()
      .describe('Opaque; it changes with each use unless the client or the realm reuses them'),
    id_token: z.string().optional(),
    scope: z.string().optional().describe('What was given; absent where that is none'),
    authorization_details: z
      .array(z.looseObject({ type: z.string() }))
      .optional()
      .describe('RFC 9396: the details that were given; absent where there are none'),
    issued_token_type: z.string().optional().describe('RFC 8693, token exchange'),
    upgraded: z.boolean().optional().describe('uma-ticket: what the rpt permitted is in it, too'),
  })
  .meta({ id: 'TokenResponse' });

export const IntrospectionResponse = z
  .looseObject({ active: z.boolean(), scope: z.string().optional(), client_id: z.string().optional() })
  .meta({ id: 'IntrospectionResponse', description: 'RFC 7662 §2.2' });

const parameter = z.string().optional();
export const ClientParameters = {
  client_id: parameter,
  client_secret: parameter,
  client_assertion_type: parameter,
  client_assertion: parameter,
};
export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
/** OpenID Connect CIBA Core §4. */
export const CIBA = 'urn:openid:params:grant-type:ciba';
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
/** RFC 7523 §2.1: workload identities and cross-domain trusts define the trusted issuers, so no client has this grant type. */
export const jwtBearerBody = z.object({ assertion: z.string() });
/** Each grant's own parameters at the token endpoint. */
export const grantBodies = {
  authorization_code: z.object({ code: z.string(), redirect_uri: parameter, code_verifier: parameter }),
  refresh_token: z.object({ refresh_token: z.string() }),
  client_credentials: z.object({}),
  [DEVICE_CODE]: z.object({ device_code: z.string() }),
  [CIBA]: z.object({ auth_req_id: z.string() }),
  [TOKEN_EXCHANGE]: z.object({
    subject_token: z.string().describe('A person’s access token that this client got, or that is for it'),
    subject_token_type: z.literal(ACCESS_TOKEN_TYPE, { error: `must be ${ACCESS_TOKEN_TYPE}` }),
    actor_token: parameter.describe('An access token of who acts, issued to this client; left out: the client itself'),
    actor_token_type: parameter,
    requested_token_type: parameter.describe(`${ACCESS_TOKEN_TYPE} alone`),
  }),
  [UMA_TICKET]: umaTicketBody,
};
export const GrantType = z.enum(Object.keys(grantBodies) as [GrantType, ...GrantType[]]);
export type GrantType = keyof typeof grantBodies;
const TokenForm = z.object({
  grant_type: z.enum([...GrantType.options, JWT_BEARER]),
  ...grantBodies.authorization_code.partial().shape,
  ...grantBodies.refresh_token.partial().shape,
  ...grantBodies[DEVICE_CODE].partial().shape,
  ...grantBodies[CIBA].partial().shape,
  ...grantBodies[TOKEN_EXCHANGE].partial().shape,
  subject_token_type: z
    .enum([ACCESS_TOKEN_TYPE, ID_TOKEN_TYPE, REFRESH_TOKEN_TYPE, TXN_TOKEN_TYPE])
    .optional()
    .describe('An ID token or refresh token for a grant of another domain, a transaction token for another one'),
  requested_token_type: z
    .enum([ACCESS_TOKEN_TYPE, ID_JAG_TYPE, JWT_GRANT_TYPE, TXN_TOKEN_TYPE])
    .optional()
    .describe('Left out: an access token; id-jag, jwt: a grant for another domain (audience is its issuer)'),
  ...jwtBearerBody.partial().shape,
  request_context: parameter.describe('Transaction tokens: the environment of the request, as a JSON object'),
  request_details: parameter.describe('Transaction tokens: the details of the transaction, as a JSON object'),
  ...umaTicketBody.omit({ audience: true }).shape,
  scope: parameter,
  authorization_details: parameter.describe(
    'RFC 9396, as a JSON list: for a grant, less than was granted; client_credentials: of types that allow it',
  ),
  resource: z.array(z.string()).optional().describe('RFC 8707; may be repeated'),
  audience: z
    .array(z.string())
    .optional()
    .describe('RFC 8693, token exchange: the same as resource; uma-ticket: the clientId of the resource server'),
  ...ClientParameters,
});
const AuthorizeParameters = z.object({
  response_type: z.literal('code'),
  client_id: z.string(),
  redirect_uri: z.string().describe('Exactly one of the client’s; a loopback address on any port (RFC 8252)'),
  response_mode: z
    .enum(['query', 'form_post', 'jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'])
    .optional()
    .describe('…jwt: the answer is one signed JWT, in the parameter response (JARM); jwt is query.jwt'),
  scope: parameter.describe(
    'The client’s scopes. With openid, a name that the realm has no scope of is ignored; one that only other clients have is invalid_scope',
  ),
  state: parameter,
  nonce: parameter,
  dpop_jkt: parameter.describe('The thumbprint of the key that must be proven for the code (RFC 9449 §10)'),
  code_challenge: parameter,
  code_challenge_method: z.literal('S256').optional(),
  prompt: parameter.describe(
    'none, or login, consent, select_account, create (to make an account, where that is open)',
  ),
  max_age: parameter,
  claims: parameter.describe('Single claims for userinfo and the ID token, as JSON (OIDC Core §5.5)'),
  authorization_details: parameter.describe(
    'RFC 9396, as a JSON list: details of the client’s types, which the person is asked about each time',
  ),
  acr_values: parameter.describe('Levels of assurance, such as `2`; the strongest wish first'),
  login_hint: parameter,
  request: parameter.describe(
    'All of it as a JWT that the client has signed (RFC 9101), and encrypted where it declared so; what stands beside it, but client_id, counts for nothing',
  ),
  kc_idp_hint: parameter.describe(
    'The alias of an identity provider by which the person is to sign in, without a choice',
  ),
  resource: z.array(z.string()).optional(),
});
/** The parameters, or only a reference to a pushed request. */
const OpenedParameters = AuthorizeParameters.partial().extend({
  client_id: z.string(),
  request_uri: parameter.describe('Of a pushed request (RFC 9126): nothing else counts then'),
});
const LogoutParameters = z.object({
  id_token_hint: parameter,
  client_id: parameter,
  post_logout_redirect_uri: parameter,
  state: parameter,
  logout_hint: parameter,
});
const TokenParameters = z.object({ token: z.string(), token_type_hint: parameter, ...ClientParameters });
const consumes = ['application/x-www-form-urlencoded'];
const bad = OAuthErrorBody.describe('The request is wrong, or the realm says no: `error` tells which');
const unproven = OAuthErrorBody.describe('`invalid_client` or `invalid_token`; see WWW-Authenticate');
const insufficient = OAuthErrorBody.describe('`insufficient_scope`: the token has no scope openid');
const switchedOff = OAuthErrorBody.describe('`access_denied`: the application is switched off');
const noRealm = OAuthErrorBody.describe('There is no such realm');
const json = {
  404: noRealm,
  default: OAuthErrorBody.describe('`slow_down` (429), `server_error` (500), `temporarily_unavailable` (503)'),
};
/** Of endpoints where a client begins a request for a user without a browser. */
export const failuresWithoutBrowser = {
  400: bad,
  401: OAuthErrorBody.describe('`invalid_client`; see WWW-Authenticate'),
  403: switchedOff,
  ...json,
};
const html = (description: string) => ({ description, content: { 'text/html': { schema: z.string() } } });
const page = {
  200: html('A page for the person: a question, or an answer that posts itself to the application'),
  303: z.null().describe('On to the application with the answer or its error, or to the sign-in'),
  400: html('A page: the request is wrong, and nobody is known to whom that could be told'),
  404: html('A page: there is no such realm'),
  default: html('A page: `slow_down` (429), `server_error` (500), `temporarily_unavailable` (503)'),
};

const base = { tags: [tag], params: InRealm };
const anybody: { [scheme: string]: string[] }[] = [];
/** The client authenticates by header, or in the body. */
const byClient = [{ clientSecret: [] }, {}];
const byAccessToken = [{ accessToken: [] }];

export const authorizeRoute = {
  method: 'GET',
  url: `${at}/authorize`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'authorize',
    security: anybody,
    summary: 'Authorization endpoint: code flow, PKCE S256',
    description:
      'The answer carries `iss` (RFC 9207). A request whose client or redirect_uri is wrong gets a page and is never redirected.',
    querystring: OpenedParameters,
    response: page,
  },
} as const;
export const authorizePostRoute = {
  method: 'POST',
  url: `${at}/authorize`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'authorizeByPost',
    security: anybody,
    summary: 'Authorization endpoint, parameters in the body',
    consumes,
    body: OpenedParameters,
    response: page,
  },
} as const;
export const pushRoute = {
  method: 'POST',
  url: `${at}/par`,
  config: servedTo('client'),
  schema: {
    ...base,
    operationId: 'pushAuthorizationRequest',
    security: byClient,
    summary: 'Pushed authorization requests (RFC 9126)',
    description:
      'Takes what the authorization endpoint takes, with the client’s authentication as at the token endpoint. The `request_uri` opens once, for this client; a browser then brings it with `client_id` alone, and whatever else it brings is ignored.',
    consumes,
    body: AuthorizeParameters.extend(ClientParameters),
    response: {
      201: z.object({ request_uri: z.string(), expires_in: z.int() }).meta({ id: 'PushedAuthorizationResponse' }),
      400: bad,
      401: unproven,
      403: switchedOff,
      413: OAuthErrorBody.describe('`invalid_request`: the request is too long'),
      ...json,
    },
  },
} as const;
export const tokenRoute = {
  method: 'POST',
  url: `${at}/token`,
  config: servedTo('client'),
  schema: {
    ...base,
    operationId: 'getToken',
    security: byClient,
    summary: 'Token endpoint',
    description:
      'client_secret_basic, client_secret_post (a client with a secret may use either), private_key_jwt, tls_client_auth and self_signed_tls_client_auth (with client_id alone), federated_jwt and spiffe_jwt (a workload’s token as client_assertion), spiffe_x509 (with client_id alone), or none with PKCE. ' +
      'Without a requested resource the audience is the realm’s issuer. A client’s default scopes always apply.',
    consumes,
    body: TokenForm,
    response: {
      200: z.union([TokenResponse, UmaDecision, z.array(UmaPermission)]),
      400: bad,
      401: unproven,
      403: OAuthErrorBody.describe('uma-ticket: `access_denied`, `request_denied`, `need_info`, `request_submitted`'),
      ...json,
    },
  },
} as const;
export const userinfoRoute = {
  method: 'GET',
  url: `${at}/userinfo`,
  config: servedTo('person'),
  schema: {
    ...base,
    operationId: 'getUserinfo',
    security: byAccessToken,
    summary: 'Claims about the person of an access token with the scope openid',
    description:
      'As a JWT (`application/jwt`), signed where the client has `userinfoSignedResponseAlg`, and encrypted where it has `userinfoEncryptedResponseAlg`.',
    response: { 200: z.looseObject({ sub: z.string() }), 400: bad, 401: unproven, 403: insufficient, ...json },
  },
} as const;
export const userinfoPostRoute = {
  method: 'POST',
  url: `${at}/userinfo`,
  config: servedTo('person'),
  schema: {
    ...userinfoRoute.schema,
    operationId: 'getUserinfoByPost',
    security: [...byAccessToken, {}],
    consumes,
    body: z.object({ access_token: parameter }),
  },
} as const;
export const jwksRoute = {
  method: 'GET',
  url: `${at}/jwks`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'getJwks',
    security: anybody,
    summary: 'The realm’s public keys; verifiers read them live',
    response: { 200: z.looseObject({ keys: z.array(z.looseObject({ kid: z.string() })) }), ...json },
  },
} as const;
export const revokeRoute = {
  method: 'POST',
  url: `${at}/revoke`,
  config: servedTo('client'),
  schema: {
    ...base,
    operationId: 'revokeToken',
    security: byClient,
    summary: 'Revocation (RFC 7009): a refresh token ends its grant with its access tokens',
    consumes,
    body: TokenParameters,
    response: { 200: z.null(), 400: bad, 401: unproven, ...json },
  },
} as const;
export const introspectRoute = {
  method: 'POST',
  url: `${at}/introspect`,
  config: servedTo('client'),
  schema: {
    ...base,
    operationId: 'introspectToken',
    security: byClient,
    summary: 'Introspection (RFC 7662), for confidential clients',
    description:
      'An access token is shown to the client that it was issued to, and to one that it is for: whose clientId, or a resource in whose `allowedResources`, is among its audiences (without a requested resource that is the realm’s issuer). A refresh token is shown to its own client alone. To anybody else it is `{"active":false}`, as what is not active is. With `Accept: application/token-introspection+jwt` the answer is a JWT that the realm signed, with all this below `token_introspection` (RFC 9701).',
    consumes,
    body: TokenParameters,
    response: { 200: IntrospectionResponse, 400: bad, 401: unproven, ...json },
  },
} as const;
export const logoutRoute = {
  method: 'GET',
  url: `${at}/logout`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'endSession',
    security: anybody,
    summary: 'RP-initiated logout; asks the person unless a valid id_token_hint names the session',
    querystring: LogoutParameters,
    response: page,
  },
} as const;
export const logoutPostRoute = {
  method: 'POST',
  url: `${at}/logout`,
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'endSessionByPost',
    security: anybody,
    summary: 'RP-initiated logout, parameters in the body',
    consumes,
    body: LogoutParameters,
    response: page,
  },
} as const;
export const discoveryRoute = {
  method: 'GET',
  url: '/realms/:realm/.well-known/openid-configuration',
  config: servedTo('anonymous'),
  schema: {
    ...base,
    operationId: 'getOpenidConfiguration',
    security: anybody,
    summary: 'Discovery document (OIDC Discovery, RFC 8414)',
    response: { 200: z.looseObject({ issuer: z.string() }), ...json },
  },
} as const;
/** RFC 8414 §3.1: the well-known part goes between host and the issuer's path. */
export const serverMetadataRoute = {
  method: 'GET',
  url: '/.well-known/oauth-authorization-server/realms/:realm',
  config: servedTo('anonymous'),
  schema: {
    ...discoveryRoute.schema,
    operationId: 'getAuthorizationServerMetadata',
    summary: 'Discovery document (RFC 8414)',
  },
} as const;
