import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { elementsOf, fieldsOfKey } from '../../../server/contract/section.ts';
import { presentSections } from '../../../server/contract/sections.ts';
import { settingNames } from '../../../server/contract/settings.ts';
import type { Plan, RealmDocument } from '../../../server/contract/transfer.ts';
import { SAMPLE_AUTHORITY } from '../../support/authority.ts';
import { crossDomainChanges } from '../../support/full-cross-domain.ts';
import { exampleSections, fullRealm } from '../../support/full-realm.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';
import { declaredSamples } from '../resource/declared-samples.ts';

// Every field of every section, each alone: changed by a document it is one change with its name, and so is the way back;
// nothing that the document doesn't declare moves.
let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  await admin.apply('fields', base, { manager: 'm' });
});
afterAll(() => server?.stop());

const EACH_SECRET = 'the-secret-of-each-0123456789abcdef';
const base: RealmDocument = {
  ...fullRealm(),
  clients: [
    ...(fullRealm().clients ?? []),
    { clientId: 'each', secret: EACH_SECRET, redirectUris: ['https://a.example/'] },
  ],
  serviceAccountRoles: [...(fullRealm().serviceAccountRoles ?? []), { clientId: 'each', roles: ['on'] }],
  users: [{ username: 'each', createdAt: 1_700_000_000_000 }, { username: 'ana' }],
};

/** Whether the realm's objects of the kind are those that its contract gives as examples: other tests need no more of it. */
const hasExamplesAlone = ({ section }: { section: string }) => Object.hasOwn(exampleSections, section);
type Case = [section: string, key: string, fields: Record<string, unknown>];
const cases: Case[] = [
  [
    'realm',
    'fields',
    {
      displayName: 'Other',
      issuer: null,
      accessTokenTtlSeconds: 60,
      refreshTokenTtlSeconds: 61,
      reuseRefreshTokens: false,
      requireMfa: false,
      ssoSessionIdleTimeoutSeconds: 62,
      ssoSessionMaxLifetimeSeconds: 63,
      rememberMe: false,
      rememberMeLifetimeSeconds: 64,
      lockoutEnabled: false,
      maxLoginFailures: 9,
      lockoutDurationSeconds: 65,
      passwordMinLength: 20,
      breachedPasswordCheck: false,
      captchaProvider: 'none',
      proofOfWorkBits: 17,
      maxConcurrentSessions: 0,
      riskPolicyEnabled: false,
      riskMediumThreshold: 31,
      riskHighThreshold: 61,
      riskLowAction: 'deny',
      riskMediumAction: 'allow',
      riskHighAction: 'deny',
      newDeviceNoticeEnabled: true,
      deviceRemembering: 'always',
      riskWeights: { 'new-device': 36 },
      logoUrl: null,
      termsUrl: null,
      termsVersion: null,
      primaryColor: '#000000',
      backgroundColor: null,
      welcomeText: '',
      customCss: null,
      registrationEnabled: true,
      registrationEmailAsUsername: true,
      registrationPasskeyEnabled: false,
      passkeyAttestation: 'enterprise',
      passkeyAllowedAuthenticators: ['ee882879-721c-4913-9775-3dfcce97072b'],
      passkeyDeniedAuthenticators: [],
      passkeyMinimumCertification: null,
      passkeyRefusedStatuses: ['USER_VERIFICATION_BYPASS'],
      passkeyRefusedAtSignIn: false,
      passkeyBinding: 'synced',
      passkeyHints: ['hybrid', 'client-device'],
      passkeyRpId: null,
      passkeyRelatedOrigins: ['https://shop.example.com'],
      registrationVerifyEmail: true,
      browserFlow: 'browser',
      defaultLocale: 'en',
      supportedLocales: ['no', 'en', 'de-CH'],
      maxMessagesPerRecipientPerHour: 6,
      maxMessagesPerAddressPerHour: 51,
      maxSmsPerHour: 0,
      maxEmailsPerHour: 0,
      clientAssertionAudience: 'issuer',
      requirePushedAuthorizationRequests: false,
      tlsClientAuthAuthorities: null,
      profile: null,
      workloadTokenTtlSeconds: 121,
      clientRegistration: 'closed',
      clientRegistrationGrantTypes: ['refresh_token'],
      clientRegistrationScopes: ['email'],
      clientRegistrationRedirectHosts: ['other.example.com'],
      clientRegistrationResources: ['https://other.example.com'],
      clientRegistrationConsent: true,
      clientIdMetadataDocuments: false,
      clientIdMetadataHosts: ['other.example.com'],
      mostRegisteredClients: 8,
      initialAccessTokenTtlSeconds: 3602,
      passwordRequireLowercase: false,
      passwordRequireUppercase: false,
      passwordRequireDigit: false,
      passwordRequireSymbol: false,
      mostAppliedPlans: 7,
      declaredOnly: ['messageTexts'],
      passwordHistory: 0,
      passwordMaxAgeDays: 30,
      passwordBlocklist: ['other'],
      guessablePasswordCheck: true,
      passwordRecoveryEnabled: true,
      subjectStrategy: 'pairwise',
      subjectAttribute: 'other',
    },
  ],
  ['userProfile', 'fields', { unmanagedAttributes: 'disabled', attributes: [{ name: 'other', edit: ['user'] }] }],
  [
    'claims',
    'tier: on',
    {
      claim: null,
      source: 'groups',
      attribute: 'a',
      value: '011',
      multivalued: true,
      aggregate: true,
      jsonType: 'number',
      in: [],
    },
  ],
  ['clientScopes', 'orders:read', { description: null, includeInTokenScope: true, claims: ['email'] }],
  [
    'roles',
    'reader',
    { description: '', default: true, attributes: {}, composite: { clientRoles: { billing: ['clerk'] } } },
  ],
  ['flows', 'password-only', { executions: [] }],
  [
    'clients',
    'each',
    {
      name: 'Each',
      description: '',
      enabled: false,
      tokenEndpointAuthMethod: 'client_secret_post',
      redirectUris: ['https://b.example/', 'https://a.example/'],
      postLogoutRedirectUris: ['https://a.example/out'],
      webOrigins: ['+'],
      grantTypes: ['client_credentials'],
      defaultClientScopes: [],
      optionalClientScopes: ['phone', 'orders:read'],
      consentRequired: true,
      requirePkce: false,
      requirePushedAuthorizationRequests: true,
      requestObjectSigningAlg: 'ES256',
      idTokenSignedResponseAlg: 'ES256',
      accessTokenSignedResponseAlg: 'EdDSA',
      userinfoSignedResponseAlg: 'PS256',
      flowOverride: 'password-only',
      accessTokenTtlSeconds: 60,
      refreshTokenTtlSeconds: 61,
      jwks: { keys: [{ kty: 'RSA', n: '0', e: 'AQAB' }] },
      jwksUri: 'https://keys.example.com/',
      allowedResources: ['urn:example:on'],
      subjectType: 'pairwise',
      sectorIdentifierUri: 'https://sector.example/',
      logoUri: 'https://sector.example/logo.png',
      clientUri: 'https://sector.example/about',
      policyUri: 'https://sector.example/policy',
      tosUri: 'https://sector.example/terms',
      requestUris: ['https://sector.example/request.jwt'],
      applicationType: 'web',
      authorizationDetailsTypes: ['plain'],
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
      backchannelNotificationEndpoint: 'https://back.example/decided',
      backchannelUserCodeParameter: true,
      tokenExchangeImpersonation: true,
      mayActClient: 'other',
      clientAssertionAudience: 'issuer',
      secret: 'another-secret-of-each-0123456789abcdef',
    },
  ],
  ['clients', 'Old App: 2024-01-01', { backchannelTokenDeliveryMode: 'push' }],
  ['clients', 'keyed', { requireSignedRequestObject: false }],
  [
    'clients',
    'keyed-remotely',
    {
      profile: 'fapi2-security',
      tokenEndpointAuthSigningAlg: null,
      authorizationSignedResponseAlg: 'PS256',
      introspectionSignedResponseAlg: null,
      reuseRefreshTokens: true,
      idTokenEncryptedResponseAlg: 'ECDH-ES',
      idTokenEncryptedResponseEnc: 'A256GCM',
      userinfoEncryptedResponseAlg: 'ECDH-ES',
      userinfoEncryptedResponseEnc: 'A256GCM',
      authorizationEncryptedResponseAlg: 'ECDH-ES',
      authorizationEncryptedResponseEnc: 'A256GCM',
      introspectionEncryptedResponseAlg: 'ECDH-ES',
      introspectionEncryptedResponseEnc: 'A256GCM',
      requestObjectEncryptionAlg: null,
    },
  ],
  ['clients', 'web', { requestObjectEncryptionEnc: null }],
  ['adminRoles', 'team: on', { permissions: ['users:read'], groups: ['/staff'], clients: ['billing'] }],
  ['serviceAccountRoles', 'each', { roles: ['reader'], clientRoles: { web: ['on'] }, adminRoles: ['everything'] }],
  ['groups', '/staff', { roles: [], clientRoles: { web: ['on'] }, attributes: { k: ['2', '1'] }, default: true }],
  [
    'identityProviders',
    'corporate',
    {
      displayName: null,
      enabled: true,
      hidden: false,
      clientId: null,
      scopes: [],
      config: { issuer: 'https://other.example.com' },
      mappers: [],
      syncMode: 'import',
      firstLoginFlow: null,
      linking: 'ask',
      domains: [],
      secret: 'another secret there',
    },
  ],
  [
    'agents',
    'Clerk: on',
    {
      description: null,
      purpose: null,
      owner: 'each',
      scopes: [],
      expiresAt: null,
      reviewIntervalDays: null,
    },
  ],
  [
    'samlClients',
    'https://wiki.example.com/saml: on',
    {
      name: null,
      enabled: true,
      assertionConsumerServices: [{ url: 'https://wiki.example.com/new', binding: 'POST', index: 0, default: true }],
      singleLogoutServices: [],
      nameIdFormat: 'transient',
      signAssertions: true,
      signResponses: true,
      requireSignedRequests: false,
      encryptAssertions: false,
      idpInitiated: false,
      consentRequired: false,
      mappers: [],
      metadataUrl: null,
      metadataCertificate: null,
      flowOverride: null,
    },
  ],
  [
    'organizations',
    'acme: on',
    {
      displayName: null,
      enabled: true,
      domains: [{ name: 'acme.example', verified: false }],
      identityProviders: ['saml-1'],
      attributes: {},
      members: ['ana', 'each'],
    },
  ],
  [
    'applications',
    'Shop: on',
    {
      displayName: null,
      description: null,
      url: null,
      iconUrl: null,
      clients: ['keyed'],
      flowOverride: null,
      roles: [],
      visible: true,
      enabled: true,
    },
  ],
  [
    'authorizationServices',
    'keyed',
    {
      settings: {
        enforcement: 'disabled',
        decisionStrategy: 'affirmative',
        remoteResources: true,
        accessApi: 'decisions',
      },
      scopes: [{ name: 'b', displayName: 'B' }, { name: 'a' }],
      resources: [{ name: 'r', type: 't', uris: ['/b', '/a'], owner: 'ana', attributes: { k: ['v'] } }],
      policies: [{ name: 'p', type: 'role', logic: 'negative', config: { roles: ['reader', 'on'] } }],
      permissions: [{ name: 'x', resourceType: 't', decisionStrategy: 'consensus' }],
    },
  ],
  [
    'authorizationDetailTypes',
    'plain',
    {
      enabled: true,
      schema: { type: 'object', properties: { size: { type: 'integer' } } },
      words: { fr: 'Faire: on' },
      locations: ['urn:example:on'],
      clientCredentials: true,
      openToRegistration: true,
    },
  ],
  [
    'signalReceivers',
    'web',
    {
      enabled: false,
      events: ['account-disabled'],
      subjects: 'all',
      startWith: 'none',
      formats: ['iss_sub'],
      audience: null,
      subjectInEvents: true,
    },
  ],
  ...crossDomainChanges,
  [
    'webhooks',
    'audit',
    {
      url: 'https://other.example.com/',
      eventTypes: 'LOGIN_SUCCESS',
      enabled: false,
      secret: 'another-signing-secret-of-audit',
    },
  ],
  ['messageTemplates', 'otp-email/EMAIL/de-CH', { subject: null, body: '<p>{{ttl}}</p>', html: false, enabled: false }],
  [
    'messagingProviders',
    'EMAIL/smtp',
    {
      enabled: false,
      fromAddress: 'other@acme.example.com',
      fromName: null,
      config: { host: 'other.example.com' },
      secret: 'another password of the mail server',
    },
  ],
  [
    'workloadIdentity',
    'plain',
    {
      issuer: 'https://other.example.com',
      jwksUri: 'https://ci.example.com/k',
      subject: 'other',
      audience: 'off',
      clientId: 'keyed',
      scopes: 'roles',
      enabled: false,
      adminAccess: false,
    },
  ],
  [
    'users',
    'each',
    {
      email: 'each@people.example',
      emailVerified: true,
      firstName: 'E',
      lastName: '',
      enabled: false,
      attributes: { k: ['v'] },
      requiredActions: ['CONFIGURE_OTP'],
      roles: ['reader'],
      groups: ['/staff'],
      clientRoles: { web: ['on'] },
      createdAt: 1_700_000_000_001,
    },
  ],
  ...declaredSamples.filter(hasExamplesAlone).map(({ section, key, routes, fields }): Case => {
    const first = Object(routes.create.example);
    return [section, String(first[key]), fields];
  }),
];
const keysOf = (section: string): readonly string[] => fieldsOfKey(presentSections.get(section)?.key);
const documentOf = (section: string, key: string, fields: object) => {
  if (presentSections.get(section)?.shape === 'object') return { [section]: fields };
  const names = keysOf(section);
  const parts = names.length === 1 ? [key] : key.split('/');
  return { [section]: [{ ...Object.fromEntries(names.map((name, i) => [name, parts[i]])), ...fields }] };
};
const told = ({ changes }: Plan) => changes.map((c) => [c.action, c.key, c.fields.map((f) => f.path)]);

const each = cases.flatMap(([section, key, fields]) =>
  Object.entries(fields).map(([field, value]): [string, string, string, unknown] => [section, field, key, value]),
);

test('the table has every setting and every section', () => {
  const there = each.filter(([section]) => section === 'realm').map(([, field]) => field);
  expect(settingNames.filter((name) => !there.includes(name))).toEqual([]);
  const named = cases.map(([section]) => section);
  // those of a list without fields, or of the same fields as roles and claims
  expect([...presentSections.keys()].filter((name) => !named.some((n) => n === name))).toEqual([
    'resourceIndicators',
    'clientRoles',
    'clientProtocolMappers',
  ]);
});

/** As the document has them; answers don't. */
const secretsOf = (section: string, key: string): Record<string, unknown> => {
  const of = presentSections.get(section);
  const found = of && elementsOf(of, Reflect.get(base, section)).find((one) => one.key === key);
  return Object.fromEntries((of?.secrets ?? []).map((field) => [field, Object(found?.element)[field]]));
};
/** Where these change, the secret is sent elsewhere, and is asked for again. */
const DESTINATIONS = ['identityProviders config', 'messagingProviders config'];
const Sections = z.record(z.string(), z.unknown());
const Objects = z.array(z.record(z.string(), z.unknown()));

test.each(each)('%s: %s', async (section, field, key, value) => {
  const before = await admin.download('fields');
  const there = Sections.parse(JSON.parse(before))[section];
  const objects = Array.isArray(there) ? Objects.parse(there) : [Sections.parse(there)];
  const object = objects.find(
    (o) =>
      presentSections.get(section)?.shape === 'object' ||
      keysOf(section)
        .map((name) => o[name])
        .join('/') === key,
  );
  const secrets = secretsOf(section, key);
  const was = field in secrets ? secrets[field] : object?.[field];
  const sends = section in exampleSections || DESTINATIONS.includes(`${section} ${field}`);
  expect(was).toBeDefined();
  for (const wanted of [value, was]) {
    const document = documentOf(section, key, { ...(sends && secrets), [field]: wanted });
    // with a manager's name: by hand nothing changes that is declared only
    const dry = await admin.apply('fields', document, { manager: 'n', force: 'true', dryRun: 'true' });
    const plan = await admin.apply('fields', document, { manager: 'n', force: 'true' });
    expect(told(plan)).toEqual([['update', key, [field]]]);
    expect(plan.changes).toEqual(dry.changes);
    expect((await admin.apply('fields', document, { manager: 'n' })).inSync).toBe(true);
  }
  // Nothing but this field moved, there or back.
  expect(await admin.download('fields')).toBe(before);
});
