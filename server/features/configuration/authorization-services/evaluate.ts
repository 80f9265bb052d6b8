// Owns: a decision about a request by a client's authorization services, with its reasons as text if wanted. Pure.
// Does not own: the vote of one policy (policies.ts), the count of votes (vote.ts), reading the model (model.ts).
// Implements: decisions "Authorization services".
import type { EvaluationResult } from '../../../contract/authorization-service-routes.ts';
import type {
  AuthorizationPermission,
  AuthorizationPolicy,
  AuthorizationResource,
  DecisionStrategy,
} from '../../../contract/authorization-services.ts';
import { type ExistingNames, isPlain, listNames, type Requester, type Verdict, verdictOf } from './policies.ts';
import type { Services } from './rules.ts';
import { combinedVote, negatedVote, type Vote } from './vote.ts';

/** A model with its names looked up once, for any number of requests. */
export interface Model {
  settings: Services['settings'];
  known: ExistingNames;
  /** The usernames in policies and of the resources' owners. */
  usernames: readonly string[];
  resources: ReadonlyMap<string, AuthorizationResource>;
  policies: ReadonlyMap<string, AuthorizationPolicy>;
  permissions: readonly AuthorizationPermission[];
}
export interface ResourceRequest {
  /** The name of a configured resource, or the id of a registered one. */
  resource: string;
  scopes?: readonly string[] | undefined;
}
/** The data of a resource that decisions use. */
export type Protected = Pick<AuthorizationResource, 'name' | 'type' | 'scopes' | 'owner' | 'ownerManaged'>;

/**
 * The part of a decision's input that is no configuration: registered resources, and those that owners share with the
 * requester.
 */
export interface Runtime {
  registered: ReadonlyMap<string, Protected>;
  /** Shares by resource, with all names of their owners. A share is valid while its owner still owns the resource. */
  shared: ReadonlyMap<string, { owners: readonly string[]; scopes: ReadonlySet<string> }>;
}
const nothing: Runtime = { registered: new Map(), shared: new Map() };

export const modelOf = ({ settings, resources, policies, permissions }: Services, known: ExistingNames): Model => ({
  settings,
  known,
  usernames: [
    ...new Set([
      ...policies.flatMap(({ config }) => config.users ?? []),
      ...resources.flatMap(({ owner }) => owner ?? []),
    ]),
  ],
  resources: new Map(resources.map((resource) => [resource.name, resource])),
  policies: new Map(policies.map((policy) => [policy.name, policy])),
  permissions,
});

const words: Record<Vote, string> = { permit: 'permits', deny: 'denies', undecided: 'is undecided' };
const told = (vote: Vote): 'permit' | 'deny' => (vote === 'permit' ? 'permit' : 'deny');
const tally = (strategy: DecisionStrategy, votes: readonly (readonly [name: string, vote: Vote])[]): string =>
  votes.length === 0
    ? 'no policy decides, and so it denies'
    : `${strategy}: ${listNames(votes.map(([name, vote]) => `${name} ${words[vote]}`))}`;

const absent: Verdict = { vote: 'undecided', why: () => 'is not there' };

/**
 * Verdicts of policies about one requester: each policy is evaluated once, however many permissions and aggregates name
 * it.
 */
function policyVerdicts({ policies, known }: Model, requester: Requester): (name: string) => Verdict {
  const reached = new Map<string, Verdict>();
  const open = new Set<string>();
  const memberOf = ({ config }: AuthorizationPolicy) => config.policies ?? [];

  function judge(policy: AuthorizationPolicy): Verdict {
    if (isPlain(policy)) return verdictOf(policy, requester, known);
    const { decisionStrategy = 'unanimous' } = policy.config;
    const votes = memberOf(policy).map((name) => [name, reached.get(name)?.vote ?? 'undecided'] as const);
    return {
      vote: combinedVote(
        decisionStrategy,
        votes.map(([, vote]) => vote),
      ),
      why: () => tally(decisionStrategy, votes),
    };
  }
  return (wanted) => {
    // Evaluates inner policies first, without recursion: a chain of aggregates may be as long as the list.
    const waiting = [wanted];
    for (let name = waiting.at(-1); name !== undefined; name = waiting.at(-1)) {
      const policy = policies.get(name);
      const inner = policy && !reached.has(name) ? memberOf(policy).filter((n) => !reached.has(n) && !open.has(n)) : [];
      if (inner.length > 0) {
        open.add(name);
        waiting.push(...inner);
        continue;
      }
      waiting.pop();
      open.delete(name);
      if (reached.has(name)) continue;
      const { vote, why } = policy ? judge(policy) : absent;
      const not = policy?.logic === 'negative' && vote !== 'undecided';
      reached.set(
        name,
        not
          ? { vote: negatedVote(vote), why: () => `${why()}; negative, so it ${words[negatedVote(vote)]}` }
          : { vote, why },
      );
    }
    return reached.get(wanted) ?? absent;
  };
}

/** The policies and all that they aggregate, each once; inner policies come after those that name them. */
function withInner({ policies }: Model, names: readonly string[]): AuthorizationPolicy[] {
  const all = new Set(names);
  for (const name of all) for (const inner of policies.get(name)?.config.policies ?? []) all.add(inner);
  return [...all].flatMap((name) => policies.get(name) ?? []);
}

const isAbout = (
  { resources, resourceType, scopes }: AuthorizationPermission,
  { key, type, scope }: { key: string; type: string | null; scope: string | null },
): boolean => {
  const any = resources.length === 0 && resourceType === null;
  const named = any || resources.includes(key) || (resourceType !== null && resourceType === type);
  if (!named) return false;
  return scopes.length === 0 || (scope !== null && scopes.includes(scope));
};

interface Judged {
  permission: AuthorizationPermission;
  strategy: DecisionStrategy;
  vote: Vote;
  why(): string;
}
/** The decision about one scope, or the resource itself. */
export interface Decided {
  scope: string | null;
  vote: Vote;
  /** Permitted because the owner shares the resource. */
  shared: boolean;
  why(): string;
  by: readonly Judged[];
}

/** Decides one requester's requests; undefined: there is no such resource. */
export function decider(
  model: Model,
  requester: Requester,
  { registered, shared }: Runtime = nothing,
): { verdict(policy: string): Verdict; decide(asked: ResourceRequest): Decided[] | undefined } {
  const { settings } = model;
  const verdict = policyVerdicts(model, requester);
  const judged = new Map<string, Judged>();

  function judge(permission: AuthorizationPermission): Judged {
    const before = judged.get(permission.name);
    if (before) return before;
    const strategy = permission.decisionStrategy ?? settings.decisionStrategy;
    const votes = permission.policies.map((name) => [name, verdict(name).vote] as const);
    const vote = combinedVote(
      strategy,
      votes.map(([, one]) => one),
    );
    const now = { permission, strategy, vote, why: () => tally(strategy, votes) };
    judged.set(permission.name, now);
    return now;
  }

  function decided(key: string, resource: Protected, scope: string | null): Decided {
    const so = (vote: Vote, reason: string, more: Partial<Decided> = {}): Decided => ({
      scope,
      vote,
      shared: false,
      why: () => reason,
      by: [],
      ...more,
    });
    if (!requester.enabled) return so('deny', `${requester.called} is disabled`);
    if (scope !== null && !resource.scopes.includes(scope)) return so('deny', `the resource has no scope ${scope}`);
    if (settings.enforcement === 'disabled') return so('permit', 'nothing is enforced');
    const { owner, ownerManaged } = resource;
    if (ownerManaged && owner !== null) {
      // A registered resource has its owner's very username.
      if (owner === requester.username || requester.names.has(owner))
        return so('permit', `${requester.called} owns it`);
      const share = shared.get(key);
      if (scope !== null && share?.scopes.has(scope) && share.owners.includes(owner))
        return so('permit', 'its owner shares it', { shared: true });
    }
    const by = model.permissions
      .filter((permission) => isAbout(permission, { key, type: resource.type, scope }))
      .map(judge);
    if (by.length === 0) {
      const open = settings.enforcement === 'permissive';
      const reason = `no permission is about it, and the settings are ${settings.enforcement}`;
      return so(open ? 'permit' : 'deny', reason);
    }
    const votes = by.map(({ permission: { name }, vote }) => [name, vote] as const);
    const vote = combinedVote(
      settings.decisionStrategy,
      votes.map(([, one]) => one),
    );
    return { scope, vote, shared: false, by, why: () => tally(settings.decisionStrategy, votes) };
  }

  return {
    verdict,
    decide({ resource: key, scopes: wanted = [] }) {
      const resource = model.resources.get(key) ?? registered.get(key);
      if (!resource) return undefined;
      const scopes = [...new Set(wanted.length > 0 ? wanted : resource.scopes)];
      return (scopes.length > 0 ? scopes : [null]).map((scope) => decided(key, resource, scope));
    },
  };
}

/** Decides one requester's requests, and explains the decisions as text. */
export function evaluator(
  model: Model,
  requester: Requester,
  runtime?: Runtime,
): (asked: ResourceRequest) => EvaluationResult {
  const { verdict, decide: decideAll } = decider(model, requester, runtime);

  const outcome = ({ permission, strategy, vote, why }: Judged, scopes: string[]) => ({
    name: permission.name,
    scopes,
    decisionStrategy: strategy,
    decision: told(vote),
    reason: why(),
    policies: withInner(model, permission.policies).map(({ name, type, logic }) => {
      const own = verdict(name);
      return { name, type, logic, decision: told(own.vote), reason: own.why() };
    }),
  });

  return ({ resource: name, scopes: wanted = [] }) => {
    const each = decideAll({ resource: name, scopes: wanted });
    if (!each) {
      const reason = `the client has no resource ${name}`;
      return { resource: name, scopes: [...wanted], decision: 'deny', grantedScopes: [], reason, permissions: [] };
    }
    const about = new Map<Judged, string[]>();
    for (const { scope, by } of each)
      for (const one of by) about.set(one, [...(about.get(one) ?? []), ...(scope === null ? [] : [scope])]);
    return {
      resource: name,
      scopes: each.flatMap(({ scope }) => scope ?? []),
      decision: each.every(({ vote }) => vote === 'permit') ? 'permit' : 'deny',
      grantedScopes: each.flatMap(({ scope, vote }) => (scope !== null && vote === 'permit' ? [scope] : [])),
      reason: each.map(({ scope, why }) => (scope === null ? why() : `${scope}: ${why()}`)).join('; '),
      permissions: [...about].map(([one, of]) => outcome(one, of)),
    };
  };
}
