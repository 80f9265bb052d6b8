// Owns: the part of the full realm (full-realm.ts) for grants across domains and transaction tokens, and another value of each field.
// Does not own: what the fields do (test/server/features/cross-domain.test.ts, transaction-tokens.test.ts).
import type { RealmDocument } from '../../server/contract/transfer.ts';

export const crossDomainSections: RealmDocument = {
  crossDomainPolicies: [
    {
      name: 'Web: on',
      clientId: 'web',
      audience: 'https://auth.example.com/on',
      tokenTypes: ['jwt', 'id-jag'],
      targetClientId: 'web: there',
      scopes: ['on'],
      resources: ['urn:example:on'],
      groups: ['/staff/on call/night: 22:00'],
      roles: ['Über: all'],
      leastLevel: 2,
      relyingParty: 'keyed',
    },
    { name: 'plain', clientId: 'keyed', audience: 'https://auth.example.com', targetClientId: 'on' },
  ],
  crossDomainTrusts: [
    {
      name: 'Idp: on',
      issuer: 'https://idp.example.com/on',
      jwksUri: 'https://idp.example.com/keys',
      clientId: 'web',
      tokenTypes: ['untyped', 'jwt'],
      scopes: ['on'],
      emailDomains: ['on.example'],
    },
    { name: 'plain', issuer: 'https://idp.example.com', clientId: 'keyed' },
  ],
  transactionTokenPolicies: [
    { name: 'Shop: on', clientId: 'web', trustDomain: 'shop.on', scopes: { on: ['yes', 'no'], 'a:b': ['on'] } },
    { name: 'plain', clientId: 'keyed', trustDomain: 'urn:shop:on', scopes: {}, replaces: true },
  ],
};

export const crossDomainChanges: [section: string, key: string, fields: Record<string, unknown>][] = [
  [
    'crossDomainPolicies',
    'plain',
    {
      enabled: false,
      clientId: 'web',
      audience: 'https://other.example.com',
      tokenTypes: ['jwt'],
      targetClientId: 'other',
      scopes: ['other'],
      resources: ['https://other.example.com/api'],
      authorizationDetailsTypes: ['plain'],
      tokenScopes: ['other'],
      groups: ['/staff'],
      roles: ['reader'],
      leastLevel: 1,
      maxAge: 60,
      relyingParty: 'web',
      email: true,
      ttlSeconds: 60,
    },
  ],
  [
    'crossDomainTrusts',
    'plain',
    {
      enabled: false,
      issuer: 'https://other.example.com',
      jwksUri: 'https://other.example.com/keys',
      clientId: 'web',
      tokenTypes: ['jwt'],
      scopes: ['other'],
      resources: ['https://other.example.com/api'],
      authorizationDetailsTypes: ['plain'],
      identityProvider: 'corporate',
      emailDomains: ['other.example'],
      trustEmail: true,
      trustAuthentication: true,
    },
  ],
  [
    'transactionTokenPolicies',
    'plain',
    {
      enabled: false,
      clientId: 'web',
      trustDomain: 'other.internal',
      scopes: { other: ['one'] },
      replaces: false,
      ttlSeconds: 30,
    },
  ],
];
