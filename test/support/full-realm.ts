// Owns: a realm full of things: every section, every field with another value than a fresh realm's, names that need care.
// Does not own: documents as fast-check makes them (documents.ts).
// Implements: tests of what must carry a whole realm from one place to another.
import { generateKeyPairSync } from 'node:crypto';
import { declaredKinds } from '../../server/contract/declared-kinds.ts';
import type { KindOf } from '../../server/contract/kind.ts';
import { permissions } from '../../server/contract/permissions.ts';
import type { RealmDocument } from '../../server/contract/transfer.ts';
import { withCertificates } from './authority.ts';
import { crossDomainSections } from './full-cross-domain.ts';
import { fullSettings } from './full-settings.ts';
import { SAML_CERTIFICATE } from './saml.ts';

const jwks = () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: '1:30' }] };
};
const step = (authenticatorId: string, config?: Record<string, unknown>) =>
  ({ authenticatorId, requirement: 'REQUIRED', ...(config && { config }) }) as const;

/** Kinds of which the examples of their contract are enough: one of them under a name that needs care, where it may be any. */
const examples = Object.values<KindOf>(declaredKinds).map(({ section, example, entry: { key, element } }) => {
  const objects = [example, ...(typeof key === 'string' ? [{ ...example, [key]: `${example[key]}: on` }] : [])];
  return { section, objects: objects.filter((one) => element.safeParse(one).success) };
});
const own = ownSections();
export const exampleSections = Object.fromEntries(
  examples.flatMap(({ section, objects }) => (section in own ? [] : [[section, objects]])),
);

export function fullRealm(): RealmDocument {
  const { users, ...sections } = ownSections();
  return { ...sections, ...exampleSections, users };
}

function ownSections(): RealmDocument {
  return {
    realm: fullSettings,
    resourceIndicators: ['https://api.example.com/orders', 'urn:example:on'],
    userProfile: {
      unmanagedAttributes: 'adminEdit',
      attributes: [
        {
          name: 'unit: on',
          displayName: 'Unit: on',
          multivalued: true,
          required: ['user'],
          edit: ['admin'],
          validation: { minLength: 1, pattern: '[a-z ]+', options: ['on', 'off'] },
          annotations: { 'input: type': 'select' },
        },
        { name: 'born', type: 'date', view: ['user'] },
      ],
    },
    claims: [
      {
        name: 'org.unit',
        source: 'attribute',
        attribute: 'unit',
        in: ['accessToken', 'idToken'],
        multivalued: true,
        aggregate: true,
      },
      { name: 'tier: on', claim: 'tier', source: 'constant', value: '010' },
      { name: 'points', source: 'attribute', attribute: 'points', jsonType: 'number', in: ['introspection'] },
      { name: 'for-shop', source: 'audience', value: 'shop', in: ['accessToken'] },
    ],
    clientScopes: [
      {
        name: 'orders:read',
        description: 'Your orders: on',
        includeInTokenScope: false,
        claims: ['org.unit', 'tier: on'],
      },
      { name: 'phone', description: null, claims: [] },
    ],
    roles: [
      { name: 'reader', description: 'May read', attributes: { 'a: b': ['yes', '1:30', 'two\nlines'] } },
      { name: 'on', default: true },
      { name: 'Über: all', composite: { roles: ['reader', 'on'], clientRoles: { billing: ['clerk'] } } },
    ],
    flows: [
      {
        alias: 'Four levels: deep',
        executions: [
          step('username-password'),
          {
            name: 'one',
            requirement: 'CONDITIONAL',
            executions: [
              step('risk', { minimumBand: 'medium' }),
              {
                name: 'two',
                requirement: 'REQUIRED',
                executions: [
                  {
                    name: 'three: on',
                    requirement: 'CONDITIONAL',
                    executions: [
                      step('mfa-enabled'),
                      step('role', { roles: ['admin'], clientId: 'web' }),
                      step('group', { groups: ['/staff'] }),
                      step('attribute', { attribute: 'department', values: ['sales'], negate: true }),
                      step('client', { clients: ['web'] }),
                      step('network', { networks: ['192.0.2.0/24', '2001:db8::1'], negate: true }),
                      step('device-known', { negate: true }),
                      step('level-of-assurance', { minimumLevel: 2 }),
                      step('otp'),
                    ],
                  },
                ],
              },
            ],
          },
          { name: 'off', requirement: 'DISABLED' },
        ],
      },
      { alias: 'browser', executions: [step('username-password'), step('otp')] },
      { alias: 'password-only', executions: [step('username-password')] },
      { alias: 'empty', executions: [] },
    ],
    clients: withCertificates([
      {
        clientId: 'billing',
        name: 'Billing',
        description: 'on',
        tokenEndpointAuthMethod: 'client_secret_basic',
        grantTypes: ['client_credentials'],
        defaultClientScopes: ['orders:read', 'roles'],
        optionalClientScopes: [],
        secret: 'the secret of billing, 0123456789abcdef',
        allowedResources: ['https://api.example.com/orders'],
      },
      {
        clientId: 'Old App: 2024-01-01',
        tokenEndpointAuthMethod: 'client_secret_post',
        redirectUris: ['http://old.example.com/back'],
        backchannelNotificationEndpoint: 'https://old.example.com/decided',
        requirePkce: false,
        requirePushedAuthorizationRequests: true,
        idTokenSignedResponseAlg: 'ES256',
        accessTokenSignedResponseAlg: 'EdDSA',
        userinfoSignedResponseAlg: 'PS256',
        enabled: false,
        secret: 'p$ss"w0rd\'with: # odd {signs}',
      },
      {
        clientId: 'keyed',
        applicationType: 'native',
        tokenEndpointAuthMethod: 'private_key_jwt',
        clientAssertionAudience: 'endpoints',
        grantTypes: ['client_credentials'],
        jwks: jwks(),
        requireSignedRequestObject: true,
        requestObjectSigningAlg: 'ES256',
        accessTokenTtlSeconds: 60,
      },
      {
        clientId: 'keyed-remotely',
        tokenEndpointAuthMethod: 'private_key_jwt',
        grantTypes: ['client_credentials'],
        jwksUri: 'https://keys.example.com/jwks',
        profile: 'fapi2-message-signing',
        tokenEndpointAuthSigningAlg: 'PS256',
        authorizationSignedResponseAlg: 'ES256',
        introspectionSignedResponseAlg: 'EdDSA',
        idTokenEncryptedResponseAlg: 'RSA-OAEP-256',
        userinfoEncryptedResponseAlg: 'RSA-OAEP-256',
        authorizationEncryptedResponseAlg: 'RSA-OAEP-256',
        introspectionEncryptedResponseAlg: 'RSA-OAEP-256',
        requestObjectEncryptionAlg: 'RSA-OAEP-256',
      },
      {
        clientId: 'web',
        tokenEndpointAuthMethod: 'none',
        redirectUris: ['https://web.example.com/back', 'http://127.0.0.1/back'],
        postLogoutRedirectUris: ['https://web.example.com/'],
        webOrigins: ['+', 'https://other.example.com'],
        consentRequired: true,
        flowOverride: 'password-only',
        refreshTokenTtlSeconds: 3601,
        authorizationDetailsTypes: ['payment:on'],
        idTokenUserinfoClaims: true,
        mayActClient: 'billing',
        jwksUri: 'https://web.example.com/jwks',
        reuseRefreshTokens: false,
        idTokenEncryptedResponseAlg: 'ECDH-ES+A128KW',
        idTokenEncryptedResponseEnc: 'A128GCM',
        userinfoEncryptedResponseAlg: 'ECDH-ES+A128KW',
        userinfoEncryptedResponseEnc: 'A128GCM',
        authorizationEncryptedResponseAlg: 'ECDH-ES+A128KW',
        authorizationEncryptedResponseEnc: 'A128GCM',
        introspectionEncryptedResponseAlg: 'ECDH-ES+A128KW',
        introspectionEncryptedResponseEnc: 'A128GCM',
        requestObjectEncryptionAlg: 'RSA-OAEP-256',
        requestObjectEncryptionEnc: 'A256CBC-HS512',
        dpopBoundAccessTokens: true,
        backchannelLogoutUri: 'https://web.example.com/logged-out',
        frontchannelLogoutUri: 'https://web.example.com/log-out',
        subjectType: 'pairwise',
        sectorIdentifierUri: 'https://web.example.com/redirects.json',
        requestUris: ['https://web.example.com/request.jwt'],
        logoUri: 'https://web.example.com/logo.png',
        clientUri: 'https://web.example.com/about',
        policyUri: 'https://web.example.com/policy',
        tosUri: 'https://web.example.com/terms',
      },
    ]),
    clientRoles: {
      billing: [
        { name: 'clerk', description: 'At the desk' },
        { name: 'auditor', composite: { roles: ['reader'] } },
      ],
      web: [{ name: 'on', attributes: { y: ['n'] } }],
    },
    clientProtocolMappers: [
      {
        clientId: 'billing',
        mappers: [
          { name: 'for shop: on', source: 'audience', value: 'shop', in: ['accessToken'] },
          { name: 'unit', claim: 'org.unit', source: 'attribute', attribute: 'unit', multivalued: true, in: [] },
        ],
      },
      { clientId: 'web', mappers: [{ name: 'unit', source: 'organization', jsonType: 'json', in: ['idToken'] }] },
    ],
    adminRoles: [
      { name: 'helpdesk: on', permissions: ['users:read', 'sessions:write'] },
      { name: 'everything', permissions: [...permissions].filter((p) => p.endsWith(':read')) },
      { name: 'team: on', permissions: ['users:read', 'clients:read'], groups: ['/staff/on call'], clients: ['web'] },
    ],
    serviceAccountRoles: [
      { clientId: 'billing', roles: ['reader'], clientRoles: { web: ['on'] }, adminRoles: ['helpdesk: on'] },
      { clientId: 'keyed', roles: ['Über: all'] },
    ],
    groups: [
      { path: '/staff', roles: ['reader'] },
      { path: '/staff/on call', attributes: { pager: ['yes'] }, default: true },
      { path: '/staff/on call/night: 22:00', roles: ['on'], clientRoles: { billing: ['clerk'], web: ['on'] } },
    ],
    identityProviders: [
      {
        alias: 'corporate',
        type: 'oidc',
        displayName: 'Côrporate: on',
        enabled: false,
        hidden: true,
        clientId: 'realm & keeper',
        secret: 'the secret at the corporate provider',
        scopes: ['openid', 'email'],
        config: { issuer: 'https://id.example.com', pkce: true },
        mappers: [{ name: 'a: b', claim: 'groups', value: 'on', to: 'role', target: 'reader' }],
        syncMode: 'always',
        firstLoginFlow: 'password-only',
        linking: 'never',
        domains: ['on.example'],
      },
      { alias: 'saml-1', type: 'saml', config: { metadataUrl: 'https://saml.example.com/metadata' } },
    ],
    organizations: [
      {
        name: 'acme: on',
        displayName: 'Ácme & Söhne',
        enabled: false,
        domains: [
          { name: 'acme.example', verified: true },
          { name: 'on.acme.example', verified: false },
        ],
        identityProviders: ['corporate'],
        attributes: { 'a: b': ['yes', '1:30'] },
        members: ['ana'],
      },
      { name: 'plain' },
    ],
    samlClients: [
      {
        entityId: 'https://wiki.example.com/saml: on',
        name: 'Wïki: on',
        enabled: false,
        assertionConsumerServices: [
          { url: 'https://wiki.example.com/acs', binding: 'POST', index: 3, default: false },
          { url: 'https://wiki.example.com/acs/2', binding: 'POST', index: 0, default: true },
        ],
        singleLogoutServices: [{ url: 'https://wiki.example.com/slo', binding: 'Redirect' }],
        nameIdFormat: 'emailAddress',
        signingCertificates: [SAML_CERTIFICATE],
        encryptionCertificate: SAML_CERTIFICATE,
        requireSignedRequests: true,
        signAssertions: false,
        signResponses: false,
        encryptAssertions: true,
        idpInitiated: true,
        consentRequired: true,
        mappers: [
          {
            name: 'mail: on',
            claim: 'urn:oid:0.9.2342.19200300.100.1.3',
            nameFormat: 'uri',
            source: 'property',
            attribute: 'email',
          },
          { name: 'plain' },
        ],
        metadataUrl: 'https://wiki.example.com/metadata?a=b',
        metadataCertificate: SAML_CERTIFICATE,
        flowOverride: 'password-only',
      },
      { entityId: 'urn:plain', assertionConsumerServices: [{ url: 'http://plain.example.com/acs' }] },
    ],
    applications: [
      {
        name: 'Shop: on',
        displayName: 'Ácme & Shop',
        description: '- buy\n- sell',
        url: 'https://web.example.com/',
        iconUrl: 'https://web.example.com/icon.svg',
        clients: ['billing', 'web'],
        samlClients: ['urn:plain'],
        flowOverride: 'Four levels: deep',
        roles: ['reader', 'on'],
        visible: false,
        enabled: false,
      },
      { name: 'plain' },
    ],
    authorizationServices: [
      {
        clientId: 'web',
        settings: {
          enforcement: 'permissive',
          decisionStrategy: 'consensus',
          remoteResources: true,
          accessApi: 'search',
        },
        scopes: [{ name: 'view: on', displayName: 'View' }, { name: 'edit' }],
        resources: [
          {
            name: 'Albums: 2024-01-01',
            displayName: 'on',
            type: 'urn:web:album',
            uris: ['/albums/*', '/a?b=c'],
            scopes: ['view: on', 'edit'],
            owner: 'ana',
            ownerManaged: true,
            attributes: { 'a: b': ['yes', '1:30'] },
          },
          { name: 'plain' },
        ],
        policies: [
          {
            name: 'readers',
            type: 'role',
            config: { roles: ['reader', 'on'], clientRoles: { web: ['on'] }, match: 'all' },
          },
          { name: 'not ana', type: 'user', logic: 'negative', config: { users: ['ana', 'off'] } },
          { name: 'staff', type: 'group', config: { groups: ['/staff'], includeSubgroups: true } },
          { name: 'by web', type: 'client', config: { clients: ['web', 'keyed'] } },
          {
            name: 'nights: 22:00',
            type: 'time',
            config: {
              notBefore: '2024-01-01T00:00:00Z',
              notAfter: '2034-01-01T00:00:00+01:00',
              daysOfWeek: ['monday', 'sunday'],
              daysOfMonth: [1, 31],
              months: [2, 12],
              from: '22:00',
              until: '06:30',
              timeZone: 'Europe/Zurich',
            },
          },
          {
            name: 'vip',
            type: 'attribute',
            config: { attribute: 'tier', source: 'context', values: ['on', '010'], match: 'all' },
          },
          {
            name: 'all of it',
            type: 'aggregate',
            config: { policies: ['staff', 'vip'], decisionStrategy: 'affirmative' },
          },
        ],
        permissions: [
          {
            name: 'view: albums',
            resources: ['Albums: 2024-01-01', 'plain'],
            resourceType: 'urn:web:album',
            scopes: ['view: on'],
            policies: ['all of it', 'not ana'],
            decisionStrategy: 'unanimous',
          },
          { name: 'edit', scopes: ['edit'] },
        ],
      },
      { clientId: 'keyed' },
    ],
    authorizationDetailTypes: [
      {
        type: 'payment:on',
        schema: { type: 'object', properties: { amount: { type: 'string' }, yes: { const: 'on' } } },
        words: { en: 'Pay {amount}: now', de: 'Zahle {amount}' },
        locations: ['https://api.example.com/on'],
        clientCredentials: true,
        openToRegistration: true,
      },
      { type: 'plain', enabled: false, schema: { type: 'object' }, words: { en: 'Do it' } },
    ],
    signalReceivers: [
      { clientId: 'web', events: ['session-revoked'], formats: ['complex', 'email'], audience: 'urn:web: on' },
      { clientId: 'keyed', enabled: false, events: ['scim-create'], formats: ['scim'], subjects: 'all' },
    ],
    ...crossDomainSections,
    webhooks: [
      {
        name: 'audit',
        url: 'https://audit.example.com/hook?a=b',
        eventTypes: 'ADMIN_WRITE,LOGIN_FAILURE',
        secret: 'the signing secret of audit',
      },
      {
        name: 'Alarm: on call',
        url: 'https://alarm.example.com',
        eventTypes: '*',
        enabled: false,
        secret: 'the signing secret of the alarm',
      },
      { name: 'unsigned', url: 'https://plain.example.com', eventTypes: 'LOGIN_SUCCESS' },
    ],
    workloadIdentity: [
      {
        name: 'Deployer: main',
        issuer: 'https://ci.example.com',
        jwksUri: 'https://ci.example.com/jwks',
        subject: 'repo:acme/app:ref:refs/heads/main',
        audience: 'acme',
        clientId: 'keyed',
        scopes: 'orders:read roles',
        enabled: false,
        adminAccess: false,
      },
      { name: 'plain', issuer: 'https://ci.example.com', subject: '*', audience: 'on', clientId: 'web' },
    ],
    agents: [
      {
        name: 'Clerk: on',
        description: 'Ácme’s clerk',
        purpose: '- pays\n- books',
        owner: 'ana',
        clientId: 'keyed-remotely',
        scopes: ['orders:read', 'roles'],
        expiresAt: 4_102_444_800_000,
        reviewIntervalDays: 90,
        status: 'suspended',
      },
      { name: 'plain' },
      { name: 'over', status: 'revoked' },
    ],
    messagingProviders: [
      {
        channel: 'EMAIL',
        driver: 'smtp',
        fromAddress: 'no-reply@acme.example.com',
        fromName: 'Ácme: on',
        config: {
          host: 'mail.example.com',
          port: 2525,
          username: 'acme',
          tls: 'tls',
          replyTo: 'help@acme.example.com',
        },
        secret: 'the password of the mail server',
      },
      {
        channel: 'SMS',
        driver: 'http',
        enabled: false,
        config: {
          url: 'https://sms.example.com/send',
          headers: { 'x-key': '{{secret}}' },
          body: 'yes: {{to}}',
          format: 'text',
        },
      },
    ],
    messageTemplates: [
      {
        templateKey: 'otp-email',
        channel: 'EMAIL',
        locale: 'de-CH',
        subject: '{{code}}: Code für {{realm}}',
        body: '<p>Grüezi {{user.firstName}}</p>\n<!-- # on -->\n<b>{{ code }}</b>',
        html: true,
      },
      { templateKey: 'otp-sms', channel: 'SMS', locale: 'no', body: 'no: {{code}}', enabled: false },
    ],
    users: [{ username: 'ana', email: 'ana@example.com', roles: ['reader'], groups: ['/staff'] }],
  };
}
