// What an authorization request needs next, as a table; and which claims scopes give.
import { describe, expect, test } from 'vitest';
import { freshClaim } from '../../../server/contract/claims.ts';
import type { Agreement } from '../../../server/domain/agreement.ts';
import { audiencesOf, type ClaimView, claimsOf, type ScopeView } from '../../../server/domain/claims.ts';
import type { Person } from '../../../server/domain/person.ts';
import type { Prompt } from '../../../server/features/protocol/authorize/checks.ts';
import {
  authorizationDecision,
  countsFrom,
  type DecisionFacts,
} from '../../../server/features/protocol/authorize/decide.ts';

const session = { id: 's', userId: 'u' };
const acting = { ...session, impersonator: {} };
const claim = (given: Partial<ClaimView> & Pick<ClaimView, 'name'>): ClaimView => {
  const { claim: _, ...fresh } = freshClaim;
  return { ...fresh, ...given };
};
const scope = (name: string, claims: ScopeView['claims'] = []): ScopeView => ({
  name,
  description: null,
  inTokenScope: true,
  claims,
});

const EMAIL: Agreement = { scopes: ['openid', 'email'], resources: [], claims: [] };
const all: Agreement = { scopes: ['email', 'openid', 'phone'], resources: ['https://api.example'], claims: ['salary'] };
const onlyOpenid = { ...EMAIL, scopes: ['openid'] };

interface Case {
  toAgree?: Agreement;
  prompt?: Prompt[];
  maxAgeSeconds?: number;
  requiredLevel?: number;
  consentRequired?: boolean;
  administers?: boolean;
  details?: string[];
  known?: Partial<DecisionFacts>;
}
const outcome = ({
  prompt = [],
  maxAgeSeconds,
  requiredLevel = 0,
  consentRequired = false,
  administers = false,
  details = [],
  toAgree = EMAIL,
  known = {},
}: Case) => {
  const step = authorizationDecision(
    {
      prompt: new Set(prompt),
      maxAgeSeconds,
      requiredLevel,
      administers,
      details: details.map((type) => ({ detail: { type }, words: {} })),
      toAgree,
      client: { consentRequired },
    },
    {
      session,
      missing: undefined,
      fresh: false,
      agreed: false,
      expectedUser: undefined,
      consented: undefined,
      ...known,
    },
  );
  if (step.do === 'refuse') return step.error.error;
  return step.do === 'sign-in' && step.forced ? 'sign-in again' : step.do;
};

const table: [string, Case, string][] = [
  ['a session is enough', {}, 'code'],
  ['without one the person signs in', { known: { session: undefined } }, 'sign-in'],
  ['prompt none never asks', { prompt: ['none'], known: { session: undefined } }, 'login_required'],
  ['prompt none with a session is silent', { prompt: ['none'] }, 'code'],
  ['details are asked for each time', { details: ['payment'], known: { consented: EMAIL } }, 'consent'],
  ['details that the person has just agreed to', { details: ['payment'], known: { agreed: true } }, 'code'],
  ['details can’t be asked for silently', { details: ['payment'], prompt: ['none'] }, 'consent_required'],
  [
    'an administrator who acts for a person agrees to no details',
    { details: ['payment'], known: { session: { ...session, impersonator: {} } } },
    'consent_required',
  ],
  ['prompt login asks again', { prompt: ['login'] }, 'sign-in again'],
  ['prompt select_account asks again', { prompt: ['select_account'] }, 'sign-in again'],
  ['but once only', { prompt: ['login'], known: { fresh: true } }, 'code'],
  ['max_age 0 asks again, however young the session is', { maxAgeSeconds: 0 }, 'sign-in again'],
  ['max_age 0 once', { maxAgeSeconds: 0, known: { fresh: true } }, 'code'],
  ['not silently', { maxAgeSeconds: 0, prompt: ['none'] }, 'login_required'],
  ['what the session lacks is proven beside it', { known: { missing: 'proof' } }, 'sign-in'],
  ['what the person has to do is done', { known: { missing: 'action' } }, 'sign-in'],
  ['neither silently', { prompt: ['none'], known: { missing: 'proof' } }, 'login_required'],
  ['nor that', { prompt: ['none'], known: { missing: 'action' } }, 'interaction_required'],
  ['what nobody can prove does not loop', { known: { missing: 'proof', fresh: true } }, 'code'],
  ['another person than the hint signs in', { known: { expectedUser: 'v' } }, 'sign-in again'],
  ['and is refused if they did', { known: { expectedUser: 'v', fresh: true } }, 'login_required'],
  ['the hinted person goes on', { known: { expectedUser: 'u' } }, 'code'],
  ['consent is asked for where the client needs it', { consentRequired: true }, 'consent'],
  ['and remembered', { consentRequired: true, known: { consented: all } }, 'code'],
  ['even for who somebody is', { consentRequired: true, toAgree: onlyOpenid }, 'consent'],
  ['never silently', { consentRequired: true, toAgree: onlyOpenid, prompt: ['none'] }, 'consent_required'],
  [
    'even where nothing has a name',
    { consentRequired: true, toAgree: { scopes: [], resources: [], claims: [] } },
    'consent',
  ],
  [
    'resource by resource',
    { consentRequired: true, toAgree: { ...EMAIL, resources: ['https://api.example'] }, known: { consented: EMAIL } },
    'consent',
  ],
  [
    'claim by claim of its own mappers',
    { consentRequired: true, toAgree: { ...EMAIL, claims: ['salary'] }, known: { consented: EMAIL } },
    'consent',
  ],
  ['scope by scope', { consentRequired: true, known: { consented: onlyOpenid } }, 'consent'],
  ['prompt consent asks anew', { prompt: ['consent'], known: { consented: all } }, 'consent'],
  ['but once only', { prompt: ['consent'], known: { agreed: true, fresh: true } }, 'code'],
  ['admin rights are agreed to anew each time', { administers: true, known: { consented: all } }, 'consent'],
  ['and then lent', { administers: true, known: { agreed: true } }, 'code'],
  ['never silently', { prompt: ['none'], consentRequired: true }, 'consent_required'],
  ['who acts for somebody needs no proof of them', { known: { session: acting, missing: 'proof' } }, 'code'],
  ['but signs in for nobody', { prompt: ['login'], known: { session: acting } }, 'login_required'],
  ['nor does anything fresh', { maxAgeSeconds: 600, known: { session: acting, fresh: true } }, 'login_required'],
  ['nor proves more', { requiredLevel: 1, known: { session: acting } }, 'login_required'],
  ['nor is somebody else', { known: { session: acting, expectedUser: 'v' } }, 'login_required'],
  ['nor agrees', { consentRequired: true, known: { session: acting, agreed: true } }, 'consent_required'],
  ['but goes by what was agreed', { consentRequired: true, known: { session: acting, consented: all } }, 'code'],
  ['and gets no admin rights', { administers: true, known: { session: acting, agreed: true } }, 'consent_required'],
];
test.each(table)('%s', (_, input, expected) => {
  expect(outcome(input)).toBe(expected);
});

test('what counts is what is young enough, or what a sign-in for this very request rests on', () => {
  const now = new Date(1_000_000);
  expect(countsFrom({ maxAgeSeconds: undefined }, { signedIn: undefined, now })).toBe(0);
  expect(countsFrom({ maxAgeSeconds: 60 }, { signedIn: undefined, now })).toBe(940_000);
  expect(countsFrom({ maxAgeSeconds: 60 }, { signedIn: 930_000, now })).toBe(930_000);
});

describe('claims', () => {
  const alice: Person = {
    id: 'u',
    username: 'alice',
    subject: null,
    email: 'a@example.com',
    emailVerified: false,
    updatedAt: new Date(1_700_000_000_500),
    firstName: 'Alice',
    lastName: null,
    attributes: { team: ['x', 'y'], locality: ['Bern'], country: ['CH'], phone_number_verified: ['true'] },
    groups: ['/staff'],
    inherited: [],
    organizations: [{ id: 'o', name: 'acme' }],
    roles: { realm: ['admin'], clients: { api: ['read'] } },
  };
  test('come from the person, by scope and by place', () => {
    const scopes = [
      scope('a', [
        claim({ name: 'name', source: 'property', attribute: 'fullName', in: ['idToken', 'userinfo'] }),
        claim({ name: 'email_verified', source: 'property', attribute: 'emailVerified' }),
        claim({ name: 'team', source: 'attribute', in: ['accessToken', 'userinfo'] }),
        claim({ name: 'address.locality', source: 'attribute', attribute: 'locality' }),
        claim({ name: 'address.country', source: 'attribute', attribute: 'country' }),
        claim({ name: 'https://x.example/level', source: 'constant', value: '9' }),
        claim({ name: 'phone_number_verified', source: 'attribute', jsonType: 'boolean' }),
        claim({ name: 'missing', source: 'attribute' }),
        claim({ name: 'realm_access', source: 'roles', in: ['accessToken'] }),
        claim({ name: 'resource_access', source: 'clientRoles', in: ['accessToken'] }),
      ]),
    ];
    expect(claimsOf(scopes, alice, 'userinfo')).toEqual({
      name: 'Alice',
      email_verified: false,
      team: ['x', 'y'],
      address: { locality: 'Bern', country: 'CH' },
      'https://x.example/level': '9',
      phone_number_verified: true,
    });
    expect(claimsOf(scopes, alice, 'idToken')).toEqual({ name: 'Alice' });
    expect(claimsOf(scopes, alice, 'accessToken')).toEqual({
      team: ['x', 'y'],
      realm_access: { roles: ['admin'] },
      resource_access: { api: { roles: ['read'] } },
    });
    expect(claimsOf(scopes, { roles: { realm: [], clients: {} } }, 'accessToken')).toEqual({
      realm_access: { roles: [] },
    });
  });

  test('are of the type that was asked for, and left out where they do not read as it', () => {
    const person = { ...alice, attributes: { age: ['42'], level: ['high'], card: ['{"a":1}'], on: ['false'] } };
    const typed = (name: string, jsonType: ClaimView['jsonType'], multivalued = false) =>
      claim({ name, source: 'attribute', jsonType, multivalued });
    const claims = [
      typed('age', 'number', true),
      typed('level', 'number'),
      typed('card', 'json'),
      typed('on', 'boolean'),
    ];
    expect(claimsOf([scope('a', claims)], person, 'userinfo')).toEqual({ age: [42], card: { a: 1 }, on: false });
  });

  test('say one client’s roles, or how somebody signed in, where that is asked for', () => {
    const claims = [
      claim({ name: 'api_roles', source: 'clientRoles', value: 'api' }),
      claim({ name: 'none', source: 'clientRoles', value: 'constructor' }),
      claim({ name: 'level', source: 'session', attribute: 'acr' }),
      claim({ name: 'shop', source: 'audience', value: 'shop', in: ['accessToken', 'userinfo'] }),
    ];
    const given = claimsOf([scope('a', claims)], alice, 'userinfo', { acr: '2' });
    expect(given).toEqual({ api_roles: ['read'], level: '2' });
    expect(audiencesOf([scope('a', claims)])).toEqual(['shop']);
  });

  test('never replace what a token means', () => {
    const names = ['sub', 'iss', 'aud', 'exp', 'client_id', 'scope', 'sid', 'gid', 'act.sub', '__proto__', 'sub.x'];
    const scopes = [
      scope(
        'evil',
        names.map((name) => claim({ name, source: 'constant', value: 'x' })),
      ),
    ];
    expect(Object.keys(claimsOf(scopes, alice, 'userinfo'))).toEqual([]);
  });
});
