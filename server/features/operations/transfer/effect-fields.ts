// The effects of changed fields on users and clients of the realm: redirect URIs, grants and roles that go, shorter
// lifetimes, stricter demands. A field that is missing here has no effect on a signed-in user. Pure.
import { strings } from '../../../resource/items.ts';
import {
  atMost,
  changes,
  demand,
  type EffectWords,
  type FieldEffect,
  type FieldEffects,
  gone,
  less,
  namesIn,
  only,
  rolesIn,
  seconds,
  some,
  stops,
  switchedOff,
  switchedOn,
  without,
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
      ? [stops(`refuses sign-ins of ${band} risk`)]
      : [changes(`asks more of whoever signs in at ${band} risk`)];
  };
const lower =
  (said: string): FieldEffect =>
  (from, to) =>
    less(from, to) ? [changes(said)] : [];

const otherKeys = always(stops('has to prove itself by other keys'));
const otherNames = always(stops('it knows people by other names'));
const notBack = (uris: string) => stops(`nobody comes back to ${uris} any more`);
const signedBy =
  (what: string): FieldEffect =>
  (_, to) => [stops(`${what} by ${String(to ?? 'RS256')}`)];
const flow: FieldEffect = (_, to) => [
  changes(`people sign in by ${to === null ? 'the realm’s flow' : `the flow ${String(to)}`}`),
];

export const ofClient: FieldEffects = {
  enabled: switchedOff(stops('gets no tokens any more, and nobody signs in to it')),
  redirectUris: gone(notBack),
  webOrigins: gone((origins) => stops(`pages of ${origins} can’t call the realm for it any more`)),
  grantTypes: gone((types) => stops(`gets no tokens by ${types} any more`)),
  allowedResources: only((resources) => stops(`gets tokens for ${resources} alone`)),
  defaultClientScopes: gone((scopes) => changes(`its tokens lose ${scopes}`)),
  optionalClientScopes: gone((scopes) => changes(`its tokens can’t be asked for ${scopes} any more`)),
  postLogoutRedirectUris: gone((uris) => changes(`nobody comes back to ${uris} after signing out`)),
  secret: always(stops('has to prove itself by another secret')),
  jwks: otherKeys,
  jwksUri: always(stops('has to prove itself by the keys of another address')),
  tokenEndpointAuthMethod: (_, to) => [stops(`has to prove itself by ${String(to)}`)],
  requirePkce: demand('sign-ins without PKCE'),
  requirePushedAuthorizationRequests: demand('sign-ins that are not pushed first'),
  requireSignedRequestObject: demand('sign-ins that it did not sign'),
  requestObjectSigningAlg: (_, to) => (to === null ? [] : [stops(`refuses requests that are not signed by ${to}`)]),
  requestUris: gone((uris) => stops(`requests at ${uris} are not fetched any more`)),
  dpopBoundAccessTokens: demand('token requests that prove no key'),
  idTokenSignedResponseAlg: signedBy('its ID tokens are signed'),
  accessTokenSignedResponseAlg: signedBy('its access tokens are signed'),
  userinfoSignedResponseAlg: (_, to) => [
    stops(to === null ? 'userinfo answers it as JSON' : `userinfo answers it as a JWT signed by ${String(to)}`),
  ],
  subjectType: otherNames,
  sectorIdentifierUri: otherNames,
  mayActClient: (from) => (from === null ? [] : [stops(`${String(from)} exchanges its tokens no more`)]),
  idTokenUserinfoClaims: switchedOff(changes('its ID tokens lose what userinfo says')),
  consentRequired: switchedOn(changes('people are asked for their consent')),
  backchannelLogoutUri: (from) => (from === null ? [] : [changes(`is not told at ${String(from)} who signs out`)]),
  frontchannelLogoutUri: (from) => (from === null ? [] : [changes(`is not told at ${String(from)} who signs out`)]),
  flowOverride: flow,
  accessTokenTtlSeconds: seconds('access tokens'),
  refreshTokenTtlSeconds: seconds('refresh tokens'),
};

export const ofSettings: FieldEffects = {
  issuer: always(stops('tokens have another issuer: applications refuse them until they know it')),
  subjectStrategy: always(stops('applications know people by other names')),
  subjectAttribute: always(stops('applications know people by the values of another attribute')),
  requirePushedAuthorizationRequests: demand('sign-ins that are not pushed first'),
  registrationEnabled: switchedOff(changes('nobody makes an account of their own any more')),
  passwordMaxAgeDays: atMost(
    (days) => `who has a password for more than ${days} days sets a new one at the next sign-in`,
  ),
  passwordRecoveryEnabled: switchedOff(changes('whoever forgot their password gets no link any more')),
  rememberMe: switchedOff(changes('nobody is remembered any more')),
  lockoutEnabled: switchedOn(changes('people are locked out after failed sign-ins')),
  maxLoginFailures: (from, to) =>
    less(from, to) ? [changes(`people are locked out after ${String(to)} failures`)] : [],
  riskPolicyEnabled: switchedOn(changes('sign-ins are judged by their risk')),
  riskHighThreshold: lower('more sign-ins are of high risk'),
  riskMediumThreshold: lower('more sign-ins are of medium risk'),
  riskHighAction: stricter('high'),
  riskMediumAction: stricter('medium'),
  riskLowAction: stricter('low'),
  requireMfa: switchedOn(changes('who has no second factor sets one up at the next sign-in')),
  termsVersion: (_, to) => (to === null ? [] : [changes('whoever accepted other terms is asked at the next sign-in')]),
  browserFlow: flow,
  clientAssertionAudience: (_, to) =>
    to === 'issuer' ? [stops('refuses assertions that are made for an endpoint')] : [],
  clientIdMetadataDocuments: switchedOff(
    stops('clients that are known by the address of their metadata get no tokens'),
  ),
  clientIdMetadataHosts: only((hosts) => stops(`takes the metadata of clients from ${hosts} alone`)),
  maxSmsPerHour: (_, to) => (to === 0 ? [stops('no SMS is sent any more, nor a code by it')] : []),
  maxEmailsPerHour: (_, to) => (to === 0 ? [stops('no e-mail is sent any more, nor a code by it')] : []),
  reuseRefreshTokens: switchedOff(changes('a refresh token that is used twice ends its grant')),
  accessTokenTtlSeconds: seconds('access tokens'),
  refreshTokenTtlSeconds: seconds('refresh tokens'),
  workloadTokenTtlSeconds: seconds('tokens of workloads'),
  ssoSessionIdleTimeoutSeconds: seconds('sessions that nobody uses'),
  ssoSessionMaxLifetimeSeconds: seconds('sessions'),
  rememberMeLifetimeSeconds: seconds('remembered sessions'),
  maxConcurrentSessions: atMost((most) => `of more than ${most} sessions of a person the oldest end`),
};

const urls = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((one) => String(Object(one).url ?? Object(one).location)) : [];
const formerKeys = gone(() => stops('what its former key signed is refused'));

export const ofSamlClient: FieldEffects = {
  enabled: switchedOff(stops('nobody signs in to it any more')),
  assertionConsumerServices: gone(notBack, urls),
  singleLogoutServices: gone((where) => changes(`is not told at ${where} who signs out`), urls),
  nameIdFormat: otherNames,
  signingCertificates: formerKeys,
  encryptionCertificate: (_, to) => (to === null ? [] : [stops('has to read assertions by another key')]),
  encryptAssertions: switchedOn(stops('has to decrypt its assertions')),
  signAssertions: switchedOff(stops('its assertions carry no signature of the realm’s')),
  signResponses: switchedOff(stops('its answers carry no signature of the realm’s')),
  requireSignedRequests: demand('requests without its signature'),
  idpInitiated: switchedOff(stops('nobody comes without a request of its own')),
  consentRequired: switchedOn(changes('people are asked for their consent')),
  mappers: gone((names) => changes(`its assertions lose ${names}`), namesIn('name')),
  flowOverride: flow,
};

const configOf: FieldEffects = {
  issuer: always(stops('whoever signed in by it is somebody else')),
  entityId: always(stops('whoever signed in by it is somebody else')),
  signingCertificates: formerKeys,
  wantAssertionsEncrypted: demand('assertions that are not encrypted'),
};

export const ofIdentityProvider: FieldEffects = {
  enabled: switchedOff(stops('nobody signs in by it any more')),
  hidden: switchedOn(changes('the sign-in page offers it no more')),
  clientId: always(stops('knows this realm by another name')),
  config: (from, to) =>
    Object.entries(configOf).flatMap(([field, said]) => {
      const [before, after] = [Object(from)[field], Object(to)[field]];
      return JSON.stringify(before) === JSON.stringify(after) ? [] : said(before ?? null, after ?? null);
    }),
  domains: gone((names) => changes(`people of ${names} are not sent to it by their address any more`)),
  mappers: gone((names) => changes(`what it says as ${names} becomes nothing of a person any more`), namesIn('name')),
};

const searched = (value: unknown) => {
  const { base, filter, scope, uuidAttribute, attributes } = Object(value);
  return JSON.stringify([base, filter, scope, uuidAttribute, Object(attributes).username]);
};
export const ofDirectory: FieldEffects = {
  enabled: switchedOff(stops('its people’s passwords count no more')),
  connection: (from, to) =>
    JSON.stringify(Object(from).urls) === JSON.stringify(Object(to).urls)
      ? []
      : [changes('its people’s passwords are asked for at another address')],
  users: (from, to) =>
    searched(from) === searched(to)
      ? []
      : [stops('looks for its people otherwise: whom it finds there no more is out')],
  groups: (_, to) => (to === null ? [changes('its people are in no groups by it any more')] : []),
  away: (_, to) => (to === 'refuse' ? [changes('nobody of its people signs in while it is away')] : []),
};

export const ofAgent: FieldEffects = {
  status: (from, to) => (from === 'active' && to !== 'active' ? [stops('gets no tokens any more')] : []),
  scopes: gone((scopes) => changes(`its tokens lose ${scopes}`)),
  expiresAt: lower('ends sooner'),
};

export const ofApplication: FieldEffects = {
  enabled: switchedOff(stops('nobody signs in to its clients any more')),
  // without any it is everybody's
  roles: only((roles) => stops(`is for those alone who hold ${roles}`)),
  flowOverride: flow,
};

const loses = gone((roles) => stops(`no longer gives ${roles}`));
const losesOfClients = gone((roles) => stops(`no longer gives ${roles}`), rolesIn);
export const ofGroup: FieldEffects = {
  roles: loses,
  clientRoles: losesOfClients,
  attributes: gone(
    (names) => changes(`its people no longer have ${names} by it`),
    (value) => Object.keys(Object(value)),
  ),
};
export const ofServiceAccount: FieldEffects = { roles: loses, clientRoles: losesOfClients, adminRoles: loses };

/** The roles that a composite role contains. */
export const contained = (composite: unknown): string[] => [
  ...strings(Object(composite).roles),
  ...rolesIn(Object(composite).clientRoles),
];
export const ofRole: FieldEffects = { composite: gone((roles) => stops(`no longer gives ${roles}`), contained) };

/** null: not limited; an empty list: to none. */
const limited =
  (what: string): FieldEffect =>
  (from, to) => {
    if (!Array.isArray(to) || (Array.isArray(from) && without(strings(from), strings(to)).length === 0)) return [];
    return [stops(to.length === 0 ? `counts for no ${what}` : `counts for the ${what} ${some(strings(to))} alone`)];
  };
export const ofAdminRole: FieldEffects = {
  permissions: gone((names) => stops(`no longer allows ${names}`)),
  groups: limited('groups'),
  clients: limited('clients'),
};

export const ofClaim: FieldEffects = Object.fromEntries(
  ['claim', 'source', 'attribute', 'value', 'jsonType', 'multivalued', 'aggregate', 'in'].map((field) => [
    field,
    always(changes('tokens and userinfo say it otherwise')),
  ]),
);
export const ofClientScope: FieldEffects = {
  claims: gone((claims) => changes(`tokens with it lose ${claims}`)),
  includeInTokenScope: switchedOff(changes('tokens no longer name it')),
};

export const ofOrganization: FieldEffects = {
  enabled: switchedOff(changes('no claim names it, and its providers lead nowhere')),
  identityProviders: gone((aliases) => changes(`its people are not sent to ${aliases} any more`)),
  domains: gone((names) => changes(`who comes with an address of ${names} is not of it any more`), namesIn('name')),
};

export const ofAuthorizationService: FieldEffects = {
  resources: gone((names) => stops(`protects ${names} no more: who asks for it is refused`), namesIn('name')),
  scopes: gone((names) => stops(`knows ${names} no more: who asks for it is refused`), namesIn('name')),
  policies: always(changes('decides otherwise who may do what')),
  permissions: always(changes('decides otherwise who may do what')),
  settings: (from, to) =>
    Object(to).enforcement === 'enforcing' && Object(from).enforcement !== 'enforcing'
      ? [stops('denies what no permission is about')]
      : [],
};

const otherWorkloads = always(stops('is for other workloads: those that come now get no tokens'));
export const ofWorkloadIdentity: FieldEffects = {
  enabled: switchedOff(stops('its workloads get no tokens any more')),
  issuer: otherWorkloads,
  subject: otherWorkloads,
  audience: otherWorkloads,
  jwksUri: always(stops('its issuer’s keys are looked for elsewhere')),
  clientId: (_, to) => [stops(`its workloads are the client ${String(to)}`)],
  scopes: gone(
    (scopes) => changes(`tokens of its workloads lose ${scopes}`),
    (value) =>
      String(value ?? '')
        .split(' ')
        .filter(Boolean),
  ),
  adminAccess: switchedOff(stops('its workloads may not call the admin API any more')),
};

const unprovisioned = changes('its people are not provisioned there any more');
export const ofScimTarget: FieldEffects = {
  enabled: switchedOff(unprovisioned),
  users: switchedOff(unprovisioned),
  filter: (_, to) => (to === null ? [] : [changes('whom its filter leaves out is taken away there')]),
};
