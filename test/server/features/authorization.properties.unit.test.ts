// What holds of every model of authorization services, whatever its policies. Decisions "Authorization services".
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AuthorizationPolicy, DecisionStrategy } from '../../../server/contract/authorization-services.ts';
import { evaluator, modelOf } from '../../../server/features/configuration/authorization-services/evaluate.ts';
import type {
  ExistingNames,
  Requester,
} from '../../../server/features/configuration/authorization-services/policies.ts';
import { circlesOf, type Services } from '../../../server/features/configuration/authorization-services/rules.ts';
import {
  combinedVote,
  negatedVote,
  type Vote,
} from '../../../server/features/configuration/authorization-services/vote.ts';

const strategies = fc.constantFrom<DecisionStrategy>('unanimous', 'affirmative', 'consensus');
const vote = fc.constantFrom<Vote>('permit', 'deny', 'undecided');
const SCOPES = ['view', 'edit', 'delete'];
const ROLES = ['a', 'b', 'c', 'd'];

/** Policies of which each aggregate names only later ones. */
const policies = fc
  .array(
    fc.record({
      logic: fc.constantFrom('positive' as const, 'negative' as const),
      roles: fc.subarray(ROLES, { minLength: 1 }),
      inner: fc.array(fc.nat(30), { maxLength: 4 }),
      decisionStrategy: strategies,
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((list) =>
    list.map(({ logic, roles, inner, decisionStrategy }, n): AuthorizationPolicy => {
      const later = inner.filter((i) => i > n && i < list.length).map((i) => `p${i}`);
      return later.length > 0
        ? { name: `p${n}`, type: 'aggregate', logic, config: { policies: later, decisionStrategy } }
        : { name: `p${n}`, type: 'role', logic, config: { roles } };
    }),
  );
const models = fc
  .record({
    policies,
    permissions: fc.array(
      fc.record({
        scopes: fc.subarray(SCOPES),
        uses: fc.array(fc.nat(11), { maxLength: 4 }),
        decisionStrategy: fc.option(strategies),
      }),
      { maxLength: 6 },
    ),
    decisionStrategy: strategies,
    enforcement: fc.constantFrom('enforcing' as const, 'permissive' as const, 'disabled' as const),
  })
  .map(
    ({ policies: all, permissions, decisionStrategy, enforcement }): Services => ({
      settings: { enforcement, decisionStrategy, remoteResources: false, accessApi: 'none' },
      scopes: SCOPES.map((name) => ({ name, displayName: null })),
      resources: [
        {
          name: 'r',
          displayName: null,
          type: null,
          uris: [],
          scopes: SCOPES,
          owner: null,
          ownerManaged: false,
          attributes: {},
        },
      ],
      policies: all,
      permissions: permissions.map(({ scopes, uses, decisionStrategy: own }, n) => ({
        name: `x${n}`,
        resources: ['r'],
        resourceType: null,
        scopes,
        policies: [...new Set(uses.filter((i) => i < all.length).map((i) => `p${i}`))],
        decisionStrategy: own,
      })),
    }),
  );
const requesters = fc.subarray(ROLES).map(
  (realm): Requester => ({
    called: 'somebody',
    enabled: true,
    username: 'somebody',
    names: new Set(),
    groups: [],
    roles: { realm, clients: {} },
    attributes: {},
    clientId: null,
    at: new Date(0),
    context: {},
  }),
);
const knowing = (roles: readonly string[]): ExistingNames => ({
  roles: new Set(roles),
  clientRoles: new Set(),
  groups: new Set(),
  clients: new Set(),
});
const ask = (
  services: Services,
  requester: Requester,
  roles: readonly string[] = ROLES,
  scopes: readonly string[] = [],
) => evaluator(modelOf(services, knowing(roles)), requester)({ resource: 'r', scopes });

test('the order of votes is no matter, and what is undecided could go either way', () => {
  fc.assert(
    fc.property(strategies, fc.array(vote, { maxLength: 8 }), (strategy, votes) => {
      const decided = combinedVote(strategy, votes);
      expect(combinedVote(strategy, votes.toReversed())).toBe(decided);
      const all = (instead: Vote) =>
        combinedVote(
          strategy,
          votes.map((one) => (one === 'undecided' ? instead : one)),
        );
      const [best, worst] = [all('permit'), all('deny')];
      expect(decided).toBe(best === worst ? best : 'undecided');
      expect(negatedVote(negatedVote(decided))).toBe(decided);
    }),
  );
});

test('one more vote for it never takes a permission away', () => {
  fc.assert(
    fc.property(strategies, fc.array(vote, { minLength: 1, maxLength: 8 }), (strategy, votes) => {
      if (combinedVote(strategy, votes) === 'permit')
        expect(combinedVote(strategy, [...votes, 'permit'])).toBe('permit');
      if (combinedVote(strategy, votes) === 'deny') expect(combinedVote(strategy, [...votes, 'deny'])).toBe('deny');
    }),
  );
});

/** The same written as the rules read: recursive, and without anything remembered. */
function plainly({ settings, policies: all, permissions }: Services, { roles }: Requester, scope: string): boolean {
  const count = (strategy: DecisionStrategy, votes: boolean[]) => {
    const yes = votes.filter(Boolean).length;
    if (strategy === 'unanimous') return yes > 0 && yes === votes.length;
    return strategy === 'affirmative' ? yes > 0 : yes > votes.length - yes;
  };
  const says = (name: string): boolean => {
    const policy = all.find((one) => one.name === name);
    if (!policy) throw new Error(name);
    const { roles: wanted = [], policies: inner = [], decisionStrategy = 'unanimous' } = policy.config;
    const fits =
      policy.type === 'role'
        ? wanted.some((role) => roles.realm.includes(role))
        : count(decisionStrategy, inner.map(says));
    return fits === (policy.logic === 'positive');
  };
  if (settings.enforcement === 'disabled') return true;
  const about = permissions.filter(({ scopes }) => scopes.length === 0 || scopes.includes(scope));
  if (about.length === 0) return settings.enforcement === 'permissive';
  return count(
    settings.decisionStrategy,
    about.map(({ policies: uses, decisionStrategy }) =>
      count(decisionStrategy ?? settings.decisionStrategy, uses.map(says)),
    ),
  );
}

test('each scope is decided as the rules read', () => {
  fc.assert(
    fc.property(models, requesters, (services, requester) => {
      const granted = SCOPES.filter((scope) => plainly(services, requester, scope));
      expect(ask(services, requester).grantedScopes).toEqual(granted);
    }),
    { numRuns: 500 },
  );
});

test('what is permitted though roles are gone would be permitted whoever had them', () => {
  fc.assert(
    fc.property(models, requesters, fc.subarray(ROLES), fc.subarray(ROLES), (services, requester, left, others) => {
      const having = (realm: string[]): Requester => ({ ...requester, roles: { ...requester.roles, realm } });
      const own = requester.roles.realm.filter((role) => left.includes(role));
      const gone = others.filter((role) => !left.includes(role));
      for (const scope of ask(services, having(own), left).grantedScopes)
        expect(plainly(services, having([...own, ...gone]), scope)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('the decision is that of the scopes, and the explanation bears it out', () => {
  fc.assert(
    fc.property(models, requesters, fc.subarray(SCOPES), (services, requester, scopes) => {
      const result = ask(services, requester, ROLES, scopes);
      expect(result.scopes).toEqual(scopes.length > 0 ? scopes : SCOPES);
      expect(result.decision === 'permit').toBe(result.grantedScopes.length === result.scopes.length);
      for (const { name, policies: told, decision, decisionStrategy } of result.permissions) {
        const own = services.permissions.find((one) => one.name === name)?.policies ?? [];
        const votes = own.map((policy): Vote => told.find((one) => one.name === policy)?.decision ?? 'undecided');
        expect(combinedVote(decisionStrategy, votes)).toBe(decision);
      }
    }),
  );
});

test('an aggregate is in a circle where it can reach itself, and nowhere else', () => {
  const graphs = fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(graphs, (graph) => {
      const names = (list: readonly number[]) => list.filter((i) => i < graph.length).map((i) => `p${i}`);
      const all = graph.map(
        (inner, n): AuthorizationPolicy => ({
          name: `p${n}`,
          type: 'aggregate',
          logic: 'positive',
          config: { policies: names(inner) },
        }),
      );
      const within = new Map(all.map(({ name, config }) => [name, config.policies ?? []]));
      const reaches = (from: string): boolean => {
        const seen = new Set<string>();
        const waiting = [...(within.get(from) ?? [])];
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          if (next === from) return true;
          if (!seen.has(next)) waiting.push(...(within.get(next) ?? []));
          seen.add(next);
        }
        return false;
      };
      const circles = circlesOf(all);
      expect(circles.length > 0).toBe([...within.keys()].some(reaches));
      for (const circle of circles) {
        expect(circle[0]).toBe(circle.at(-1));
        for (const [n, name] of circle.slice(0, -1).entries()) expect(within.get(name)).toContain(circle[n + 1]);
      }
    }),
  );
});
