// Keycloak's OpenID Connect clients with their mappers, and which clients are Keycloak's own. docs/keycloak.md has the
// table. saml-clients.ts has SAML clients.

import type { ClaimInput } from '../../../../contract/claims.ts';
import { grantBodies } from '../../../../contract/oauth.ts';
import { type Client, isCatalogued, isMasked } from './export-shape.ts';
import { isOwnScope, translate } from './mappers.ts';
import type { Notes } from './notes.ts';
import type { KnownClient } from './roles.ts';

const own = new Set([
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
]);
/** A client that Keycloak makes in every realm; in `master` there is one for each realm's administrators. */
export const isOwnClient = (clientId: string, realm: string | undefined): boolean =>
  own.has(clientId) || (realm === 'master' && clientId.endsWith('-realm'));
export const isSaml = ({ protocol }: Client): boolean => protocol === 'saml';
export const isOidc = ({ protocol = 'openid-connect' }: Client): boolean => protocol === 'openid-connect';

/** Grant types, each with the Keycloak settings that enable it. */
const grants: readonly [(client: Client) => boolean, string][] = [
  [({ standardFlowEnabled = true }) => standardFlowEnabled, 'authorization_code'],
  [
    ({ standardFlowEnabled = true, attributes }) =>
      standardFlowEnabled && attributes?.['use.refresh.tokens'] !== 'false',
    'refresh_token',
  ],
  [({ serviceAccountsEnabled = false }) => serviceAccountsEnabled, 'client_credentials'],
  [
    ({ attributes }) => attributes?.['oauth2.device.authorization.grant.enabled'] === 'true',
    'urn:ietf:params:oauth:grant-type:device_code',
  ],
  [
    ({ attributes }) => attributes?.['standard.token.exchange.enabled'] === 'true',
    'urn:ietf:params:oauth:grant-type:token-exchange',
  ],
  [({ attributes }) => attributes?.['oidc.ciba.grant.enabled'] === 'true', 'urn:openid:params:grant-type:ciba'],
  [({ directAccessGrantsEnabled = false }) => directAccessGrantsEnabled, 'password'],
  [({ implicitFlowEnabled = false }) => implicitFlowEnabled, 'implicit'],
];

const SESSION = 'a client’s session is the person’s here';
/** Why an attribute isn't carried over. An attribute that is neither here nor in `silent` has no counterpart. */
const told: readonly [RegExp, string][] = [
  [/^client\.(offline\.)?session\./, SESSION],
  [/^login_theme$/, 'all clients have the realm’s pages here'],
  [/^acr\.loa\.map$/, 'levels of assurance are numbers here'],
  [/^(default|minimum)\.acr\.value/, 'a client asks for a level by acr_values here, and a flow for another'],
  [/^(logo|policy|tos)Uri$/, 'what people see of it is an application here: declare one'],
  [/^consent\.screen\.text$/, 'a consent page has the client’s name and its scopes here'],
  [/^x509\./, 'its certificate is found by its exact subject here'],
];
/**
 * Attributes that are carried over, or that this server always implies. `client.secret…` is the secret's creation time.
 */
const silent =
  /^(realm_client|client\.secret\..*|use\.refresh\.tokens|standard\.token\.exchange\.enabled|oauth2\.device\.authorization\.grant\.enabled|oidc\.ciba\.grant\.enabled|pkce\.code\.challenge\.method|post\.logout\.redirect\.uris|access\.token\.lifespan|use\.jwks\.(string|url)|jwks\.(string|url)|backchannel\.logout\.(url|session\.required)|frontchannel\.logout\.(url|session\.required)|request\.object\.(signature\.alg|encryption\.(alg|enc)|required)|((access|id)\.token|authorization)\.signed\.response\.alg|(id\.token|user\.info|authorization)\.encrypted\.response\.(alg|enc)|token\.endpoint\.auth\.signing\.alg|user\.info\.response\.signature\.alg|dpop\.bound\.access\.tokens|tls\.client\.certificate\.bound\.access\.tokens|require\.pushed\.authorization\.requests|display\.on\.consent\.screen|saml.*|jwt\.credential\.(public\.key|certificate|private\.key|kid))$/;
/** Values that mean the same as an unset attribute. */
const unsaid = /^(false|any|-|\{\})?$/;

function tellAttributes(attributes: Readonly<Record<string, string>>, note: Note): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (silent.test(name) || unsaid.test(value)) continue;
    note(`attributes.${name}`, told.find(([pattern]) => pattern.test(name))?.[1] ?? 'has no counterpart here');
  }
}

/** The fields about encryption, each with Keycloak's attribute. */
const encrypted = [
  ['idTokenEncryptedResponseAlg', 'id.token.encrypted.response.alg'],
  ['idTokenEncryptedResponseEnc', 'id.token.encrypted.response.enc'],
  ['userinfoEncryptedResponseAlg', 'user.info.encrypted.response.alg'],
  ['userinfoEncryptedResponseEnc', 'user.info.encrypted.response.enc'],
  ['authorizationEncryptedResponseAlg', 'authorization.encrypted.response.alg'],
  ['authorizationEncryptedResponseEnc', 'authorization.encrypted.response.enc'],
  ['requestObjectEncryptionAlg', 'request.object.encryption.alg'],
  ['requestObjectEncryptionEnc', 'request.object.encryption.enc'],
] as const;

/** Algorithms and addresses that this server stores as fields; undefined for values by which Keycloak means none. */
function protocolOf({ attributes: at = {}, frontchannelLogout }: Client) {
  const algorithm = (name: string) => (unsaid.test(at[name] ?? '') || at[name] === 'none' ? undefined : at[name]);
  const fields = {
    backchannelLogoutUri: at['backchannel.logout.url'] || undefined,
    frontchannelLogoutUri: (frontchannelLogout && at['frontchannel.logout.url']) || undefined,
    requestObjectSigningAlg: algorithm('request.object.signature.alg'),
    // Whatever else Keycloak's value allows (encrypted, or by reference), the request object must be signed.
    requireSignedRequestObject: (at['request.object.required'] ?? 'not required') !== 'not required' || undefined,
    accessTokenSignedResponseAlg: algorithm('access.token.signed.response.alg'),
    idTokenSignedResponseAlg: algorithm('id.token.signed.response.alg'),
    userinfoSignedResponseAlg: algorithm('user.info.response.signature.alg'),
    tokenEndpointAuthSigningAlg: algorithm('token.endpoint.auth.signing.alg'),
    authorizationSignedResponseAlg: algorithm('authorization.signed.response.alg'),
    ...Object.fromEntries(encrypted.map(([field, name]) => [field, algorithm(name)])),
    tlsClientCertificateBoundAccessTokens: at['tls.client.certificate.bound.access.tokens'] === 'true' || undefined,
    dpopBoundAccessTokens: at['dpop.bound.access.tokens'] === 'true' || undefined,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export interface TranslatedClient {
  client: Record<string, unknown>;
  mappers: ClaimInput[];
}

/** @param flows aliases of flows by Keycloak's ids */
export function clientOf(
  given: Client,
  { flows, known, notes }: { flows: ReadonlyMap<string, string>; known: KnownClient; notes: Notes },
): TranslatedClient {
  const { clientId: key, name, description, attributes = {} } = given;
  const note: Note = (field, why, below = field) =>
    notes.add({ kind: 'client', key, field, ...(below !== undefined && { below }) }, why);
  const wanted = grants.filter(([asks]) => !given.bearerOnly && asks(given)).map(([, grant]) => grant);
  for (const grant of wanted)
    if (!Object.hasOwn(grantBodies, grant)) note('grants', `the grant ${grant} isn’t there here`);
  tellAttributes(attributes, note);
  if (given.fullScopeAllowed === false) note('fullScopeAllowed', 'its tokens hold all roles of the user here');
  if (given.adminUrl) note('adminUrl', 'nothing is pushed to clients here but logout');
  if (given.baseUrl) note('baseUrl', 'the address is an application’s here: declare one');
  if (given.alwaysDisplayInConsole) note('alwaysDisplayInConsole', 'people see applications here: declare one');
  const { mappers, pairwise } = mappersOf(given, known, note);
  const flow = given.authenticationFlowBindingOverrides?.browser;
  const alias = flow ? flows.get(flow) : undefined;
  if (flow && alias === undefined) note('authenticationFlowBindingOverrides', 'its flow isn’t in the export');
  const redirectUris = addressesOf(given, 'redirectUris', given.redirectUris ?? [], note);
  const after = (attributes['post.logout.redirect.uris'] ?? '').split('##').filter((uri) => uri !== '' && uri !== '-');
  const lifetime = Number(attributes['access.token.lifespan']);
  return {
    client: {
      clientId: key,
      ...(name && !isCatalogued(name) && { name }),
      ...(description && !isCatalogued(description) && { description }),
      enabled: given.enabled ?? true,
      ...authenticationOf(given, note),
      redirectUris,
      postLogoutRedirectUris: after.flatMap((uri) =>
        uri === '+' ? redirectUris : addressesOf(given, 'post.logout.redirect.uris', [uri], note),
      ),
      webOrigins: originsOf(given, note),
      grantTypes: wanted.filter((grant) => Object.hasOwn(grantBodies, grant)),
      ...scopesOf(given),
      ...protocolOf(given),
      consentRequired: given.consentRequired ?? false,
      requirePkce: given.publicClient === true || attributes['pkce.code.challenge.method'] === 'S256',
      requirePushedAuthorizationRequests: attributes['require.pushed.authorization.requests'] === 'true',
      ...(alias !== undefined && { flowOverride: alias }),
      ...(lifetime > 0 && { accessTokenTtlSeconds: lifetime }),
      ...(pairwise && { subjectType: 'pairwise' }),
    },
    mappers,
  };
}

type Note = (field: string | undefined, why: string, below?: string) => void;

function scopesOf({ defaultClientScopes, optionalClientScopes, bearerOnly }: Client) {
  if (bearerOnly) return { defaultClientScopes: [], optionalClientScopes: [] };
  const usual = (defaultClientScopes ?? []).filter((name) => !isOwnScope(name));
  const optional = (optionalClientScopes ?? []).filter((name) => !isOwnScope(name) && !usual.includes(name));
  return {
    ...(defaultClientScopes && { defaultClientScopes: usual }),
    ...(optionalClientScopes && { optionalClientScopes: optional }),
  };
}

function authenticationOf(given: Client, note: Note): Record<string, unknown> {
  const { publicClient, clientAuthenticatorType: type = 'client-secret', secret = '', attributes = {} } = given;
  if (publicClient) {
    if (attributes['pkce.code.challenge.method'] !== 'S256')
      note('attributes.pkce.code.challenge.method', 'a public client sends PKCE here');
    return { tokenEndpointAuthMethod: 'none' };
  }
  if (type === 'client-jwt') {
    const jwksUri = attributes['use.jwks.url'] === 'true' ? attributes['jwks.url'] : undefined;
    const jwks = attributes['use.jwks.string'] === 'true' ? jsonOf(attributes['jwks.string']) : undefined;
    if (jwksUri || jwks) return { tokenEndpointAuthMethod: 'private_key_jwt', ...(jwksUri ? { jwksUri } : { jwks }) };
    note('clientAuthenticatorType', 'its certificate isn’t taken: give its keys as jwks or jwksUri');
    return {};
  }
  if (type === 'client-x509') {
    const subject = attributes['x509.subjectdn'];
    const isPattern = attributes['x509.allow.regex.pattern.comparison'] === 'true';
    if (subject && !isPattern) {
      note('attributes.x509.subjectdn', 'declare the authorities of its certificate: tlsClientAuthAuthorities');
      return { tokenEndpointAuthMethod: 'tls_client_auth', tlsClientAuthSubjectDn: subject };
    }
    note('clientAuthenticatorType', 'a certificate is found by its exact subject here, not by a pattern');
    return {};
  }
  if (type !== 'client-secret')
    note('clientAuthenticatorType', `there is no ${type} here: it authenticates by its secret`);
  const known = secret !== '' && !isMasked(secret);
  if (!known && !given.bearerOnly) note('secret', 'is not in the export: give the client one');
  return { tokenEndpointAuthMethod: 'client_secret_basic', ...(known && { secret }) };
}

function jsonOf(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Relative addresses are resolved against the client's root URL. */
function addressesOf({ rootUrl = '' }: Client, field: string, uris: readonly string[], note: Note): string[] {
  return uris.flatMap((uri) => {
    if (uri.includes('*')) {
      note(field, `${uri}: addresses are exact here`, `${field}.${uri}`);
      return [];
    }
    if (!uri.startsWith('/')) return [uri];
    if (URL.canParse(rootUrl)) return [rootUrl.replace(/(?<!\/)\/+$/, '') + uri];
    note(field, `${uri}: there is no root address that it is below`, `${field}.${uri}`);
    return [];
  });
}

function originsOf({ webOrigins = [] }: Client, note: Note): string[] {
  return webOrigins.flatMap((origin) => {
    if (origin === '*') note('webOrigins', '*: origins are named here');
    if (origin === '*' || origin === '') return [];
    const parsed = URL.parse(origin)?.origin ?? 'null';
    // Of a web view (capacitor://localhost) the URL parser knows no origin.
    return [parsed === 'null' ? origin.replace(/\/$/, '') : parsed];
  });
}

function mappersOf(
  { protocolMappers = [] }: Client,
  known: KnownClient,
  note: Note,
): { mappers: ClaimInput[]; pairwise: boolean } {
  const mappers: ClaimInput[] = [];
  let pairwise = false;
  for (const mapper of protocolMappers) {
    const translated = translate(mapper, known);
    if (!('claims' in translated)) {
      note(`protocolMappers.${mapper.name}`, translated.why);
      continue;
    }
    if (translated.pairwise) {
      pairwise = true;
      note(`protocolMappers.${mapper.name}`, 'its subjects differ from Keycloak’s, and are the client’s own again');
    }
    // A single claim gets the mapper's name; the claims of an address keep theirs.
    const alone = translated.claims.length === 1;
    for (const claim of translated.claims) {
      const one = alone ? renamed(claim, mapper.name) : claim;
      if (mappers.some(({ name }) => name === one.name))
        note('protocolMappers', `${one.name} is there twice: the first counts`);
      else mappers.push(one);
    }
  }
  return { mappers, pairwise };
}

const renamed = (claim: ClaimInput, name: string): ClaimInput =>
  claim.source === 'audience' || claim.name === name ? { ...claim, name } : { ...claim, name, claim: claim.name };
