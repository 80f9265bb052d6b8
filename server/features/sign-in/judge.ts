// What somebody who has proven something still has to do, pure: the engine's verdict on the tree and the realm's settings as
// they are now, with the conditions looked at. A sign-in under way is judged by it, and so is a session that would do without one.
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { type Factor, type Factors, isPassOf, SECOND_FACTOR } from '../../domain/factors.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import type { TreeNode } from '../flows/tree.ts';
import type { Risk } from '../risk/score.ts';
import { type Ask, type Facts, next, type Progress, type Verdict } from './engine.ts';

/** What is asked of people. */
export interface Demand {
  tree: readonly TreeNode[];
  settings: Pick<RealmSettingsDto, 'requireMfa'>;
  /** Beyond the tree's own; 0: nothing. */
  requiredLevel: number;
}

/** Who is judged by it. */
export interface Judged {
  known: boolean;
  factors: readonly Factor[];
  /** Types of credentials that the person has set up. */
  types: readonly string[];
  risk: Pick<Risk, 'action' | 'band'> | undefined;
  chosen?: string | undefined;
}

export type Judgement = (Ask & { config: Record<string, unknown> }) | Extract<Verdict, { do: 'passed' | 'failed' }>;

export function createJudge({ registry, factors }: { registry: readonly AuthenticatorRecord[]; factors: Factors }) {
  const facts = new Map<string, Facts>(registry.map((entry) => [entry.id, entry]));
  const records = new Map(registry.map((entry) => [entry.id, entry]));
  const methods = registry.filter((entry) => entry.category === 'METHOD');

  return function judge({ tree, settings, requiredLevel }: Demand, person: Judged): Judgement {
    const { types, risk } = person;
    const nodes = new Map(flat(tree).map((node) => [node.executionId, node]));
    const suspicious = risk?.action === 'step_up';
    const conditions = new Map<string, boolean>();
    const progress: Progress = {
      userKnown: person.known,
      proven: new Set(person.factors.map(({ authenticator }) => authenticator)),
      otherwise: new Set(
        [...nodes.values()]
          .filter(
            ({ authenticatorId, config }) => !person.factors.some((f) => isPassOf(f, authenticatorId ?? '', config)),
          )
          .map(({ executionId }) => executionId),
      ),
      enrolled: new Set(methods.filter((m) => types.includes(m.credentialType)).map(({ id }) => id)),
      conditions,
      failed: new Set(),
      chosen: person.chosen,
      requiredLevel: Math.max(requiredLevel, settings.requireMfa || suspicious ? SECOND_FACTOR : 0),
      noEnrolment: suspicious,
    };
    const seen = {
      secondFactor: factors.secondTypes.some((type) => types.includes(type)),
      riskAction: risk?.action,
      riskBand: risk?.band,
    };
    for (;;) {
      const verdict = next(tree, progress, facts);
      if (verdict.do === 'ask') return { ...verdict, config: nodes.get(verdict.executionId)?.config ?? {} };
      if (verdict.do !== 'check') return verdict;
      const condition = records.get(verdict.authenticatorId);
      const config = nodes.get(verdict.executionId)?.config ?? {};
      // An authenticator that this server doesn't have (any more) never lets anybody by: the step behind it is asked.
      conditions.set(verdict.executionId, condition?.category === 'CONDITION' ? condition.holds(seen, config) : true);
    }
  };
}
export type Judge = ReturnType<typeof createJudge>;

const flat = (nodes: readonly TreeNode[]): TreeNode[] => nodes.flatMap((node) => [node, ...flat(node.children)]);
