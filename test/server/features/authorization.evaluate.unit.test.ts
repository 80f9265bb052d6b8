// Owns: what a client's authorization services decide: strategies, each type of policy, what a permission is about.
// Does not own: properties of all models (authorization.properties.unit.test.ts), HTTP (authorization-services.test.ts).
// Implements: decisions "Authorization services".
import { describe, expect, test } from 'vitest';
import {
  type AuthorizationPolicy,
  AuthorizationServiceDocument,
  type AuthorizationSettings,
  type PolicyConfig,
  type PolicyType,
} from '../../../server/contract/authorization-services.ts';
import { canonicalDocument } from '../../../server/features/configuration/authorization-services/canonical.ts';
import { evaluator, modelOf } from '../../../server/features/configuration/authorization-services/evaluate.ts';
import type {
  ExistingNames,
  Requester,
} from '../../../server/features/configuration/authorization-services/policies.ts';
import { freshServices, servicesOf } from '../../../server/features/configuration/authorization-services/resource.ts';
import { circlesOf, faultsOf } from '../../../server/features/configuration/authorization-services/rules.ts';
import { combinedVote, type Vote } from '../../../server/features/configuration/authorization-services/vote.ts';

const known: ExistingNames = {
  roles: new Set(['reader', 'editor', 'boss']),
  clientRoles: new Set(['shop/clerk', 'shop/auditor']),
  groups: new Set(['/staff', '/staff/night', '/guests']),
  clients: new Set(['web', 'cli']),
};
const ana: Requester = {
  called: 'the user ana',
  enabled: true,
  username: 'Ana',
  names: new Set(['ana', 'aNA']),
  groups: ['/staff/night'],
  roles: { realm: ['reader', 'editor'], clients: { shop: ['clerk'] } },
  attributes: { tier: ['gold', 'old'] },
  clientId: 'web',
  // a Monday, 09:30 in Zurich
  at: new Date('2026-11-23T08:30:00Z'),
  context: { network: ['office'] },
};
const document = (given: object) => AuthorizationServiceDocument.parse({ clientId: 'albums', ...given });
const services = (given: object) => {
  const { clientId: _, ...fields } = document(given);
  return servicesOf({ ...freshServices(), ...canonicalDocument(fields) });
};
const ask = (given: object, asked: { resource: string; scopes?: string[] }, requester: Partial<Requester> = {}) =>
  evaluator(modelOf(services(given), known), { ...ana, ...requester })(asked);

type Shape = [type: PolicyType, config: PolicyConfig, logic?: AuthorizationPolicy['logic']];
const policy = (name: string, [type, config, logic]: Shape) => ({ name, type, config, ...(logic && { logic }) });
/** What one policy alone decides. */
const alone = (shape: Shape, requester: Partial<Requester> = {}) => {
  const given = {
    resources: [{ name: 'album' }],
    policies: [policy('p', shape)],
    permissions: [{ name: 'all', resources: ['album'], policies: ['p'] }],
  };
  const result = ask(given, { resource: 'album' }, requester);
  return { decision: result.decision, reason: result.permissions[0]?.policies[0]?.reason };
};

describe('votes', () => {
  test.each<[string, Vote[], Vote, Vote, Vote]>([
    ['nobody', [], 'deny', 'deny', 'deny'],
    ['one for it', ['permit'], 'permit', 'permit', 'permit'],
    ['one against it', ['deny'], 'deny', 'deny', 'deny'],
    ['one of each', ['permit', 'deny'], 'deny', 'permit', 'deny'],
    ['two to one', ['permit', 'permit', 'deny'], 'deny', 'permit', 'permit'],
    ['one to two', ['permit', 'deny', 'deny'], 'deny', 'permit', 'deny'],
    ['one undecided', ['undecided'], 'undecided', 'undecided', 'undecided'],
    ['one undecided beside one for it', ['permit', 'undecided'], 'undecided', 'permit', 'undecided'],
    ['one undecided beside one against it', ['deny', 'undecided'], 'deny', 'undecided', 'deny'],
    ['one undecided where it can’t matter', ['permit', 'permit', 'undecided'], 'undecided', 'permit', 'permit'],
  ])('of %s', (_, votes, unanimous, affirmative, consensus) => {
    expect(combinedVote('unanimous', votes)).toBe(unanimous);
    expect(combinedVote('affirmative', votes)).toBe(affirmative);
    expect(combinedVote('consensus', votes)).toBe(consensus);
  });
});

describe('a policy', () => {
  test.each<[string, Shape, 'permit' | 'deny', string]>([
    ['of one of the roles', ['role', { roles: ['boss', 'reader'] }], 'permit', 'has of the roles: reader'],
    ['of a client’s role', ['role', { clientRoles: { shop: ['clerk'] } }], 'permit', 'has of the roles: shop/clerk'],
    ['of a role that they lack', ['role', { roles: ['boss'] }], 'deny', 'has none of the roles: boss'],
    [
      'of all roles',
      ['role', { roles: ['reader', 'editor'], match: 'all' }],
      'permit',
      'has all of the roles: editor, reader',
    ],
    [
      'of all roles, one lacking',
      ['role', { roles: ['reader', 'boss'], match: 'all' }],
      'deny',
      'lacks of the roles: boss',
    ],
    ['of users, whatever the case', ['user', { users: ['aNA'] }], 'permit', 'is the user Ana'],
    ['of other users', ['user', { users: ['bob', 'eve'] }], 'deny', 'is none of the users bob, eve'],
    ['of a group', ['group', { groups: ['/staff/night'] }], 'permit', 'has of the groups: /staff/night'],
    ['of the group above', ['group', { groups: ['/staff'] }], 'deny', 'has none of the groups: /staff'],
    [
      'of the group above and those below',
      ['group', { groups: ['/staff'], includeSubgroups: true }],
      'permit',
      'has of the groups: /staff',
    ],
    ['of a client', ['client', { clients: ['cli', 'web'] }], 'permit', 'asks by the client web'],
    ['of another client', ['client', { clients: ['cli'] }], 'deny', 'asks by none of the clients cli'],
    [
      'of an attribute',
      ['attribute', { attribute: 'tier', values: ['gold', 'silver'] }],
      'permit',
      'the attribute tier has one of the values',
    ],
    [
      'of all values',
      ['attribute', { attribute: 'tier', values: ['gold', 'new'], match: 'all' }],
      'deny',
      'the attribute tier has not all of the values',
    ],
    [
      'of an attribute that is not there',
      ['attribute', { attribute: 'constructor', values: ['x'] }],
      'deny',
      'the attribute constructor is not there',
    ],
    [
      'of the request',
      ['attribute', { attribute: 'network', source: 'context', values: ['office'] }],
      'permit',
      'the request’s attribute network has one of the values',
    ],
    [
      'of the request, which the user has instead',
      ['attribute', { attribute: 'tier', source: 'context', values: ['gold'] }],
      'deny',
      'the request’s attribute tier is not there',
    ],
    [
      'that is negative',
      ['user', { users: ['bob'] }, 'negative'],
      'permit',
      'is none of the users bob; negative, so it permits',
    ],
    [
      'that is negative and fits',
      ['user', { users: ['ana'] }, 'negative'],
      'deny',
      'is the user Ana; negative, so it denies',
    ],
  ])('%s', (_, shape, decision, reason) => {
    expect(alone(shape)).toEqual({ decision, reason });
  });

  test.each<[string, Shape]>([
    ['role', ['role', { roles: ['gone'] }]],
    ['client role', ['role', { clientRoles: { shop: ['gone'] } }]],
    ['group', ['group', { groups: ['/gone'] }]],
    ['client', ['client', { clients: ['gone'] }]],
  ])('that names a %s which is not there denies, and so does its opposite', (_, [type, config]) => {
    for (const logic of ['positive', 'negative'] as const) {
      const { decision, reason } = alone([type, config, logic]);
      expect(decision).toBe('deny');
      expect(reason).toContain('that the realm doesn’t have');
    }
  });

  test('that names what is not there permits who has another of its names', () => {
    expect(alone(['role', { roles: ['gone', 'reader'] }]).decision).toBe('permit');
    expect(alone(['role', { roles: ['gone', 'reader'], match: 'all' }]).decision).toBe('deny');
    // whether they have all of them depends on neither: boss is lacking
    expect(alone(['role', { roles: ['gone', 'boss'], match: 'all' }, 'negative']).decision).toBe('permit');
  });

  test('asks about nobody where no user or client asks', () => {
    const machine = { username: null, groups: [], attributes: {}, clientId: null };
    expect(alone(['user', { users: ['ana'] }], machine).reason).toBe('no user asks');
    expect(alone(['client', { clients: ['web'] }], machine).reason).toBe('no client asks');
  });
});

describe('a policy of times', () => {
  const zurich = { timeZone: 'Europe/Zurich' };
  test.each<[string, PolicyConfig, string, 'permit' | 'deny']>([
    ['within the hours of the zone', { from: '09:00', until: '17:00', ...zurich }, '2026-11-23T08:30:00Z', 'permit'],
    ['before the hours of the zone', { from: '09:00', until: '17:00', ...zurich }, '2026-11-23T07:59:59Z', 'deny'],
    ['at the end of the hours', { from: '09:00', until: '17:00' }, '2026-11-23T17:00:00Z', 'deny'],
    ['in summer time', { from: '09:00', until: '10:00', ...zurich }, '2026-07-01T07:30:00Z', 'permit'],
    ['over midnight, before it', { from: '22:00', until: '06:00' }, '2026-11-23T23:59:00Z', 'permit'],
    ['over midnight, after it', { from: '22:00', until: '06:00' }, '2026-11-23T00:00:00Z', 'permit'],
    ['over midnight, at noon', { from: '22:00', until: '06:00' }, '2026-11-23T12:00:00Z', 'deny'],
    ['on the day of the zone', { daysOfWeek: ['tuesday'], ...zurich }, '2026-11-23T23:30:00Z', 'permit'],
    ['on another day', { daysOfWeek: ['tuesday'] }, '2026-11-23T23:30:00Z', 'deny'],
    ['on a day of the month', { daysOfMonth: [1, 23] }, '2026-11-23T12:00:00Z', 'permit'],
    ['in another month', { months: [12] }, '2026-11-23T12:00:00Z', 'deny'],
    ['from a moment on', { notBefore: '2026-11-23T13:00:00+01:00' }, '2026-11-23T12:00:00Z', 'permit'],
    ['before a moment', { notBefore: '2026-11-23T13:00:00+01:00' }, '2026-11-23T11:59:59Z', 'deny'],
    ['after the last moment', { notAfter: '2026-11-23T12:00:00Z' }, '2026-11-23T12:00:01Z', 'deny'],
  ])('decides %s', (_, config, at, decision) => {
    expect(alone(['time', config], { at: new Date(at) }).decision).toBe(decision);
  });

  test('says what the clock showed and what it wanted', () => {
    expect(alone(['time', { daysOfWeek: ['sunday'], from: '10:00', until: '11:00', ...zurich }]).reason).toBe(
      'it is monday, 2026-11-23 09:30 in Europe/Zurich: only on sunday; only from 10:00 until 11:00',
    );
  });
});

describe('an aggregate', () => {
  const given = (
    decisionStrategy: 'unanimous' | 'affirmative' | 'consensus',
    logic: 'positive' | 'negative' = 'positive',
  ) => ({
    resources: [{ name: 'album' }],
    policies: [
      policy('yes', ['user', { users: ['ana'] }]),
      policy('no', ['user', { users: ['bob'] }]),
      policy('unclear', ['role', { roles: ['gone'] }]),
      { ...policy('two', ['aggregate', { policies: ['yes', 'no'], decisionStrategy }]), logic },
      policy('outer', ['aggregate', { policies: ['two'] }]),
      policy('blind', ['aggregate', { policies: ['unclear'] }, 'negative']),
    ],
    permissions: [{ name: 'all', resources: ['album'], policies: ['outer'] }],
  });
  test('counts by its own strategy, and the outer one takes its word', () => {
    expect(ask(given('unanimous'), { resource: 'album' }).decision).toBe('deny');
    expect(ask(given('affirmative'), { resource: 'album' }).decision).toBe('permit');
    expect(ask(given('consensus'), { resource: 'album' }).decision).toBe('deny');
    expect(ask(given('consensus', 'negative'), { resource: 'album' }).decision).toBe('permit');
  });
  test('tells of every policy that was asked, once, in words', () => {
    const [permission] = ask(given('affirmative'), { resource: 'album' }).permissions;
    expect(permission?.reason).toBe('unanimous: outer permits');
    expect(permission?.policies.map(({ name, decision, reason }) => [name, decision, reason])).toEqual([
      ['outer', 'permit', 'unanimous: two permits'],
      ['two', 'permit', 'affirmative: no denies, yes permits'],
      ['no', 'deny', 'is none of the users bob'],
      ['yes', 'permit', 'is the user Ana'],
    ]);
  });
  test('of what can’t be decided opens nothing by being negative', () => {
    const { permissions, ...rest } = given('affirmative');
    const blind = { ...rest, permissions: permissions.map((one) => ({ ...one, policies: ['blind'] })) };
    expect(ask(blind, { resource: 'album' }).decision).toBe('deny');
  });
});

describe('a permission', () => {
  const album = { name: 'album', type: 'urn:album', scopes: ['view', 'edit'] };
  const rest = {
    scopes: [{ name: 'view' }, { name: 'edit' }],
    resources: [album, { name: 'other', scopes: ['view'] }],
    policies: [policy('yes', ['user', { users: ['ana'] }]), policy('no', ['user', { users: ['bob'] }])],
  };
  const granted = (permissions: object[], settings: Partial<AuthorizationSettings> = {}, resource = 'album') =>
    ask({ ...rest, permissions, settings }, { resource }).grantedScopes;

  test.each<[string, object, string[]]>([
    ['of a resource is about all its scopes', { resources: ['album'] }, ['edit', 'view']],
    ['of a resource’s scope is about that one', { resources: ['album'], scopes: ['view'] }, ['view']],
    ['of a type is about its resources', { resourceType: 'urn:album', scopes: ['edit'] }, ['edit']],
    ['of a scope is about that of any resource', { scopes: ['view'] }, ['view']],
    ['of another resource is about nothing here', { resources: ['other'] }, []],
    ['of another type is about nothing here', { resourceType: 'urn:photo' }, []],
  ])('%s', (_, about, scopes) => {
    expect(granted([{ name: 'p', ...about, policies: ['yes'] }])).toEqual(scopes);
  });

  test('decides by its own strategy before the settings’', () => {
    const both = { name: 'p', resources: ['album'], policies: ['yes', 'no'] };
    expect(granted([both])).toEqual([]);
    expect(granted([both], { decisionStrategy: 'affirmative' })).toEqual(['edit', 'view']);
    expect(granted([{ ...both, decisionStrategy: 'unanimous' }], { decisionStrategy: 'affirmative' })).toEqual([]);
    expect(granted([{ ...both, decisionStrategy: 'affirmative' }])).toEqual(['edit', 'view']);
  });

  test('beside another about the same thing counts by the settings’ strategy', () => {
    const two = [
      { name: 'a', resources: ['album'], policies: ['yes'] },
      { name: 'b', scopes: ['edit'], policies: ['no'] },
    ];
    expect(granted(two)).toEqual(['view']);
    expect(granted(two, { decisionStrategy: 'affirmative' })).toEqual(['edit', 'view']);
    expect(granted(two, { decisionStrategy: 'consensus' })).toEqual(['view']);
  });

  test('without policies denies, whatever is enforced', () => {
    expect(granted([{ name: 'p', resources: ['album'] }], { enforcement: 'permissive' })).toEqual([]);
  });

  test.each<[AuthorizationSettings['enforcement'], string[]]>([
    ['enforcing', []],
    ['permissive', ['edit', 'view']],
    ['disabled', ['edit', 'view']],
  ])('that is missing means, where the settings are %s, what they say', (enforcement, scopes) => {
    expect(granted([], { enforcement })).toEqual(scopes);
    expect(granted([{ name: 'p', resources: ['album'], policies: ['no'] }], { enforcement })).toEqual(
      enforcement === 'disabled' ? scopes : [],
    );
  });

  test('of a resource without scopes is about the resource itself', () => {
    const plain = { resources: [{ name: 'plain' }], policies: rest.policies };
    const permissions = [{ name: 'p', resources: ['plain'], policies: ['yes'] }];
    expect(ask({ ...plain, permissions }, { resource: 'plain' })).toMatchObject({ decision: 'permit', scopes: [] });
    expect(ask(plain, { resource: 'plain' })).toMatchObject({
      decision: 'deny',
      reason: 'no permission is about it, and the settings are enforcing',
    });
  });

  test.each(['enforcing', 'permissive', 'disabled'])('for what the client doesn’t have is none: %s', (enforcement) => {
    const given = { ...rest, settings: { enforcement } };
    expect(ask(given, { resource: 'gone' })).toMatchObject({
      decision: 'deny',
      reason: 'the client has no resource gone',
    });
    expect(ask(given, { resource: 'other', scopes: ['edit'] })).toMatchObject({
      decision: 'deny',
      grantedScopes: [],
      reason: 'edit: the resource has no scope edit',
    });
  });

  test('is asked about some scopes and not others: each is decided, and all of them make the decision', () => {
    const given = { ...rest, permissions: [{ name: 'p', scopes: ['view'], policies: ['yes'] }] };
    expect(ask(given, { resource: 'album', scopes: ['view'] }).decision).toBe('permit');
    expect(ask(given, { resource: 'album', scopes: ['view', 'edit'] })).toMatchObject({
      decision: 'deny',
      grantedScopes: ['view'],
      permissions: [{ name: 'p', scopes: ['view'] }],
    });
  });

  test('is not needed by the owner of what its owner manages, and nobody who is disabled has any', () => {
    const mine = { ...rest, resources: [{ ...album, owner: 'ana', ownerManaged: true }] };
    expect(ask(mine, { resource: 'album' })).toMatchObject({ decision: 'permit', grantedScopes: ['edit', 'view'] });
    expect(ask(mine, { resource: 'album' }, { username: 'bob', names: new Set() }).decision).toBe('deny');
    expect(ask(mine, { resource: 'album' }, { username: null, names: new Set() }).decision).toBe('deny');
    expect(ask(mine, { resource: 'album' }, { enabled: false })).toMatchObject({
      decision: 'deny',
      reason: 'edit: the user ana is disabled; view: the user ana is disabled',
    });
    const kept = { ...rest, resources: [{ ...album, owner: 'ana' }] };
    expect(ask(kept, { resource: 'album' }).decision).toBe('deny');
  });
});

describe('what is written', () => {
  const paths = (given: object) => faultsOf(services(given)).map(({ path, message }) => `${path} ${message}`);
  test('names each thing once, and nothing that the client doesn’t have', () => {
    expect(
      paths({
        resources: [{ name: 'a', scopes: ['x'] }, { name: 'a' }],
        policies: [policy('p', ['aggregate', { policies: ['q'] }])],
        permissions: [{ name: 'r', resources: ['b'], scopes: ['y'], policies: ['z'] }],
      }),
    ).toEqual([
      'resources[1].name there are two of the name a',
      'resources[0].scopes the client has no scope x',
      'policies[0].config.policies the client has no policy q',
      'permissions[0].resources the client has no resource b',
      'permissions[0].scopes the client has no scope y',
      'permissions[0].policies the client has no policy z',
    ]);
  });

  test('has no aggregate that comes back to itself', () => {
    const aggregate = (name: string, ...policies: string[]) => policy(name, ['aggregate', { policies }]);
    expect(paths({ policies: [aggregate('a', 'b'), aggregate('b', 'c'), aggregate('c', 'a')] })).toEqual([
      'policies[0].config.policies must not come back to itself: a → b → c → a',
    ]);
    expect(paths({ policies: [aggregate('a', 'a')] })).toHaveLength(1);
    const diamond = [
      aggregate('a', 'b', 'c'),
      aggregate('b', 'd'),
      aggregate('c', 'd'),
      policy('d', ['user', { users: ['x'] }]),
    ];
    expect(paths({ policies: diamond })).toEqual([]);
  });

  test('may have a chain of aggregates as long as the list', () => {
    const chain = Array.from({ length: 2000 }, (_, n) =>
      n === 1999
        ? policy('p1999', ['user', { users: ['ana'] }])
        : policy(`p${n}`, ['aggregate', { policies: [`p${n + 1}`] }]),
    );
    const given = {
      policies: chain,
      resources: [{ name: 'a' }],
      permissions: [{ name: 'x', resources: ['a'], policies: ['p0'] }],
    };
    expect(circlesOf(services(given).policies)).toEqual([]);
    expect(ask(given, { resource: 'a' }).decision).toBe('permit');
  });

  test.each<[string, unknown, string]>([
    ['a field of another type', { type: 'user', config: { users: ['a'], groups: ['/a'] } }, 'config.groups'],
    ['nothing of its type', { type: 'user', config: {} }, 'config.users'],
    ['an empty list', { type: 'group', config: { groups: [] } }, 'config.groups'],
    ['neither roles nor client roles', { type: 'role', config: { clientRoles: { shop: [] } } }, 'config'],
    ['no attribute', { type: 'attribute', config: { values: ['x'] } }, 'config.attribute'],
    ['a time without its end', { type: 'time', config: { from: '08:00' } }, 'config'],
    ['no time of day', { type: 'time', config: { from: '8:00', until: '24:00' } }, 'config.from'],
    ['hours that are none', { type: 'time', config: { from: '08:00', until: '08:00' } }, 'config.until'],
    ['no time zone', { type: 'time', config: { months: [1], timeZone: 'Europe/Nowhere' } }, 'config.timeZone'],
    ['a day that no month has', { type: 'time', config: { daysOfMonth: [32] } }, 'config.daysOfMonth'],
    ['a moment without an offset', { type: 'time', config: { notBefore: '2026-01-01T00:00:00' } }, 'config.notBefore'],
    ['an unknown type', { type: 'script', config: {} }, 'type'],
    ['an unknown field', { type: 'user', config: { users: ['a'], code: 'x' } }, 'config'],
  ])('is refused with %s', (_, given, path) => {
    const parsed = AuthorizationServiceDocument.safeParse({
      clientId: 'x',
      policies: [{ name: 'p', ...Object(given) }],
    });
    const found = parsed.error?.issues.map((issue) =>
      issue.path
        .slice(2)
        .filter((part) => typeof part === 'string')
        .join('.'),
    );
    expect(found).toContain(path);
  });

  test('has no permission about nothing', () => {
    expect(AuthorizationServiceDocument.safeParse({ clientId: 'x', permissions: [{ name: 'p' }] }).success).toBe(false);
  });
});
