// The rules for a client as a whole: faults that no single field's schema can find.

import { ADMIN_CLI } from '../../../contract/admin-access.ts';
import { usesSecret } from '../../../contract/client-authentication.ts';
import { type EncryptionFields, encryptedAnswers } from '../../../contract/client-jwts.ts';
import type { Client } from '../../../contract/clients.ts';
import { loopbackHosts } from '../../../contract/names.ts';
import { CIBA } from '../../../contract/oauth.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { isUuid } from '../../../crypto/ids.ts';
import type { Sql } from '../../../db/sql.ts';
import { encryptionKeyFor } from '../../../domain/encryption-key.ts';
import { demandOf, strangerTo } from '../../../domain/redirect-uri.ts';
import { adminAudience, anothersResource, isAnothers, namesServer, type RealmAt } from '../../../http/own-addresses.ts';
import { joinPaths } from '../../../resource/items.ts';
import type { Wanted } from '../../../resource/part.ts';
import { type Certified, certificateFaults } from './certificate-rules.ts';
import { type Profiled, profileFaults } from './profile.ts';

const HTTPS = [
  'jwksUri',
  'logoUri',
  'clientUri',
  'policyUri',
  'tosUri',
  'backchannelLogoutUri',
  'backchannelNotificationEndpoint',
] as const;

type Shape = Profiled &
  EncryptionFields &
  Certified &
  Pick<
    Client,
    | 'profile'
    | 'applicationType'
    | 'grantTypes'
    | 'postLogoutRedirectUris'
    | 'requirePkce'
    | 'defaultClientScopes'
    | 'optionalClientScopes'
    | 'sectorIdentifierUri'
    | 'requestUris'
    | (typeof HTTPS)[number]
    | 'frontchannelLogoutUri'
    | 'backchannelTokenDeliveryMode'
    | 'dpopBoundAccessTokens'
    | 'tlsClientCertificateBoundAccessTokens'
  >;

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'];
const MAX_JWKS_BYTES = 65_536;

const fault = (path: string, message: string): FieldError => ({ path, message });

/**
 * The subject of a user's token is an id, that of a client's token its name: a client's name must not be a user's id
 * (RFC 9068 §5).
 */
export const nameFaults = (clientId: string): FieldError[] =>
  isUuid(clientId) ? [fault('clientId', 'must not be a UUID, which people are known by in tokens')] : [];

/** A client's name is the audience of tokens for it: it must not be the server's address, or the realm's future issuer. */
export async function serverNames(
  sql: Sql,
  realm: string,
  { changes, baseUrl }: { changes: readonly Wanted[]; baseUrl: string },
): Promise<FieldError[]> {
  const named = changes.filter(
    ({ kind, action, renamedFrom }) => kind === 'client' && (action === 'create' || renamedFrom !== undefined),
  );
  if (!named.some(({ key }) => URL.canParse(key))) return [];
  const [stored] = await sql<{
    issuer: string | null;
  }>`select own_issuer as issuer from realm where realm_id = ${realm}`;
  const declared = changes.find(({ kind, key }) => kind === 'settings' && key === 'issuer')?.fields.value;
  const issuer = typeof declared === 'string' ? declared : (stored?.issuer ?? null);
  return named
    .filter(({ key }) => namesServer(key, { baseUrl, issuer }))
    .map(({ path }) => fault(joinPaths(path, 'clientId'), 'is this server’s address, or the realm’s issuer'));
}

/** @param secret whether the request contains one */
export function clientFaults(client: Shape, secret: boolean): FieldError[] {
  const { tokenEndpointAuthMethod: method, grantTypes, jwks, jwksUri } = client;
  const open = method === 'none';
  return [
    ...(secret && !usesSecret(method) ? [fault('secret', `a client with ${method} has no secret`)] : []),
    ...(open && !client.requirePkce
      ? [fault('requirePkce', 'must be true for a public client (tokenEndpointAuthMethod none)')]
      : []),
    ...(open && grantTypes.includes('client_credentials')
      ? [fault('grantTypes', 'a public client cannot use client_credentials (RFC 6749 §4.4)')]
      : []),
    ...(open && grantTypes.includes(CIBA)
      ? [fault('grantTypes', 'a public client cannot ask people by the backchannel (CIBA Core §5)')]
      : []),
    ...(method === 'private_key_jwt' && jwks === null && jwksUri === null
      ? [fault('jwks', 'private_key_jwt needs jwks or jwksUri')]
      : []),
    ...pushFaults(client),
    ...certificateFaults(client),
    ...(jwks !== null && jwksUri !== null ? [fault('jwksUri', 'give jwks or jwksUri, not both (RFC 7591 §2)')] : []),
    ...(jwks === null ? [] : jwksFaults(jwks)),
    ...(client.sectorIdentifierUri === null || client.sectorIdentifierUri.startsWith('https:')
      ? []
      : [fault('sectorIdentifierUri', 'must be https (OpenID Connect Core §8.1)')]),
    ...HTTPS.flatMap((field) => ((client[field]?.startsWith('https:') ?? true) ? [] : [fault(field, 'must be https')])),
    ...client.requestUris.flatMap((uri, i) =>
      uri.startsWith('https:') ? [] : [fault(`requestUris[${i}]`, 'must be https')],
    ),
    ...applicationFaults(client),
    ...frameFaults(client),
    ...encryptionFaults(client),
    ...profileFaults(client, client.profile),
    ...addressFaults('redirectUris', client.redirectUris, open),
    ...addressFaults('postLogoutRedirectUris', client.postLogoutRedirectUris, open),
    ...client.optionalClientScopes.flatMap((scope, i) =>
      client.defaultClientScopes.includes(scope)
        ? [fault(`optionalClientScopes[${i}]`, 'is among the default client scopes already')]
        : [],
    ),
  ];
}

/** Tokens that the server pushes prove no key of the client. FAPI-CIBA §5.2.2 forbids the mode. */
function pushFaults(client: Shape): FieldError[] {
  if (client.backchannelTokenDeliveryMode !== 'push') return [];
  const field = 'backchannelTokenDeliveryMode';
  if (client.backchannelNotificationEndpoint === null)
    return [fault(field, 'push needs backchannelNotificationEndpoint')];
  return client.dpopBoundAccessTokens || client.tlsClientCertificateBoundAccessTokens
    ? [fault(field, 'pushed tokens can’t be bound to a key: choose ping')]
    : [];
}

/** An encrypted answer needs a key that the client has registered; `…Enc` needs its `…Alg`. */
function encryptionFaults(client: Shape): FieldError[] {
  const { jwks, jwksUri, requestObjectEncryptionAlg, requestObjectEncryptionEnc } = client;
  const needs = (path: string, alg: string) => fault(path, `needs ${alg}`);
  const ofAnswers = encryptedAnswers.flatMap((answer) => {
    const [of, by] = [`${answer}EncryptedResponseAlg`, `${answer}EncryptedResponseEnc`] as const;
    const alg = client[of];
    if (alg === null) return client[by] === null ? [] : [needs(by, of)];
    if (jwks === null) return jwksUri === null ? [fault(of, 'needs a key of the client’s: give jwks or jwksUri')] : [];
    const keys: unknown[] = Array.isArray(jwks.keys) ? jwks.keys : [];
    return encryptionKeyFor(keys.map(Object), alg) ? [] : [fault(of, `needs a key in jwks that ${alg} encrypts for`)];
  });
  return requestObjectEncryptionEnc !== null && requestObjectEncryptionAlg === null
    ? [...ofAnswers, needs('requestObjectEncryptionEnc', 'requestObjectEncryptionAlg')]
    : ofAnswers;
}

/** No client may request or introspect tokens for this server's own APIs; for the admin API only `realmctl` may. */
export const resourceFaults = (
  { clientId, allowedResources }: Pick<Client, 'clientId' | 'allowedResources'>,
  at: RealmAt,
): FieldError[] =>
  allowedResources
    .filter((resource) => isAnothers(resource, at))
    .filter((resource) => clientId !== ADMIN_CLI || resource !== adminAudience(at.baseUrl))
    .map((resource) => fault('allowedResources', anothersResource(resource)));

/** OpenID Connect Dynamic Client Registration §2. */
function applicationFaults({ applicationType: type, redirectUris }: Shape): FieldError[] {
  const stranger = type === null ? -1 : strangerTo(type, redirectUris);
  return type === null || stranger < 0 ? [] : [fault(`redirectUris[${stranger}]`, demandOf[type])];
}

/** OpenID Connect Front-Channel Logout §2: scheme, host and port are a redirect URI's. */
const frameFaults = ({ frontchannelLogoutUri: uri, redirectUris }: Shape): FieldError[] =>
  uri === null || redirectUris.some((one) => new URL(one).origin === new URL(uri).origin)
    ? []
    : [fault('frontchannelLogoutUri', 'must be on the host of one of the redirectUris')];

/**
 * Schemes of no application: browsers and operating systems open or run such addresses for any page. The server sends users
 * there without a question if a request says `prompt=none` (RFC 9700 §4.11.2).
 */
const FOREIGN_SCHEMES: ReadonlySet<string> = new Set(
  (
    'view-source filesystem jar mhtml resource chrome edge intent ws wss ftp sftp ssh telnet ldap smb tel sms mailto shell ' +
    'hcp search search-ms ms-search ms-msdt ms-officecmd ms-cxh ms-cxh-full'
  ).split(' '),
);

/** OpenID Connect Core §3.1.2.1: plain http only for confidential clients; loopback is a native app's (RFC 8252 §7.3). */
const addressFaults = (field: string, addresses: readonly string[], open: boolean): FieldError[] =>
  addresses.flatMap((address, i) => {
    const url = new URL(address);
    if (FOREIGN_SCHEMES.has(url.protocol.slice(0, -1)))
      return [fault(`${field}[${i}]`, 'has a scheme that may not be redirected to')];
    return open && url.protocol === 'http:' && !loopbackHosts.has(url.hostname)
      ? [fault(`${field}[${i}]`, 'must be https, a loopback address or an app’s own scheme for a public client')]
      : [];
  });

function jwksFaults(jwks: Record<string, unknown>): FieldError[] {
  const { keys } = jwks;
  if (JSON.stringify(jwks).length > MAX_JWKS_BYTES) return [fault('jwks', `has more than ${MAX_JWKS_BYTES} bytes`)];
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > 100)
    return [fault('jwks', 'must be a JWK Set with 1 to 100 keys')];
  return keys.flatMap((key: unknown, i) => {
    const path = `jwks.keys[${i}]`;
    if (typeof key !== 'object' || key === null || !('kty' in key)) return [fault(path, 'is not a JWK')];
    if (key.kty !== 'RSA' && key.kty !== 'EC' && key.kty !== 'OKP')
      return [fault(path, 'must be an RSA, EC or OKP key')];
    return PRIVATE_MEMBERS.some((member) => member in key) ? [fault(path, 'must hold the public key alone')] : [];
  });
}
