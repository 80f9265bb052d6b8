// Owns: what a client's authorization services decide about somebody's request, and why, in words. Pure.
// Does not own: what one policy says (policies.ts), how votes are counted (vote.ts), reading the model (model.ts).
// Implements: decisions "Authorization services".
import type { EvaluationResult } from '../../contract/authorization-service-routes.ts';
import type {
  AuthorizationPermission,
  AuthorizationPolicy,
  AuthorizationResource,
  DecisionStrategy,
} from '../../contract/authorization-services.ts';
import { isPlain, type Known, listed, type Requester, type Verdict, verdictOf } from './policies.ts';
import type { Services } from './rules.ts';
import { decide, negated, type Vote } from './vote.ts';

/** A model with its names looked up once, for any number of requests. */
export interface Model {
  settings: Services['settings'];
  known: Known;
  resources: ReadonlyMap<string, AuthorizationResource>;
  policies: ReadonlyMap<string, AuthorizationPolicy>;
  permissions: readonly AuthorizationPermission[];
}
export interface ResourceRequest {
  resource: string;
  scopes?: readonly string[] | undefined;
}

export const modelOf = ({ settings, resources, policies, permissions }: Services, known: Known): Model => ({
  settings,
  known,
  resources: new Map(resources.map((resource) => [resource.name, resource])),
  policies: new Map(policies.map((policy) => [policy.name, policy])),
  permissions,
});

const words: Record<Vote, string> = { permit: 'permits', deny: 'denies', undecided: 'is undecided' };
const told = (vote: Vote): 'permit' | 'deny' => (vote === 'permit' ? 'permit' : 'deny');
const tally = (strategy: DecisionStrategy, votes: readonly (readonly [name: string, vote: Vote])[]): string =>
  votes.length === 0
    ? 'no policy decides, and so it denies'
    : `${strategy}: ${listed(votes.map(([name, vote]) => `${name} ${words[vote]}`))}`;

/** Verdicts of policies about one requester: each is asked once, however many permissions and aggregates name it. */
function policyVerdicts({ policies, known }: Model, requester: Requester): (name: string) => Verdict {
  const reached = new Map<string, Verdict>();
  const open = new Set<string>();
  const memberOf = ({ config }: AuthorizationPolicy) => config.policies ?? [];

  function judge(policy: AuthorizationPolicy): Verdict {
    if (isPlain(policy)) return verdictOf(policy, requester, known);
    const { decisionStrategy = 'unanimous' } = policy.config;
    const votes = memberOf(policy).map((name) => [name, reached.get(name)?.vote ?? 'undecided'] as const);
    return {
      vote: decide(
        decisionStrategy,
        votes.map(([, vote]) => vote),
      ),
      reason: tally(decisionStrategy, votes),
    };
  }
  return (wanted) => {
    // Inner ones first, by hand and not by recursion: a chain of aggregates may be as long as the list.
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
      const { vote, reason } = policy ? judge(policy) : { vote: 'undecided' as const, reason: 'is not there' };
      const not = policy?.logic === 'negative' && vote !== 'undecided';
      reached.set(name, {
        vote: not ? negated(vote) : vote,
        reason: not ? `${reason}; negative, so it ${words[negated(vote)]}` : reason,
      });
    }
    return reached.get(wanted) ?? { vote: 'undecided', reason: 'is not there' };
  };
}

/** The policy and those that it asks, each once, the asked behind the asking. */
function withInner({ policies }: Model, names: readonly string[]): AuthorizationPolicy[] {
  const all = new Set(names);
  for (const name of all) for (const inner of policies.get(name)?.config.policies ?? []) all.add(inner);
  return [...all].flatMap((name) => policies.get(name) ?? []);
}

const isAbout = (
  permission: AuthorizationPermission,
  resource: AuthorizationResource,
  scope: string | null,
): boolean => {
  const { resources, resourceType, scopes } = permission;
  const any = resources.length === 0 && resourceType === null;
  const named = any || resources.includes(resource.name) || (resourceType !== null && resourceType === resource.type);
  if (!named) return false;
  return scopes.length === 0 || (scope !== null && scopes.includes(scope));
};

interface Judged {
  permission: AuthorizationPermission;
  strategy: DecisionStrategy;
  vote: Vote;
  reason: string;
}

/** Answers one requester's requests. */
export function evaluator(model: Model, requester: Requester): (asked: ResourceRequest) => EvaluationResult {
  const { settings } = model;
  const verdict = policyVerdicts(model, requester);
  const judged = new Map<string, Judged>();

  function judge(permission: AuthorizationPermission): Judged {
    const before = judged.get(permission.name);
    if (before) return before;
    const strategy = permission.decisionStrategy ?? settings.decisionStrategy;
    const votes = permission.policies.map((name) => [name, verdict(name).vote] as const);
    const vote = decide(
      strategy,
      votes.map(([, one]) => one),
    );
    const now = { permission, strategy, vote, reason: tally(strategy, votes) };
    judged.set(permission.name, now);
    return now;
  }

  /** About one scope, or the resource itself. */
  function decided(
    resource: AuthorizationResource,
    scope: string | null,
  ): { vote: Vote; reason: string; by: Judged[] } {
    const nobody = (vote: Vote, reason: string) => ({ vote, reason, by: [] });
    if (!requester.enabled) return nobody('deny', `${requester.called} is disabled`);
    if (scope !== null && !resource.scopes.includes(scope)) return nobody('deny', `the resource has no scope ${scope}`);
    if (settings.enforcement === 'disabled') return nobody('permit', 'nothing is enforced');
    const { owner, ownerManaged } = resource;
    if (ownerManaged && owner !== null && owner.toLowerCase() === requester.username?.toLowerCase())
      return nobody('permit', `${requester.called} owns it`);
    const by = model.permissions.filter((permission) => isAbout(permission, resource, scope)).map(judge);
    if (by.length === 0) {
      const open = settings.enforcement === 'permissive';
      return nobody(
        open ? 'permit' : 'deny',
        `no permission is about it, and the settings are ${settings.enforcement}`,
      );
    }
    const votes = by.map(({ permission: { name }, vote }) => [name, vote] as const);
    const vote = decide(
      settings.decisionStrategy,
      votes.map(([, one]) => one),
    );
    return { vote, by, reason: tally(settings.decisionStrategy, votes) };
  }

  const outcome = ({ permission, strategy, vote, reason }: Judged, scopes: string[]) => ({
    name: permission.name,
    scopes,
    decisionStrategy: strategy,
    decision: told(vote),
    reason,
    policies: withInner(model, permission.policies).map(({ name, type, logic }) => {
      const { vote: own, reason: why } = verdict(name);
      return { name, type, logic, decision: told(own), reason: why };
    }),
  });

  return ({ resource: name, scopes: wanted = [] }) => {
    const resource = model.resources.get(name);
    if (!resource) {
      const reason = `the client has no resource ${name}`;
      return { resource: name, scopes: [...wanted], decision: 'deny', grantedScopes: [], reason, permissions: [] };
    }
    const scopes = [...new Set(wanted.length > 0 ? wanted : resource.scopes)];
    const each = (scopes.length > 0 ? scopes : [null]).map((scope) => ({ scope, ...decided(resource, scope) }));
    const about = new Map<Judged, string[]>();
    for (const { scope, by } of each)
      for (const one of by) about.set(one, [...(about.get(one) ?? []), ...(scope === null ? [] : [scope])]);
    return {
      resource: name,
      scopes,
      decision: each.every(({ vote }) => vote === 'permit') ? 'permit' : 'deny',
      grantedScopes: each.flatMap(({ scope, vote }) => (scope !== null && vote === 'permit' ? [scope] : [])),
      reason: each.map(({ scope, reason }) => (scope === null ? reason : `${scope}: ${reason}`)).join('; '),
      permissions: [...about].map(([one, of]) => outcome(one, of)),
    };
  };
}
