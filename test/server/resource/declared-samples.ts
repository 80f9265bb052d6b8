// A value for each field of the kinds that are declared as a whole: what their contract gives as examples. What refers to objects
// that no fresh realm has is given here; same-by-both-ways.test.ts makes those objects.
import { separateWords } from '../../../server/contract/apart.ts';
import { declaredKinds } from '../../../server/contract/declared-kinds.ts';
import { type KindOf, writesOf } from '../../../server/contract/kind.ts';
import { SAMPLE_AUTHORITY } from '../../support/authority.ts';
import { SAML_CERTIFICATE } from '../../support/saml.ts';
import { API, type Sample } from './sample.ts';

/** Names of the roles that the row `t` holds in `table`. */
const tiesOf = (table: string, owner: string, role: string) => `select array(
  select concat_ws('/', c.client_id, r.name) from ${table} h join role r on r.realm_id = h.realm_id and r.id = h.${role}
  left join client c on c.realm_id = r.realm_id and c.id = r.client
  where h.realm_id = t.realm_id and h.${owner} = t.id order by 1)`;

/** A natural key of several fields, which the tests give as one text. */
function byParts(parts: readonly string[]) {
  const split = (natural: unknown) =>
    Object.fromEntries(
      String(natural)
        .split('/')
        .map((value, i) => [parts[i] ?? '', value]),
    );
  const body = ({ natural, ...fields }: Record<string, unknown>) => ({ ...split(natural), ...fields });
  return {
    key: 'natural',
    column: `concat_ws('/', ${parts.map((part) => separateWords(part, '_')).join(', ')})`,
    body,
    at: (natural: string) => ({ realm: API, ...split(natural) }),
    sectionOf: (objects: readonly object[]) => objects.map((object) => body({ ...object })),
  };
}

type Own = Partial<Omit<Sample, 'section' | 'table' | 'key' | 'routes'>>;
const ofRoles: Own = {
  fields: {
    composite: { roles: ['two', 'one'], clientRoles: { app: ['reader'], jobs: [] } },
    attributes: { b: ['2', '1'], a: [] },
  },
  links: tiesOf('role_composite', 'role_id', 'child_id'),
};
const remote = { jwksUri: 'https://a.example/keys' };
const own: Readonly<Record<string, Own>> = {
  adminRoles: {
    fields: {
      permissions: ['users:write', 'clients:read', 'users:write'],
      groups: ['/two', '/one', '/two'],
      clients: ['jobs', 'app'],
    },
    links: `select array(select g.path from admin_role_group l join user_group g on g.realm_id = l.realm_id and g.id = l.group_id
      where l.realm_id = t.realm_id and l.role_id = t.id union all
      select c.client_id from admin_role_client l join client c on c.realm_id = l.realm_id and c.id = l.client
      where l.realm_id = t.realm_id and l.role_id = t.id order by 1)`,
  },
  // its natural key is no free name
  messageTexts: { keyOf: (name) => `de-${name.split('-')[1]?.slice(0, 8)}` },
  // each realm has an ana of its own
  agents: { fields: { owner: 'ana', clientId: 'jobs', scopes: ['roles', 'email', 'roles'] }, random: ['user_id'] },
  applications: {
    fields: { clients: ['jobs', 'app'] },
    links: `select array(select c.client_id from application_client ac join client c on c.realm_id = ac.realm_id and c.id = ac.client
      where ac.realm_id = t.realm_id and ac.application_id = t.id order by 1)`,
  },
  clients: {
    fields: {
      name: 'The shop',
      description: 'Sells',
      enabled: false,
      tokenEndpointAuthMethod: 'none',
      redirectUris: ['https://b.example/cb', 'https://a.example/cb', 'https://b.example/cb'],
      postLogoutRedirectUris: ['https://a.example/'],
      webOrigins: ['+'],
      grantTypes: ['client_credentials'],
      defaultClientScopes: ['openid', 'groups'],
      optionalClientScopes: ['phone'],
      consentRequired: true,
      requirePkce: false,
      requirePushedAuthorizationRequests: true,
      requireSignedRequestObject: true,
      requestObjectSigningAlg: 'ES256',
      idTokenSignedResponseAlg: 'ES256',
      accessTokenSignedResponseAlg: 'EdDSA',
      userinfoSignedResponseAlg: 'PS256',
      flowOverride: 'browser',
      accessTokenTtlSeconds: 60,
      refreshTokenTtlSeconds: 600,
      jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x' }] },
      jwksUri: 'https://a.example/keys',
      allowedResources: ['https://api.example/b', 'https://api.example/a'],
      subjectType: 'pairwise',
      sectorIdentifierUri: 'https://sector.example/list',
      logoUri: 'https://sector.example/logo.png',
      clientUri: 'https://sector.example/about',
      policyUri: 'https://sector.example/policy',
      tosUri: 'https://sector.example/terms',
      requestUris: ['https://sector.example/b.jwt', 'https://sector.example/a.jwt'],
      applicationType: 'web',
      idTokenUserinfoClaims: true,
      tlsClientAuthSubjectDn: 'CN=jobs,O=Example',
      tlsClientAuthSanDns: 'jobs.example.com',
      tlsClientAuthSanUri: 'spiffe://example.org/jobs',
      tlsClientAuthSanIp: '192.0.2.1',
      tlsClientAuthSanEmail: 'jobs@example.com',
      tlsClientAuthAuthorities: SAMPLE_AUTHORITY,
      tlsClientCertificateBoundAccessTokens: true,
      dpopBoundAccessTokens: true,
      backchannelLogoutUri: 'https://back.example/logout',
      tokenExchangeImpersonation: true,
      mayActClient: 'other',
      clientAssertionAudience: 'endpoints',
      tokenEndpointAuthSigningAlg: 'PS512',
      profile: 'fapi2-message-signing',
      reuseRefreshTokens: false,
      authorizationSignedResponseAlg: 'PS256',
      introspectionSignedResponseAlg: 'EdDSA',
      idTokenEncryptedResponseAlg: 'ECDH-ES',
      idTokenEncryptedResponseEnc: 'A256GCM',
      userinfoEncryptedResponseAlg: 'ECDH-ES',
      userinfoEncryptedResponseEnc: 'A256GCM',
      authorizationEncryptedResponseAlg: 'ECDH-ES',
      authorizationEncryptedResponseEnc: 'A256GCM',
      introspectionEncryptedResponseAlg: 'ECDH-ES',
      introspectionEncryptedResponseEnc: 'A256GCM',
      requestObjectEncryptionAlg: 'RSA-OAEP-256',
      requestObjectEncryptionEnc: 'A128GCM',
      secret: 'q8Zr1vXkT0bN5mJ2cWyH7gLpD4sFa9Ue',
    },
    // they go only together
    whole: {
      tokenEndpointAuthMethod: 'client_secret_post',
      jwksUri: null,
      jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] },
      tlsClientAuthSanDns: null,
      tlsClientAuthSanUri: null,
      tlsClientAuthSanIp: null,
      tlsClientAuthSanEmail: null,
      profile: null,
    },
    beside: {
      profile: { ...remote, tokenEndpointAuthMethod: 'private_key_jwt' },
      idTokenEncryptedResponseAlg: remote,
      idTokenEncryptedResponseEnc: { ...remote, idTokenEncryptedResponseAlg: 'ECDH-ES' },
      userinfoEncryptedResponseAlg: remote,
      userinfoEncryptedResponseEnc: { ...remote, userinfoEncryptedResponseAlg: 'ECDH-ES' },
      authorizationEncryptedResponseAlg: remote,
      authorizationEncryptedResponseEnc: { ...remote, authorizationEncryptedResponseAlg: 'ECDH-ES' },
      introspectionEncryptedResponseAlg: remote,
      introspectionEncryptedResponseEnc: { ...remote, introspectionEncryptedResponseAlg: 'ECDH-ES' },
      requestObjectEncryptionEnc: { requestObjectEncryptionAlg: 'RSA-OAEP-256' },
    },
    links: `select array(
      select jsonb_build_array(s.name, l.optional) from client_scope_link l
      join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
      where l.realm_id = t.realm_id and l.client = t.id order by 1)`,
  },
  clientRoles: ofRoles,
  clientScopes: {
    links: `select array(
      select k.name from client_scope_claim l join claim k on k.realm_id = l.realm_id and k.id = l.claim_id
      where l.realm_id = t.realm_id and l.scope_id = t.id order by 1)`,
  },
  crossDomainPolicies: {
    needed: { clientId: 'app' },
    fields: { clientId: 'jobs', relyingParty: 'app', roles: ['two', 'one', 'two'], groups: ['/two', '/one', '/two'] },
  },
  crossDomainTrusts: { needed: { clientId: 'app' }, fields: { clientId: 'jobs' } },
  groups: {
    fields: {
      roles: ['two', 'one', 'two'],
      clientRoles: { app: ['reader'] },
      attributes: { b: ['2', '1'], a: [] },
      default: true,
    },
    links: tiesOf('group_role', 'group_id', 'role_id'),
    keyOf: (name) => `/${name}`,
    body: ({ path, ...fields }) => ({ ...fields, name: String(path).slice(1) }),
  },
  identityProviders: {
    needed: { config: { issuer: 'https://id.example.com' } },
    fields: { scopes: ['openid', 'email', 'openid'] },
  },
  messageTemplates: {
    keyOf: (name) => `otp-email/EMAIL/de-${name.split('-')[1]?.slice(0, 8)}`,
    needed: { body: 'Der Code ist {{code}}' },
  },
  messagingProviders: { keyOf: () => 'EMAIL/smtp', needed: { config: { host: 'mail.example.com' } } },
  organizations: {
    links: `select array(select jsonb_build_array(d.name, d.verified) from organization_domain d
      where d.realm_id = t.realm_id and d.organization_id = t.id order by 1)`,
  },
  roles: ofRoles,
  samlClients: {
    fields: {
      signingCertificates: [SAML_CERTIFICATE, SAML_CERTIFICATE.trim()],
      encryptionCertificate: SAML_CERTIFICATE.trim(),
      metadataCertificate: SAML_CERTIFICATE,
    },
    whole: { requireSignedRequests: true, encryptAssertions: true },
  },
  // its natural key is a client's
  signalReceivers: { keyOf: () => 'guarded' },
  transactionTokenPolicies: {
    needed: { clientId: 'app' },
    fields: { clientId: 'jobs', scopes: { b: ['y', 'x', 'y'], a: ['x'] } },
  },
  webhooks: { needed: { enabled: true } },
  workloadIdentity: { needed: { clientId: 'app' }, fields: { clientId: 'jobs' } },
};

export const declaredSamples: readonly Sample[] = Object.values<KindOf>(declaredKinds).map((kind) => {
  const { section, table, ofClient, routes, example, updateExample, needed, namedBy, entry } = kind;
  const { key, secrets, groups } = entry;
  const fields = Object.entries(updateExample).filter(([name]) => name !== key && !namedBy.includes(name));
  const there = Object.fromEntries(needed.map((field) => [field, example[field]]));
  const { [section]: more = {} } = own;
  return {
    random: secrets.map((name) => separateWords(name, '_')),
    ...(ofClient && {
      ofClient,
      random: ['client'],
      keyOf: (name: string) => `app/${name}`,
      sectionOf: (all: readonly object[]) => (groups ? [{ [groups.by]: 'app', [groups.list]: all }] : { app: all }),
    }),
    ...(typeof key === 'string' ? { key, column: separateWords(key, '_') } : byParts(key)),
    ...more,
    section,
    table,
    routes: { list: routes.list, remove: routes.remove, ...writesOf(kind) },
    needed: { ...there, ...more.needed },
    fields: { ...Object.fromEntries(fields), ...more.fields },
  };
});
