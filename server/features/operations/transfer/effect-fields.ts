// The effects of changed fields on users and clients of the realm: removed redirect URIs, grants and roles, shorter
// lifetimes, stricter requirements. Fields that are missing here have no effect on signed-in users. Pure.
import { DEFAULT_CONTENT_ENCRYPTION } from '../../../contract/algorithms.ts';
import { strings } from '../../../resource/items.ts';
import {
  allowListEffect,
  atMost,
  becameLess,
  changeEffect,
  type EffectWords,
  type FieldEffect,
  type FieldEffects,
  lockoutEffect,
  namesForMessage,
  namesIn,
  namesRemoved,
  removalEffect,
  requirementEffect,
  rolesIn,
  shorterLifetimeEffect,
  switchedOff,
  switchedOn,
} from './effect-words.ts';

const always =
  (said: EffectWords): FieldEffect =>
  () => [said];
const ACTIONS = ['allow', 'step_up', 'deny'];
const stricter =
  (band: string): FieldEffect =>
  (from, to) => {
    if (ACTIONS.indexOf(String(to)) <= ACTIONS.indexOf(String(from))) return [];
    return to === 'deny'
      ? [lockoutEffect(`refuses sign-ins of ${band} risk`)]
      : [changeEffect(`asks more of users who sign in at ${band} risk`)];
  };
const lower =
  (said: string): FieldEffect =>
  (from, to) =>
    becameLess(from, to) ? [changeEffect(said)] : [];

const otherKeys = always(lockoutEffect('has to prove itself by other keys'));
const otherNames = always(lockoutEffect('it knows people by other names'));
const notBack = (uris: string) => lockoutEffect(`sign-ins no longer return to ${uris}`);
const signedBy =
  (what: string): FieldEffect =>
  (_, to) => [lockoutEffect(`${what} by ${String(to ?? 'RS256')}`)];
const encryptedBy =
  (what: string): FieldEffect =>
  (_, to) => [lockoutEffect(to === null ? `${what}: no longer encrypted` : `${what}: encrypted by ${String(to)}`)];
const contentBy =
  (what: string): FieldEffect =>
  (_, to) => [lockoutEffect(`${what}: content encrypted by ${String(to ?? DEFAULT_CONTENT_ENCRYPTION)}`)];
/** The effects of a security profile: it applies at once to requests that were accepted before. */
const profileEffects =
  (whose: 'its' | 'all'): FieldEffect =>
  (from, to) => {
    if (to === null || from === 'fapi2-message-signing') return [];
    const requests = whose === 'its' ? 'its requests' : 'all clients’ requests';
    const signing = [
      lockoutEffect(`${to}: refuses ${requests} that are not signed`),
      lockoutEffect(`${to}: answers authorization requests and introspection as signed JWTs alone`),
    ];
    if (from !== null) return signing;
    return [
      lockoutEffect(`${to}: refuses clients that do not prove themselves by private_key_jwt or a certificate`),
      lockoutEffect(`${to}: refuses ${requests} that are not pushed, lack PKCE or prove no key (DPoP, or mutual TLS)`),
      lockoutEffect(`${to}: refuses what is signed by another algorithm than PS256, ES256 or EdDSA`),
      lockoutEffect(`${to}: tokens are signed by PS256, unless the client names another algorithm`),
      changeEffect(`${to}: refresh tokens stay the same`),
      ...(to === 'fapi2-message-signing' ? signing : []),
    ];
  };
const otherCertificate: FieldEffect = (_, to) =>
  to === null ? [] : [lockoutEffect(`has to show a certificate for ${String(to)}`)];
const flow: FieldEffect = (_, to) => [
  changeEffect(`people sign in by ${to === null ? 'the realm’s flow' : `the flow ${String(to)}`}`),
];

export const ofClient: FieldEffects = {
  enabled: switchedOff(lockoutEffect('gets no tokens any more, and nobody signs in to it')),
  redirectUris: removalEffect(notBack),
  webOrigins: removalEffect((origins) => lockoutEffect(`pages of ${origins} can’t call the realm for it any more`)),
  grantTypes: removalEffect((types) => lockoutEffect(`gets no tokens by ${types} any more`)),
  allowedResources: allowListEffect((resources) => lockoutEffect(`gets tokens for ${resources} alone`)),
  defaultClientScopes: removalEffect((scopes) => changeEffect(`its tokens lose ${scopes}`)),
  optionalClientScopes: removalEffect((scopes) => changeEffect(`its tokens can’t be asked for ${scopes} any more`)),
  postLogoutRedirectUris: removalEffect((uris) => changeEffect(`sign-outs no longer return to ${uris}`)),
  secret: always(lockoutEffect('has to prove itself by another secret')),
  jwks: otherKeys,
  jwksUri: always(lockoutEffect('has to prove itself by the keys of another address')),
  tokenEndpointAuthMethod: (_, to) => [lockoutEffect(`has to prove itself by ${String(to)}`)],
  clientAssertionAudience: (_, to) =>
    to === 'issuer' ? [lockoutEffect('its assertions that are made for an endpoint are refused')] : [],
  tokenEndpointAuthSigningAlg: (_, to) =>
    to === null ? [] : [lockoutEffect(`refuses assertions that are not signed by ${String(to)}`)],
  profile: profileEffects('its'),
  requirePkce: requirementEffect('sign-ins without PKCE'),
  requirePushedAuthorizationRequests: requirementEffect('sign-ins that are not pushed first'),
  requireSignedRequestObject: requirementEffect('sign-ins that it did not sign'),
  requestObjectSigningAlg: (_, to) =>
    to === null ? [] : [lockoutEffect(`refuses requests that are not signed by ${to}`)],
  requestUris: removalEffect((uris) => lockoutEffect(`requests at ${uris} are not fetched any more`)),
  dpopBoundAccessTokens: requirementEffect('token requests that prove no key'),
  tlsClientCertificateBoundAccessTokens: requirementEffect('token requests without a certificate'),
  tlsClientAuthSubjectDn: otherCertificate,
  tlsClientAuthSanDns: otherCertificate,
  tlsClientAuthSanUri: otherCertificate,
  tlsClientAuthSanIp: otherCertificate,
  tlsClientAuthSanEmail: otherCertificate,
  tlsClientAuthAuthorities: always(lockoutEffect('refuses certificates of other authorities')),
  idTokenSignedResponseAlg: signedBy('its ID tokens are signed'),
  accessTokenSignedResponseAlg: signedBy('its access tokens are signed'),
  userinfoSignedResponseAlg: (_, to) => [
    lockoutEffect(to === null ? 'userinfo answers it as JSON' : `userinfo answers it as a JWT signed by ${String(to)}`),
  ],
  authorizationSignedResponseAlg: signedBy('its responses as a JWT are signed'),
  introspectionSignedResponseAlg: signedBy('introspection as a JWT is signed for it'),
  idTokenEncryptedResponseAlg: encryptedBy('its ID tokens'),
  userinfoEncryptedResponseAlg: encryptedBy('the answers of userinfo'),
  authorizationEncryptedResponseAlg: encryptedBy('its responses as a JWT'),
  introspectionEncryptedResponseAlg: encryptedBy('introspection as a JWT'),
  idTokenEncryptedResponseEnc: contentBy('its ID tokens'),
  userinfoEncryptedResponseEnc: contentBy('the answers of userinfo'),
  authorizationEncryptedResponseEnc: contentBy('its responses as a JWT'),
  introspectionEncryptedResponseEnc: contentBy('introspection as a JWT'),
  requestObjectEncryptionAlg: (_, to) => (to === null ? [lockoutEffect('refuses requests that it encrypted')] : []),
  requestObjectEncryptionEnc: (_, to) =>
    to === null ? [] : [lockoutEffect(`refuses requests whose content is not encrypted by ${String(to)}`)],
  reuseRefreshTokens: (from, to) =>
    to === true || from === to ? [] : [changeEffect('a refresh token that is used twice ends its grant')],
  authorizationDetailsTypes: removalEffect((types) =>
    lockoutEffect(`may not ask for details of type ${types} any more`),
  ),
  subjectType: otherNames,
  sectorIdentifierUri: otherNames,
  mayActClient: (from) => (from === null ? [] : [lockoutEffect(`${String(from)} exchanges its tokens no more`)]),
  idTokenUserinfoClaims: switchedOff(changeEffect('its ID tokens lose what userinfo says')),
  consentRequired: switchedOn(changeEffect('people are asked for their consent')),
  backchannelLogoutUri: (from) => (from === null ? [] : [changeEffect(`is not told at ${String(from)} who signs out`)]),
  backchannelNotificationEndpoint: (from) =>
    from === null ? [] : [changeEffect(`is not told at ${String(from)} what people decide on their devices`)],
  backchannelUserCodeParameter: requirementEffect('questions without the code of the person'),
  backchannelTokenDeliveryMode: (from, to) =>
    from === to
      ? []
      : [
          changeEffect(
            to === 'push'
              ? 'gets its tokens pushed, and may not poll'
              : 'is told of decisions, and asks for its tokens',
          ),
        ],
  frontchannelLogoutUri: (from) =>
    from === null ? [] : [changeEffect(`is not told at ${String(from)} who signs out`)],
  flowOverride: flow,
  accessTokenTtlSeconds: shorterLifetimeEffect('access tokens'),
  refreshTokenTtlSeconds: shorterLifetimeEffect('refresh tokens'),
};

export const ofSettings: FieldEffects = {
  issuer: always(lockoutEffect('tokens have another issuer: applications refuse them until they know it')),
  subjectStrategy: always(lockoutEffect('applications know people by other names')),
  subjectAttribute: always(lockoutEffect('applications know people by the values of another attribute')),
  requirePushedAuthorizationRequests: requirementEffect('sign-ins that are not pushed first'),
  profile: profileEffects('all'),
  registrationEnabled: switchedOff(changeEffect('users can’t register any more')),
  passwordMaxAgeDays: atMost(
    (days) => `who has a password for more than ${days} days sets a new one at the next sign-in`,
  ),
  passwordRecoveryEnabled: switchedOff(changeEffect('users who forgot their password get no link any more')),
  rememberMe: switchedOff(changeEffect('no sign-in is remembered any more')),
  lockoutEnabled: switchedOn(changeEffect('people are locked out after failed sign-ins')),
  maxLoginFailures: (from, to) =>
    becameLess(from, to) ? [changeEffect(`people are locked out after ${String(to)} failures`)] : [],
  riskPolicyEnabled: switchedOn(changeEffect('sign-ins are judged by their risk')),
  riskHighThreshold: lower('more sign-ins are of high risk'),
  riskMediumThreshold: lower('more sign-ins are of medium risk'),
  riskHighAction: stricter('high'),
  riskMediumAction: stricter('medium'),
  riskLowAction: stricter('low'),
  requireMfa: switchedOn(changeEffect('who has no second factor sets one up at the next sign-in')),
  termsVersion: (_, to) =>
    to === null ? [] : [changeEffect('users who accepted other terms are asked at the next sign-in')],
  browserFlow: flow,
  clientAssertionAudience: (_, to) =>
    to === 'issuer' ? [lockoutEffect('refuses assertions that are made for an endpoint')] : [],
  tlsClientAuthAuthorities: always(lockoutEffect('refuses certificates of other authorities')),
  clientIdMetadataDocuments: switchedOff(
    lockoutEffect('clients that are known by the address of their metadata get no tokens'),
  ),
  clientIdMetadataHosts: allowListEffect((hosts) => lockoutEffect(`takes the metadata of clients from ${hosts} alone`)),
  maxSmsPerHour: (_, to) => (to === 0 ? [lockoutEffect('no SMS is sent any more, nor a code by it')] : []),
  maxEmailsPerHour: (_, to) => (to === 0 ? [lockoutEffect('no e-mail is sent any more, nor a code by it')] : []),
  reuseRefreshTokens: switchedOff(changeEffect('a refresh token that is used twice ends its grant')),
  accessTokenTtlSeconds: shorterLifetimeEffect('access tokens'),
  refreshTokenTtlSeconds: shorterLifetimeEffect('refresh tokens'),
  workloadTokenTtlSeconds: shorterLifetimeEffect('tokens of workloads'),
  ssoSessionIdleTimeoutSeconds: shorterLifetimeEffect('unused sessions'),
  ssoSessionMaxLifetimeSeconds: shorterLifetimeEffect('sessions'),
  rememberMeLifetimeSeconds: shorterLifetimeEffect('remembered sessions'),
  maxConcurrentSessions: atMost((most) => `of more than ${most} sessions of a person the oldest end`),
};

const urls = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((one) => String(Object(one).url ?? Object(one).location)) : [];
const formerKeys = removalEffect(() => lockoutEffect('what its former key signed is refused'));

export const ofSamlClient: FieldEffects = {
  enabled: switchedOff(lockoutEffect('nobody signs in to it any more')),
  assertionConsumerServices: removalEffect(notBack, urls),
  singleLogoutServices: removalEffect((where) => changeEffect(`is not told at ${where} who signs out`), urls),
  nameIdFormat: otherNames,
  signingCertificates: formerKeys,
  encryptionCertificate: (_, to) => (to === null ? [] : [lockoutEffect('has to read assertions by another key')]),
  encryptAssertions: switchedOn(lockoutEffect('has to decrypt its assertions')),
  signAssertions: switchedOff(lockoutEffect('its assertions carry no signature of the realm’s')),
  signResponses: switchedOff(lockoutEffect('its answers carry no signature of the realm’s')),
  requireSignedRequests: requirementEffect('requests without its signature'),
  idpInitiated: switchedOff(lockoutEffect('no sign-in comes without a request of its own')),
  consentRequired: switchedOn(changeEffect('people are asked for their consent')),
  mappers: removalEffect((names) => changeEffect(`its assertions lose ${names}`), namesIn('name')),
  flowOverride: flow,
};

const configOf: FieldEffects = {
  issuer: always(lockoutEffect('users who signed in by it are no longer recognized')),
  entityId: always(lockoutEffect('users who signed in by it are no longer recognized')),
  signingCertificates: formerKeys,
  wantAssertionsEncrypted: requirementEffect('assertions that are not encrypted'),
};

export const ofIdentityProvider: FieldEffects = {
  enabled: switchedOff(lockoutEffect('nobody signs in by it any more')),
  hidden: switchedOn(changeEffect('the sign-in page offers it no more')),
  clientId: always(lockoutEffect('knows this realm by another name')),
  config: (from, to) =>
    Object.entries(configOf).flatMap(([field, said]) => {
      const [before, after] = [Object(from)[field], Object(to)[field]];
      return JSON.stringify(before) === JSON.stringify(after) ? [] : said(before ?? null, after ?? null);
    }),
  domains: removalEffect((names) => changeEffect(`people of ${names} are not sent to it by their address any more`)),
  mappers: removalEffect(
    (names) => changeEffect(`what it says as ${names} becomes nothing of a person any more`),
    namesIn('name'),
  ),
};

const searched = (value: unknown) => {
  const { base, filter, scope, uuidAttribute, attributes } = Object(value);
  return JSON.stringify([base, filter, scope, uuidAttribute, Object(attributes).username]);
};
export const ofDirectory: FieldEffects = {
  enabled: switchedOff(lockoutEffect('its people’s passwords count no more')),
  connection: (from, to) =>
    JSON.stringify(Object(from).urls) === JSON.stringify(Object(to).urls)
      ? []
      : [changeEffect('its people’s passwords are asked for at another address')],
  users: (from, to) =>
    searched(from) === searched(to)
      ? []
      : [lockoutEffect('looks for its people otherwise: whom it finds there no more is out')],
  groups: (_, to) => (to === null ? [changeEffect('its people are in no groups by it any more')] : []),
  away: (_, to) => (to === 'refuse' ? [changeEffect('none of its users signs in while it is away')] : []),
};

export const ofAgent: FieldEffects = {
  status: (from, to) => (from === 'active' && to !== 'active' ? [lockoutEffect('gets no tokens any more')] : []),
  scopes: removalEffect((scopes) => changeEffect(`its tokens lose ${scopes}`)),
  expiresAt: lower('ends sooner'),
};

export const ofApplication: FieldEffects = {
  enabled: switchedOff(lockoutEffect('nobody signs in to its clients any more')),
  // an empty list admits all users
  roles: allowListEffect((roles) => lockoutEffect(`is for those alone who hold ${roles}`)),
  flowOverride: flow,
};

const loses = removalEffect((roles) => lockoutEffect(`no longer gives ${roles}`));
const losesOfClients = removalEffect((roles) => lockoutEffect(`no longer gives ${roles}`), rolesIn);
export const ofGroup: FieldEffects = {
  roles: loses,
  clientRoles: losesOfClients,
  attributes: removalEffect(
    (names) => changeEffect(`its people no longer have ${names} by it`),
    (value) => Object.keys(Object(value)),
  ),
};
export const ofServiceAccount: FieldEffects = { roles: loses, clientRoles: losesOfClients, adminRoles: loses };

/** The roles that a composite role contains. */
export const containedRoles = (composite: unknown): string[] => [
  ...strings(Object(composite).roles),
  ...rolesIn(Object(composite).clientRoles),
];
export const ofRole: FieldEffects = {
  composite: removalEffect((roles) => lockoutEffect(`no longer gives ${roles}`), containedRoles),
};

/** null: the role is not limited; an empty list: it is limited to no object. */
const limited =
  (what: string): FieldEffect =>
  (from, to) => {
    if (!Array.isArray(to) || (Array.isArray(from) && namesRemoved(strings(from), strings(to)).length === 0)) return [];
    return [
      lockoutEffect(
        to.length === 0 ? `counts for no ${what}` : `counts for the ${what} ${namesForMessage(strings(to))} alone`,
      ),
    ];
  };
export const ofAdminRole: FieldEffects = {
  permissions: removalEffect((names) => lockoutEffect(`no longer allows ${names}`)),
  groups: limited('groups'),
  clients: limited('clients'),
};

export const ofClaim: FieldEffects = Object.fromEntries(
  ['claim', 'source', 'attribute', 'value', 'jsonType', 'multivalued', 'aggregate', 'in'].map((field) => [
    field,
    always(changeEffect('tokens and userinfo say it otherwise')),
  ]),
);
export const ofClientScope: FieldEffects = {
  claims: removalEffect((claims) => changeEffect(`tokens with it lose ${claims}`)),
  includeInTokenScope: switchedOff(changeEffect('tokens no longer name it')),
};

export const ofOrganization: FieldEffects = {
  enabled: switchedOff(changeEffect('no claim names it, and its providers lead nowhere')),
  identityProviders: removalEffect((aliases) => changeEffect(`its people are not sent to ${aliases} any more`)),
  domains: removalEffect(
    (names) => changeEffect(`who comes with an address of ${names} is not of it any more`),
    namesIn('name'),
  ),
};

export const ofAuthorizationService: FieldEffects = {
  resources: removalEffect(
    (names) => lockoutEffect(`protects ${names} no more: who asks for it is refused`),
    namesIn('name'),
  ),
  scopes: removalEffect(
    (names) => lockoutEffect(`knows ${names} no more: who asks for it is refused`),
    namesIn('name'),
  ),
  policies: always(changeEffect('decides otherwise who may do what')),
  permissions: always(changeEffect('decides otherwise who may do what')),
  settings: (from, to) =>
    Object(to).enforcement === 'enforcing' && Object(from).enforcement !== 'enforcing'
      ? [lockoutEffect('denies what no permission is about')]
      : [],
};

const otherWorkloads = always(lockoutEffect('is for other workloads: those that come now get no tokens'));
/** The effect of a workload identity that is deleted or disabled. */
export const withoutIdentity = (use: unknown, clientId: unknown): EffectWords =>
  lockoutEffect(
    use === 'authentication' || use === 'both'
      ? `the client ${String(clientId)} can’t authenticate by it any more`
      : 'its workloads get no tokens any more',
  );
export const ofWorkloadIdentity: FieldEffects = {
  enabled: switchedOff(lockoutEffect('its workloads get no tokens any more')),
  issuer: otherWorkloads,
  subject: otherWorkloads,
  audience: otherWorkloads,
  jwksUri: always(lockoutEffect('its issuer’s keys are looked for elsewhere')),
  clientId: (_, to) => [lockoutEffect(`its workloads are the client ${String(to)}`)],
  use: (from, to) => [
    ...(to === 'exchange' && from !== 'exchange'
      ? [lockoutEffect('its client can’t authenticate by it any more')]
      : []),
    ...(to === 'authentication' && from !== 'authentication'
      ? [lockoutEffect('tokens of its workloads are not exchanged any more')]
      : []),
  ],
  singleUse: (_, to) => (to === true ? [lockoutEffect('refuses a token that authenticated its client before')] : []),
  scopes: removalEffect(
    (scopes) => changeEffect(`tokens of its workloads lose ${scopes}`),
    (value) =>
      String(value ?? '')
        .split(' ')
        .filter(Boolean),
  ),
  adminAccess: switchedOff(lockoutEffect('its workloads may not call the admin API any more')),
};

const unprovisioned = changeEffect('its people are not provisioned there any more');
export const ofScimTarget: FieldEffects = {
  enabled: switchedOff(unprovisioned),
  users: switchedOff(unprovisioned),
  filter: (_, to) => (to === null ? [] : [changeEffect('whom its filter leaves out is taken away there')]),
};
