// Converts client metadata to a client's input, limited by the realm's rules; and a client to its metadata. Pure. RFC
// 7591 §2; OpenID Connect Dynamic Client Registration §2; decisions "Provisioning".
import { z } from 'zod';
import {
  CERTIFICATE_NAMES,
  type CertificateName,
  certificateNames,
  ownMethods,
} from '../../../contract/client-authentication.ts';
import { ApplicationType, clientFields } from '../../../contract/clients.ts';
import { HttpUrl, loopbackHosts } from '../../../contract/names.ts';
import { GrantType } from '../../../contract/oauth.ts';
import type { Provisioning } from '../../../contract/provisioning.ts';
import type { ClientMetadata } from '../../../contract/registration.ts';
import type { SecurityProfile } from '../../../contract/security-profiles.ts';
import { applicationTypeOf, demandOf, strangerTo } from '../../../domain/redirect-uri.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { profileFaults } from '../../configuration/clients/profile.ts';
import { type JwtFields, jwtFieldsOf, jwtMetadataOf } from './jwt-metadata.ts';

/** Scopes that every client may register for: the user's identity, and offline access. */
export const STANDARD_SCOPES = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access'];

/** RFC 7592 §2.2: null means the same as an omitted member. */
export const withoutNulls = (said: unknown): unknown =>
  typeof said === 'object' && said !== null && !Array.isArray(said)
    ? Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null))
    : said;

const invalid = (description: string) => new OAuthError('invalid_client_metadata', description);

function oneOf<T extends string>(name: string, value: string | undefined, known: readonly T[], byDefault?: T): T {
  const found = known.find((one) => one === (value ?? byDefault));
  if (found === undefined) throw invalid(`${name} must be one of ${known.join(', ')}`);
  return found;
}

const NOWHERE = { protocol: '', hostname: '' };

function redirects(addresses: readonly string[], hosts: readonly string[]): string[] {
  for (const address of addresses) {
    const { protocol, hostname } = URL.canParse(address) ? new URL(address) : NOWHERE;
    // RFC 7591 §5: with TLS, on the user's own machine, or with a program's own scheme.
    const open = protocol === 'http:' && !loopbackHosts.has(hostname);
    // Any program can claim a scheme of its own, with any host.
    const elsewhere = !/^https?:$/.test(protocol) || !hosts.includes(hostname);
    if (protocol === '' || open || (hosts.length > 0 && elsewhere))
      throw new OAuthError(
        'invalid_redirect_uri',
        'A redirect URI is not an address that this realm lets clients register',
      );
  }
  return [...addresses];
}

type SubjectType = 'public' | 'pairwise';
const hostOf = (address: string): string => new URL(address).hostname;

const Fields = z.strictObject(clientFields).partial();

/**
 * The address if pages may link to it. Programs register addresses of their own machine; they are accepted, but pages
 * don't show them.
 */
const toShow = (address: string | undefined): string | null =>
  address?.startsWith('https://') && HttpUrl.safeParse(address).success ? address : null;

/** A client does not choose the authorities by which its certificate is trusted: those of the realm count. */
const certificateNamesIn = (metadata: ClientMetadata) =>
  Object.fromEntries(CERTIFICATE_NAMES.map((field) => [field, metadata[certificateNames[field]] ?? null]));

/** Parses by the admin API's own schema. */
function asClient(input: z.input<typeof Fields>): z.output<typeof Fields> {
  const parsed = Fields.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? '');
  const code = /redirectUris/i.test(field) ? 'invalid_redirect_uri' : 'invalid_client_metadata';
  throw new OAuthError(code, `${field}: ${issue?.message ?? 'is invalid'}`);
}

/** @throws OAuthError `invalid_client_metadata`, `invalid_redirect_uri` */
export function inputOf(
  metadata: ClientMetadata,
  {
    policy,
    scopes,
    detailTypes,
    subjectTypes,
    profile,
  }: {
    policy: Provisioning;
    scopes: ReadonlySet<string>;
    /** The types of details that the client may register for, or has. */
    detailTypes: ReadonlySet<string>;
    subjectTypes: readonly SubjectType[];
    /** The profile that all clients of the realm are held to. */
    profile: SecurityProfile | null;
  },
): z.output<typeof Fields> {
  const [byDefault = 'public'] = subjectTypes;
  const subjectType = oneOf('subject_type', metadata.subject_type, subjectTypes, byDefault);
  if (!(metadata.response_types ?? ['code']).every((type) => type === 'code'))
    throw invalid('response_types must be code');
  const method = oneOf(
    'token_endpoint_auth_method',
    metadata.token_endpoint_auth_method,
    // A workload identity is declared by an administrator.
    ownMethods,
    'client_secret_basic',
  );
  const grantTypes = (metadata.grant_types ?? ['authorization_code']).map((grant) =>
    oneOf(
      'grant_types',
      grant,
      GrantType.options.filter((known) => policy.allowedGrantTypes.includes(known)),
      'authorization_code',
    ),
  );
  const allowed = policy.allowedScopes.length > 0 ? policy.allowedScopes : STANDARD_SCOPES;
  const asked = metadata.scope === undefined ? allowed : metadata.scope.split(' ').filter(Boolean);
  const refused = asked.filter((scope) => scope !== 'openid' && !allowed.includes(scope));
  if (refused.length > 0) throw invalid(`scope: ${refused.join(' ')} cannot be registered in this realm`);
  const closed = metadata.authorization_details_types?.filter((type) => !detailTypes.has(type)) ?? [];
  if (closed.length > 0)
    throw invalid('authorization_details_types names a type that cannot be registered in this realm');
  const mode = oneOf(
    'backchannel_token_delivery_mode',
    metadata.backchannel_token_delivery_mode,
    ['poll', 'ping', 'push'],
    'poll',
  );
  const notified = metadata.backchannel_client_notification_endpoint;
  if ((mode === 'poll') === (notified !== undefined))
    throw invalid('backchannel_client_notification_endpoint belongs to the modes ping and push');
  const backchannelTokenDeliveryMode = mode === 'push' ? 'push' : 'ping';
  const redirectUris = redirects(metadata.redirect_uris ?? [], policy.allowedRedirectHosts);
  const applicationType =
    metadata.application_type === undefined
      ? applicationTypeOf(redirectUris)
      : oneOf('application_type', metadata.application_type, ApplicationType.options);
  if (applicationType !== null && strangerTo(applicationType, redirectUris) >= 0)
    throw new OAuthError('invalid_redirect_uri', `A redirect URI ${demandOf[applicationType]}`);
  if (grantTypes.includes('authorization_code') && redirectUris.length === 0)
    throw new OAuthError('invalid_redirect_uri', 'redirect_uris is needed for the grant authorization_code');
  const sector = metadata.sector_identifier_uri;
  // OpenID Connect Core §8.1
  if (subjectType === 'pairwise' && sector === undefined && new Set(redirectUris.map(hostOf)).size > 1)
    throw invalid('sector_identifier_uri is needed where redirect_uris are on several hosts');
  const jwts = jwtFieldsOf(metadata, invalid);
  const stays = { clientAssertionAudience: null, accessTokenSignedResponseAlg: null, reuseRefreshTokens: null };
  const [fault] = profileFaults(
    { ...jwts, ...stays, backchannelTokenDeliveryMode, tokenEndpointAuthMethod: method, redirectUris },
    profile,
  );
  if (fault) throw invalid(`${fault.path} ${fault.message}`);
  return asClient({
    ...jwts,
    name: metadata.client_name ?? null,
    logoUri: toShow(metadata.logo_uri),
    clientUri: toShow(metadata.client_uri),
    policyUri: toShow(metadata.policy_uri),
    tosUri: toShow(metadata.tos_uri),
    tokenEndpointAuthMethod: method,
    applicationType,
    redirectUris,
    postLogoutRedirectUris: redirects(metadata.post_logout_redirect_uris ?? [], policy.allowedRedirectHosts),
    grantTypes,
    defaultClientScopes: [],
    optionalClientScopes: [...new Set(asked)].filter((scope) => scope !== 'openid' && scopes.has(scope)),
    consentRequired: policy.requireConsent,
    requirePkce: method === 'none',
    requirePushedAuthorizationRequests: metadata.require_pushed_authorization_requests ?? false,
    requireSignedRequestObject: metadata.require_signed_request_object ?? false,
    requestUris: metadata.request_uris ?? [],
    authorizationDetailsTypes: metadata.authorization_details_types ?? [],
    ...certificateNamesIn(metadata),
    tlsClientCertificateBoundAccessTokens: metadata.tls_client_certificate_bound_access_tokens ?? false,
    dpopBoundAccessTokens: metadata.dpop_bound_access_tokens ?? false,
    backchannelLogoutUri: metadata.backchannel_logout_uri ?? null,
    backchannelNotificationEndpoint: notified ?? null,
    backchannelTokenDeliveryMode,
    backchannelUserCodeParameter: metadata.backchannel_user_code_parameter ?? false,
    frontchannelLogoutUri: metadata.frontchannel_logout_uri ?? null,
    jwks: metadata.jwks ?? null,
    jwksUri: metadata.jwks_uri ?? null,
    // A type that equals the realm's default is left unset, so that it follows the realm.
    subjectType: subjectType === byDefault ? null : subjectType,
    sectorIdentifierUri: sector ?? null,
  });
}

/** Requirements for a client: only an administrator can withdraw them. */
const DEMANDS = [
  'consentRequired',
  'requirePkce',
  'requirePushedAuthorizationRequests',
  'requireSignedRequestObject',
  'dpopBoundAccessTokens',
  'tlsClientCertificateBoundAccessTokens',
] as const;

/**
 * The changes for an existing client. It can make itself stricter, not laxer, and only an administrator sets its
 * default scopes.
 */
export function updateOf(input: ReturnType<typeof inputOf>, stored: Readonly<Record<string, unknown>>) {
  const { defaultClientScopes: _, ...said } = input;
  const demanded = DEMANDS.filter((field) => stored[field] === true);
  return { ...said, ...Object.fromEntries(demanded.map((field) => [field, true])) };
}

interface Registered extends JwtFields, Record<CertificateName, string | null> {
  effectiveProfile: SecurityProfile | null;
  name: string | null;
  logoUri: string | null;
  clientUri: string | null;
  policyUri: string | null;
  tosUri: string | null;
  tokenEndpointAuthMethod: string;
  applicationType: 'web' | 'native' | null;
  redirectUris: readonly string[];
  postLogoutRedirectUris: readonly string[];
  grantTypes: readonly string[];
  optionalClientScopes: readonly string[];
  jwks: Record<string, unknown> | null;
  jwksUri: string | null;
  subjectType: SubjectType | null;
  sectorIdentifierUri: string | null;
  requirePushedAuthorizationRequests: boolean;
  requireSignedRequestObject: boolean;
  requestUris: readonly string[];
  authorizationDetailsTypes: readonly string[];
  dpopBoundAccessTokens: boolean;
  tlsClientCertificateBoundAccessTokens: boolean;
  backchannelLogoutUri: string | null;
  backchannelNotificationEndpoint: string | null;
  backchannelTokenDeliveryMode: 'ping' | 'push';
  backchannelUserCodeParameter: boolean;
  frontchannelLogoutUri: string | null;
}

export const metadataOf = (client: Registered, [byDefault = 'public']: readonly SubjectType[]): ClientMetadata => ({
  redirect_uris: [...client.redirectUris],
  post_logout_redirect_uris: [...client.postLogoutRedirectUris],
  token_endpoint_auth_method: client.tokenEndpointAuthMethod,
  ...(client.applicationType !== null && { application_type: client.applicationType }),
  grant_types: [...client.grantTypes],
  response_types: client.grantTypes.includes('authorization_code') ? ['code'] : [],
  ...(client.name !== null && { client_name: client.name }),
  ...(client.logoUri !== null && { logo_uri: client.logoUri }),
  ...(client.clientUri !== null && { client_uri: client.clientUri }),
  ...(client.policyUri !== null && { policy_uri: client.policyUri }),
  ...(client.tosUri !== null && { tos_uri: client.tosUri }),
  scope: ['openid', ...client.optionalClientScopes].join(' '),
  ...(client.jwks && { jwks: client.jwks }),
  ...(client.jwksUri !== null && { jwks_uri: client.jwksUri }),
  ...jwtMetadataOf(client, client.effectiveProfile),
  subject_type: client.subjectType ?? byDefault,
  ...(client.requirePushedAuthorizationRequests && { require_pushed_authorization_requests: true }),
  ...(client.requireSignedRequestObject && { require_signed_request_object: true }),
  ...(client.requestUris.length > 0 && { request_uris: [...client.requestUris] }),
  ...(client.authorizationDetailsTypes.length > 0 && {
    authorization_details_types: [...client.authorizationDetailsTypes],
  }),
  ...Object.fromEntries(
    CERTIFICATE_NAMES.flatMap((field) => (client[field] === null ? [] : [[certificateNames[field], client[field]]])),
  ),
  ...(client.tlsClientCertificateBoundAccessTokens && { tls_client_certificate_bound_access_tokens: true }),
  ...(client.dpopBoundAccessTokens && { dpop_bound_access_tokens: true }),
  ...(client.backchannelNotificationEndpoint !== null && {
    backchannel_token_delivery_mode: client.backchannelTokenDeliveryMode,
    backchannel_client_notification_endpoint: client.backchannelNotificationEndpoint,
  }),
  ...(client.backchannelUserCodeParameter && { backchannel_user_code_parameter: true }),
  ...(client.backchannelLogoutUri !== null && { backchannel_logout_uri: client.backchannelLogoutUri }),
  ...(client.frontchannelLogoutUri !== null && { frontchannel_logout_uri: client.frontchannelLogoutUri }),
  ...(client.sectorIdentifierUri !== null && { sector_identifier_uri: client.sectorIdentifierUri }),
});
