// Finds the places of notes in the file: by kind and name, and below that by field names. Pure. docs/keycloak.md.
import { isObject } from '../../../../contract/json.ts';
import { escapedGroupName } from '../../../../domain/group-names.ts';
import { type Indices, placeOf } from './lenient.ts';

const STORAGE = 'org.keycloak.storage.UserStorageProvider';
const PROFILE = 'org.keycloak.userprofile.UserProfileProvider';

/** Names of this server's fields → Keycloak's names; a longer name takes precedence over a shorter one. */
const theirs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  settings: {
    accessTokenTtlSeconds: 'accessTokenLifespan',
    ssoSessionIdleTimeoutSeconds: 'ssoSessionIdleTimeout',
    ssoSessionMaxLifetimeSeconds: 'ssoSessionMaxLifespan',
    refreshTokenTtlSeconds: 'offlineSessionIdleTimeout',
    rememberMeLifetimeSeconds: 'ssoSessionMaxLifespanRememberMe',
    registrationEnabled: 'registrationAllowed',
    registrationVerifyEmail: 'verifyEmail',
    passwordRecoveryEnabled: 'resetPasswordAllowed',
    lockoutEnabled: 'bruteForceProtected',
    maxLoginFailures: 'failureFactor',
    lockoutDurationSeconds: 'maxFailureWaitSeconds',
    reuseRefreshTokens: 'revokeRefreshToken',
  },
  client: {
    postLogoutRedirectUris: 'attributes.post.logout.redirect.uris',
    accessTokenTtlSeconds: 'attributes.access.token.lifespan',
    backchannelLogoutUri: 'attributes.backchannel.logout.url',
    frontchannelLogoutUri: 'attributes.frontchannel.logout.url',
    requestObjectSigningAlg: 'attributes.request.object.signature.alg',
    accessTokenSignedResponseAlg: 'attributes.access.token.signed.response.alg',
    idTokenSignedResponseAlg: 'attributes.id.token.signed.response.alg',
    userinfoSignedResponseAlg: 'attributes.user.info.response.signature.alg',
    tokenEndpointAuthSigningAlg: 'attributes.token.endpoint.auth.signing.alg',
    authorizationSignedResponseAlg: 'attributes.authorization.signed.response.alg',
    idTokenEncryptedResponseAlg: 'attributes.id.token.encrypted.response.alg',
    idTokenEncryptedResponseEnc: 'attributes.id.token.encrypted.response.enc',
    userinfoEncryptedResponseAlg: 'attributes.user.info.encrypted.response.alg',
    userinfoEncryptedResponseEnc: 'attributes.user.info.encrypted.response.enc',
    authorizationEncryptedResponseAlg: 'attributes.authorization.encrypted.response.alg',
    authorizationEncryptedResponseEnc: 'attributes.authorization.encrypted.response.enc',
    requestObjectEncryptionAlg: 'attributes.request.object.encryption.alg',
    requestObjectEncryptionEnc: 'attributes.request.object.encryption.enc',
    jwksUri: 'attributes.jwks.url',
    jwks: 'attributes.jwks.string',
    flowOverride: 'authenticationFlowBindingOverrides',
    tokenEndpointAuthMethod: 'clientAuthenticatorType',
  },
  samlClient: {
    entityId: 'clientId',
    assertionConsumerServices: 'redirectUris',
    signingCertificates: 'attributes.saml.signing.certificate',
    encryptionCertificate: 'attributes.saml.encryption.certificate',
    nameIdFormat: 'attributes.saml_name_id_format',
    flowOverride: 'authenticationFlowBindingOverrides',
    mappers: 'protocolMappers',
  },
  protocolMapper: { mappers: 'protocolMappers' },
  role: {
    'composite.roles': 'composites.realm',
    'composite.clientRoles': 'composites.client',
    composite: 'composites',
  },
  clientRole: {
    'composite.roles': 'composites.realm',
    'composite.clientRoles': 'composites.client',
    composite: 'composites',
  },
  group: { roles: 'realmRoles', path: 'name' },
  flow: { executions: 'authenticationExecutions' },
  identityProvider: {
    secret: 'config.clientSecret',
    clientId: 'config.clientId',
    scopes: 'config.defaultScope',
    'config.authorizationEndpoint': 'config.authorizationUrl',
    'config.tokenEndpoint': 'config.tokenUrl',
    'config.userinfoEndpoint': 'config.userInfoUrl',
    'config.jwksUri': 'config.jwksUrl',
    'config.endSessionEndpoint': 'config.logoutUrl',
    'config.entityId': 'config.idpEntityId',
    'config.metadataUrl': 'config.metadataDescriptorUrl',
    'config.singleSignOnUrl': 'config.singleSignOnServiceUrl',
    'config.singleLogoutUrl': 'config.singleLogoutServiceUrl',
    'config.signingCertificates': 'config.signingCertificate',
  },
  directory: {
    alias: 'name',
    secret: 'config.bindCredential',
    'connection.urls': 'config.connectionUrl',
    'connection.bindDn': 'config.bindDn',
    'users.base': 'config.usersDn',
    'users.filter': 'config.customUserSearchFilter',
    'users.uuidAttribute': 'config.uuidLDAPAttribute',
    schedule: 'config.fullSyncPeriod',
    pageSize: 'config.batchSizeForSync',
  },
  messagingProvider: {
    secret: 'password',
    fromAddress: 'from',
    fromName: 'fromDisplayName',
    'config.host': 'host',
    'config.port': 'port',
    'config.username': 'user',
    'config.replyTo': 'replyTo',
  },
  user: {
    roles: 'realmRoles',
    identities: 'federatedIdentities',
    createdAt: 'createdTimestamp',
  },
};

/** Keycloak's name for a field of this server. If the field has another form there, the path ends at the field. */
export function theirField(kind: string, field: string): string {
  const names = theirs[kind] ?? {};
  const begins = (name: string) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`);
  const [ours] = Object.keys(names)
    .filter(begins)
    .sort((a, b) => b.length - a.length);
  if (ours === undefined) return field;
  const rest = field.slice(ours.length);
  return `${names[ours]}${/^\[\d+\]$/.test(rest) ? '' : rest}`;
}

/**
 * The place of a field below an object, as far as the file contains it; list elements are found by index, name or
 * value.
 */
export function placeBelow(root: unknown, field: string, indices: Indices): string {
  let at = root;
  let place = '';
  for (let rest = field; rest !== ''; ) {
    if (Array.isArray(at)) {
      const [whole, digits] = /^\[(\d+)\]/.exec(rest) ?? [];
      const begins = (name: unknown) => typeof name === 'string' && (rest === name || rest.startsWith(`${name}.`));
      const index =
        digits === undefined
          ? at.findIndex((one) => begins(nameOf(one)))
          : at.findIndex((_, i) => i === Number(digits));
      if (index < 0) break;
      const name = whole ?? String(nameOf(at[index]));
      place += `[${placeOf(indices, at, index)}]`;
      at = at[index];
      rest = rest.slice(name.length).replace(/^\./, '');
      continue;
    }
    if (!isObject(at)) break;
    const begins = (name: string) => rest === name || rest.startsWith(`${name}.`) || rest.startsWith(`${name}[`);
    const [name] = Object.keys(at)
      .filter(begins)
      .sort((a, b) => b.length - a.length);
    if (name === undefined) break;
    place += place === '' ? name : `.${name}`;
    at = Reflect.get(at, name);
    rest = rest.slice(name.length).replace(/^\./, '');
  }
  return place;
}

const NAMES = ['name', 'alias', 'identityProvider', 'clientId'] as const;
function nameOf(one: unknown): string | undefined {
  const all: unknown[] = typeof one === 'string' ? [one] : NAMES.map((name) => Object(one)[name]);
  return all.find((name) => typeof name === 'string');
}

export interface Place {
  path: string;
  value: unknown;
}
/** @param nth the index among the objects with the same name in the file */
export type Places = (kind: string, key: string, nth?: number) => Place | undefined;

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** @param realm the file's realm without unreadable values */
export function placesIn(realm: unknown, indices: Indices): Places {
  const places = new Map<string, Place[]>();
  const add = (kinds: readonly string[], key: unknown, path: string, value: unknown) => {
    if (typeof key !== 'string') return;
    for (const kind of kinds) {
      const name = `${kind} ${key}`;
      const found = places.get(name);
      if (found) found.push({ path, value });
      else places.set(name, [{ path, value }]);
    }
  };
  const each = (list: unknown, path: string, visit: (value: Record<string, unknown>, path: string) => void) => {
    for (const [i, value] of listed(list).entries())
      visit(Object(value), `${path}[${placeOf(indices, Object(list), i)}]`);
  };
  const of = Object(realm);
  const clientKinds = ['client', 'samlClient', 'protocolMapper', 'serviceAccountRoles'];
  each(of.clients, 'clients', (client, path) => {
    add(clientKinds, client.clientId, path, client);
    add(['authorizationService'], client.clientId, `${path}.authorizationSettings`, client.authorizationSettings);
  });
  each(of.clientScopes, 'clientScopes', (scope, path) => {
    add(['clientScope'], scope.name, path, scope);
    each(scope.protocolMappers, `${path}.protocolMappers`, (mapper, at) => {
      add(['claim'], Object(mapper.config)['claim.name'], at, mapper);
      add(['claim'], mapper.name, at, mapper);
      add(['claim'], `${scope.name}:${Object(mapper.config)['claim.name']}`, at, mapper);
    });
  });
  const roles = Object(of.roles);
  each(roles.realm, 'roles.realm', (role, path) => add(['role'], role.name, path, role));
  for (const [clientId, list] of Object.entries(Object(roles.client))) {
    const path = `roles.client.${clientId}`;
    add(['clientRole'], clientId, path, list);
    each(list, path, (role, at) => add(['clientRole'], `${clientId}/${role.name}`, at, role));
  }
  const groups = (list: unknown, path: string, parent: string) =>
    each(list, path, (group, at) => {
      const own = `${parent}/${escapedGroupName(String(group.name))}`;
      add(['group'], own, at, group);
      groups(group.subGroups, `${at}.subGroups`, own);
    });
  groups(of.groups, 'groups', '');
  each(of.authenticationFlows, 'authenticationFlows', (flow, path) => add(['flow'], flow.alias, path, flow));
  each(of.identityProviders, 'identityProviders', (one, path) => add(['identityProvider'], one.alias, path, one));
  each(of.organizations, 'organizations', (one, path) => add(['organization'], one.alias || one.name, path, one));
  const components = Object(of.components);
  each(components[STORAGE], `components.${STORAGE}`, (one, path) => add(['directory'], one.name ?? '', path, one));
  const smtp: Place = { path: 'smtpServer', value: of.smtpServer };
  const profile: Place = { path: `components.${PROFILE}[0].config.kc.user.profile.config`, value: undefined };
  return (kind, key, nth = 0) => {
    if (kind === 'realm' || kind === 'settings') return { path: '', value: realm };
    if (kind === 'messagingProvider') return smtp;
    if (kind === 'userProfile') return profile;
    const found = places.get(`${kind} ${key}`);
    return found?.[nth] ?? found?.[0];
  };
}
