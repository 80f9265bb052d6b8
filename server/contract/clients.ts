// Clients: applications and service accounts. Decisions "Fields that the specification does not show"; specification 4.10.

import { z } from 'zod';
import { certificateFields, TokenEndpointAuthMethod } from './client-authentication.ts';
import { backchannelFields } from './client-backchannel.ts';
import { clientForm } from './client-form.ts';
import { encryptionFields, keyFields, signingFields } from './client-jwts.ts';
import { DetailTypeName } from './detail-type-name.ts';
import { DAY_SECONDS } from './durations.ts';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { ById, EpochMs, HttpUrl, InClient, isPlainlySpelt, name, ScopeName, text } from './names.ts';
import { GrantType } from './oauth.ts';
import { route } from './route.ts';
import { SecurityProfile } from './security-profiles.ts';
import { AssertionAudience, ResourceIndicator } from './settings.ts';

/** Exact match, no wildcard, no fragment (RFC 6749 §3.1.2); a loopback address matches on any port (RFC 8252 §7.3). */
const RedirectUri = z
  .string()
  .max(2048)
  .refine((s) => URL.canParse(s) && !s.includes('#'), 'must be an absolute URI without a fragment')
  // URL parsers drop blanks and line breaks: `java\nscript:` would be a script.
  .refine((s) => /^[\x21-\x7e]+$/.test(s), 'must be written in printable ASCII without blanks (RFC 3986 §2)')
  .refine((s) => !s.includes('\\'), 'must not contain a backslash (RFC 3986 §2)')
  .refine(
    (s) => !/^https?:/i.test(s) || isPlainlySpelt(s),
    'must have // before its host, and no user name (RFC 3986 §3.2)',
  )
  .refine((s) => !/^(javascript|data|vbscript|file|blob|about):/i.test(s), 'has a scheme that may not be redirected to')
  .refine((s) => !s.includes('*'), 'must be exact: wildcards are not matched');
/** Of a web view or a browser extension. The schemes of pages that anybody can write have no origin. */
const isOwnOrigin = (s: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(:\d{1,5})?$/.test(s) &&
  !/^(https?|wss?|ftp|file|data|blob|about|javascript|vbscript):/.test(s) &&
  URL.canParse(s);
const Origin = z
  .string()
  .max(2048)
  .refine(
    (s) => s === '+' || URL.parse(s)?.origin === s || isOwnOrigin(s),
    "must be an origin such as https://app.example or capacitor://localhost, or '+' for those of the redirect URIs",
  );
export const ClientId = name(255)
  .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII (RFC 6749 appendix A.1)')
  // Documents map clientIds to roles, and JSON with this key is refused.
  .refine((s) => s !== '__proto__', 'must be another name')
  .describe('The client’s name in the protocol, unique in the realm');
/** OpenID Connect Dynamic Client Registration §2. */
export const ApplicationType = z.enum(['web', 'native']);
const seconds = z.int().min(1).max(315_360_000);

/** Every settable field but the natural key and the secret. */
export const clientFields = {
  name: text(255).nullable().describe('What people see, on the consent page for one'),
  description: text(2000).nullable().describe('What the client is for'),
  logoUri: HttpUrl.nullable().describe(
    'Its picture, which people see as they sign in and as they are asked for consent; https',
  ),
  clientUri: HttpUrl.nullable().describe(
    'Where it tells of itself; linked beside the picture, as are the next two; https',
  ),
  policyUri: HttpUrl.nullable().describe('Where it says what it does with what it learns of people; https'),
  tosUri: HttpUrl.nullable().describe('Where its terms are; https'),
  enabled: z.boolean().describe('false: it gets no tokens'),
  tokenEndpointAuthMethod: TokenEndpointAuthMethod.describe(
    'How it proves itself; none: a public client. private_key_jwt: clientAssertionAudience says which `aud` its assertions may have. tls_client_auth: by a certificate of tlsClientAuthAuthorities; self_signed_tls_client_auth: by a certificate in its JWK Set (RFC 8705). federated_jwt, spiffe_jwt, spiffe_x509: by a token, a JWT-SVID or an X.509-SVID of the workload identities that authenticate this client',
  ),
  clientAssertionAudience: AssertionAudience.nullable().describe(
    'The `aud` of its assertions (private_key_jwt). issuer: the issuer alone (RFC 7523bis); endpoints, for libraries that follow OpenID Connect Core §9: also the address of an endpoint, or a list that holds one of these; null: as the realm says',
  ),
  profile: SecurityProfile.nullable().describe(
    'The security profile that it is held to, which sets what it demands and refuses what contradicts it: FAPI 2.0 Security Profile or Message Signing; null: the realm’s. Of the two the stricter one counts',
  ),
  applicationType: ApplicationType.nullable().describe(
    'web: all redirect URIs are https, and none is of this machine; native: each is of an app’s own scheme or a loopback address; null: of any form',
  ),
  redirectUris: z
    .array(RedirectUri)
    .max(200)
    .describe('Where people come back to after signing in: exact, but any port of a loopback address (RFC 8252)'),
  postLogoutRedirectUris: z.array(RedirectUri).max(200).describe('Where people come back to after signing out: exact'),
  backchannelLogoutUri: HttpUrl.nullable().describe(
    'Where it is told, from server to server, that a session has ended (OpenID Connect Back-Channel Logout); https',
  ),
  ...backchannelFields,
  frontchannelLogoutUri: HttpUrl.nullable().describe(
    'What a browser that signs out loads in a frame (OpenID Connect Front-Channel Logout); on the host of a redirect URI',
  ),
  webOrigins: z
    .array(Origin)
    .max(200)
    .describe(
      'Origins that may call from a browser or a web view; + for those of the redirect URIs, at any port of a loopback address',
    ),
  grantTypes: z.array(GrantType).max(20).describe('The ways in which it gets tokens'),
  defaultClientScopes: z.array(ScopeName).max(200).describe('Scopes that its tokens always have'),
  optionalClientScopes: z.array(ScopeName).max(200).describe('Scopes that it may ask for'),
  consentRequired: z.boolean().describe('true: people are asked before it learns about them'),
  requirePkce: z.boolean().describe('true: authorization codes need PKCE with S256 (RFC 7636)'),
  requirePushedAuthorizationRequests: z
    .boolean()
    .describe('true: its authorization requests have to be pushed first (RFC 9126)'),
  requireSignedRequestObject: z
    .boolean()
    .describe('true: its authorization requests have to come as a JWT that it signed (RFC 9101), pushed or not'),
  requestUris: z
    .array(HttpUrl)
    .max(50)
    .describe(
      'Where it keeps requests that it signed, for the parameter request_uri: exact, but for a fragment; https',
    ),
  ...signingFields,
  ...encryptionFields,
  flowOverride: name(255).nullable().describe('Alias of the flow used instead of the realm’s'),
  accessTokenTtlSeconds: seconds.nullable().describe('Lifetime of its access tokens; null: the realm’s'),
  refreshTokenTtlSeconds: seconds.nullable().describe('Lifetime of its refresh tokens; null: the realm’s'),
  reuseRefreshTokens: z
    .boolean()
    .nullable()
    .describe(
      'true: its refresh tokens stay the same; false: they rotate, and reuse ends the grant; null: as the realm says',
    ),
  ...keyFields,
  allowedResources: z
    .array(ResourceIndicator)
    .max(200)
    .describe(
      'RFC 8707: what this client may ask for (empty: all of the realm’s; of a client that registered itself: none), and whose tokens it may introspect',
    ),
  authorizationDetailsTypes: z
    .array(DetailTypeName)
    .max(100)
    .describe('The types of details that it may ask for (RFC 9396); empty: none'),
  ...certificateFields,
  dpopBoundAccessTokens: z
    .boolean()
    .describe('true: its token requests have to prove a key, with a nonce of the server’s (DPoP, RFC 9449)'),
  tokenExchangeImpersonation: z
    .boolean()
    .describe('true: tokens that it gets by token exchange do not say that it acts (RFC 8693); it needs the grant'),
  mayActClient: name(255)
    .nullable()
    .describe(
      'clientId of the one client that may exchange this client’s tokens, which then say so in may_act (RFC 8693 §4.4); null: any that they are for',
    ),
  subjectType: z
    .enum(['public', 'pairwise'])
    .nullable()
    .describe(
      'How it knows people: by a subject that all clients see, or by one of its sector’s own; null: as the realm says',
    ),
  sectorIdentifierUri: HttpUrl.nullable().describe(
    'OpenID Connect Core §8.1: its host is the client’s sector; null: the one host of its redirect URIs, or else the client itself',
  ),
  idTokenUserinfoClaims: z
    .boolean()
    .describe('true: its ID tokens hold what userinfo says too, for applications that do not ask there'),
};

export const ServiceAccountRoles = z
  .object({
    clientId: z.string(),
    roles: z.array(z.string()),
    clientRoles: z.record(z.string(), z.array(z.string())),
    adminRoles: z.array(z.string()).describe('Admin roles over this realm'),
  })
  .meta({ id: 'ServiceAccountRoles' });

/**
 * Secrets imported from other servers may be short: such a secret still works, is hashed slowly, and realm health names
 * its client.
 */
export const ClientSecret = text(1024).min(1).describe('From 32 characters of many kinds on, nobody guesses it');

const previousSecretExpiresAt = EpochMs.nullable().describe('Until when the secret before this one works too');
export const clients = kind({
  section: 'clients',
  kind: 'client',
  one: 'a client',
  many: 'clients',
  description: 'Clients, by clientId',
  key: 'clientId',
  fields: { clientId: ClientId, ...clientFields },
  fresh: {
    enabled: true,
    tokenEndpointAuthMethod: 'client_secret_basic',
    grantTypes: ['authorization_code', 'refresh_token'],
    defaultClientScopes: ['email', 'profile', 'roles'],
    optionalClientScopes: ['offline_access'],
    consentRequired: false,
    requirePkce: true,
    requirePushedAuthorizationRequests: false,
    requireSignedRequestObject: false,
    dpopBoundAccessTokens: false,
    tlsClientCertificateBoundAccessTokens: false,
    tokenExchangeImpersonation: false,
    idTokenUserinfoClaims: false,
    backchannelTokenDeliveryMode: 'ping',
    backchannelUserCodeParameter: false,
  },
  names: {
    defaultClientScopes: 'clientScope',
    optionalClientScopes: 'clientScope',
    flowOverride: 'flow',
    authorizationDetailsTypes: 'authorizationDetailType',
  },
  // a secret is stored as a hash, so it isn't among the encrypted fields of kind()
  asked: { secret: ClientSecret, serviceAccountRoles: z.array(name()).max(200) },
  answered: {
    clientId: z.string(),
    serviceAccountRoles: z.array(z.string()).describe('Realm roles of the service account'),
    secretSet: z.boolean(),
    previousSecretExpiresAt,
    effectiveProfile: SecurityProfile.nullable().describe(
      'The security profile that counts for it: the stricter one of its own and the realm’s',
    ),
    profileLacks: z
      .array(z.string())
      .describe('What it lacks of that profile: until it has all, it is refused everywhere'),
    createdAt: EpochMs,
  },
  inDocument: { secret: ClientSecret },
  searches: ['clientId', 'name'],
  most: 50_000,
  mostInResource: 1000,
  problems: ['privilege-escalation', 'in-use'],
  reach: { list: 'rows', get: { client: 'id' }, put: { client: 'id' } },
  describe: { remove: 'Delete a client with its grants and consents' },
  form: clientForm,
  example: {
    clientId: 'shop',
    name: 'The shop',
    tokenEndpointAuthMethod: 'none',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['https://shop.example.com/callback'],
    postLogoutRedirectUris: ['https://shop.example.com/'],
    webOrigins: ['+'],
  },
  updateExample: { accessTokenTtlSeconds: 600, consentRequired: true },
  cli: {
    help: 'applications and service accounts',
    shown: ['tokenEndpointAuthMethod', 'grantTypes', 'enabled', 'name'],
    wide: [
      'secretSet',
      'effectiveProfile',
      'profileLacks',
      'flowOverride',
      'defaultClientScopes',
      'redirectUris',
      'createdAt',
    ],
    heads: {
      tokenEndpointAuthMethod: 'AUTHENTICATES BY',
      grantTypes: 'GRANTS',
      secretSet: 'SECRET',
      effectiveProfile: 'HELD TO',
      profileLacks: 'LACKS',
      flowOverride: 'FLOW',
      defaultClientScopes: 'SCOPES',
      redirectUris: 'REDIRECTS TO',
      createdAt: 'CREATED',
    },
  },
});
export const Client = clients.wire;
export type Client = AnswerOf<typeof clients>;
export type ClientInput = InputOf<typeof clients>;
export const {
  list: listClients,
  create: createClient,
  get: getClient,
  put: putClient,
  remove: deleteClient,
} = clients.routes;

export const ServiceAccountRolesDocument = z.strictObject({
  clientId: ClientId,
  roles: z.array(name()).max(500).optional().describe('Realm roles'),
  clientRoles: z.record(name(), z.array(name()).max(500)).optional().describe('Client roles, by clientId'),
  adminRoles: z
    .array(name())
    .max(100)
    .optional()
    .describe('Admin roles over this realm; nobody can give what they do not hold'),
});
export type ServiceAccountRolesDocument = z.infer<typeof ServiceAccountRolesDocument>;

const tag = 'clients';
const at = '/admin/realms/:realm/clients' as const;

const ClientSecretState = { previousSecretExpiresAt };
export const getClientSecret = route({
  method: 'GET',
  path: `${at}/:id/secret`,
  tag,
  summary: 'Whether a secret is set; its value is never shown again',
  permission: 'clients:read',
  reach: { client: 'id' },
  params: ById,
  response: z.object({ secretSet: z.boolean(), ...ClientSecretState }),
  problems: ['not-found'],
});
/** Long enough to replace the old secret everywhere. */
const LONGEST_GRACE_SECONDS = 30 * DAY_SECONDS;
export const createClientSecret = route({
  method: 'POST',
  path: `${at}/:id/secret`,
  tag,
  operationId: 'createClientSecret',
  summary: 'Make a new secret and show it once; the old one can go on working for a while',
  permission: 'clients:write',
  reach: { client: 'id' },
  params: ById,
  body: z
    .strictObject({
      graceSeconds: z
        .int()
        .min(0)
        .max(LONGEST_GRACE_SECONDS)
        .optional()
        .describe('How long the old secret works beside the new one; default 0: it ends now'),
    })
    .nullish(),
  example: { graceSeconds: 86_400 },
  response: z.object({
    clientId: z.string(),
    secret: z.string().describe('Shown this once: svc_cs_…'),
    ...ClientSecretState,
  }),
  problems: ['not-found', 'privilege-escalation'],
});

const roleNames = z.array(name()).max(500);
const AccountRolesInput = z.strictObject({
  roles: roleNames.optional().describe('Realm roles'),
  clientRoles: z.record(name(), roleNames).optional().describe('Client roles, by clientId'),
});
const ofAccount = { path: `${at}/:clientId/service-account/roles`, tag, params: InClient } as const;
const accountExample = { roles: [], clientRoles: {} };

export const getServiceAccountRoles = route({
  ...ofAccount,
  method: 'GET',
  summary: 'Which roles a client’s service account holds',
  permission: 'clients:read',
  reach: { client: 'clientId' },
  response: ServiceAccountRoles,
  problems: ['not-found'],
});
export const addServiceAccountRoles = route({
  ...ofAccount,
  method: 'POST',
  operationId: 'addServiceAccountRoles',
  summary: 'Give roles to a client’s service account; what it holds already stays',
  description: 'Admin roles are given by PUT …/admin-roles.',
  permission: 'clients:write',
  body: AccountRolesInput,
  example: accountExample,
  response: ServiceAccountRoles,
  problems: ['declared-only', 'not-found', 'privilege-escalation'],
});
export const removeServiceAccountRoles = route({
  ...ofAccount,
  method: 'DELETE',
  summary: 'Take roles from a client’s service account; the body names them as in a POST',
  permission: 'clients:write',
  body: AccountRolesInput,
  example: accountExample,
  status: 204,
  problems: ['declared-only', 'not-found', 'privilege-escalation'],
});

const AllowedResources = z.object({ allowedResources: clientFields.allowedResources });
const ofResources = { path: `${at}/:clientId/allowed-resources`, tag, params: InClient } as const;
export const getAllowedResources = route({
  ...ofResources,
  method: 'GET',
  summary: 'The resources that a client may ask for (RFC 8707)',
  permission: 'clients:read',
  reach: { client: 'clientId' },
  response: AllowedResources,
  problems: ['not-found'],
});
export const putAllowedResources = route({
  ...ofResources,
  method: 'PUT',
  summary: 'Set the resources that a client may ask for; none: all of the realm’s',
  permission: 'clients:write',
  body: z.strictObject(AllowedResources.shape),
  example: { allowedResources: [] },
  response: AllowedResources,
  problems: ['declared-only', 'not-found', 'privilege-escalation', 'precondition-failed'],
});
