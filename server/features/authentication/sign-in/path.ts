// The steps of a whole sign-in, pure: asks the judge again and again, and takes each step as passed. It reads nothing and
// writes nothing. Decisions "Sign-in report".
import type { RequiredAction } from '../../../contract/required-actions.ts';
import type { Factor, Factors } from '../../../domain/factors.ts';
import type { PersonStanding } from '../../../domain/standing.ts';
import type { AuthenticatorRecord, Circumstances } from '../authenticators/authenticator.ts';
import type { Risk } from '../risk/score.ts';
import type { Demand, Judge } from './judge.ts';
import type { Because } from './state.ts';

/** The user and the situation. */
export interface Situation {
  person: PersonStanding;
  /** Whether the user has what the authenticator asks for, under this configuration. */
  able(authenticatorId: string, config: Record<string, unknown>): boolean;
  circumstances: Circumstances;
  /** undefined: nothing is known of a risk. It counts from the moment at which the user is known. */
  risk: Pick<Risk, 'action' | 'band'> | undefined;
  /** The proofs of the user's session. */
  factors: readonly Factor[];
}

export interface PathStep {
  kind: 'proof' | 'set-up' | 'action';
  authenticatorId: string | null;
  action: RequiredAction | null;
  /** Whether the user can do the step itself. */
  able: boolean;
  others: { authenticatorId: string; config: Record<string, unknown>; able: boolean }[];
}
export type PathEnd =
  | { ends: 'signed-in'; level: number }
  | { ends: 'refused'; because: Because }
  /** The user can't do the last step. */
  | { ends: 'stuck' };
export type Path = { steps: PathStep[] } & PathEnd;

/** More steps than any flow and all required actions have. */
const MOST_STEPS = 80;

export function pathOf(
  { judge, factors: all, registry }: { judge: Judge; factors: Factors; registry: readonly AuthenticatorRecord[] },
  demand: Demand,
  { person: found, able, circumstances, risk, factors: before }: Situation,
  at: Date,
): Path {
  const methods = new Map(registry.flatMap((entry) => (entry.category === 'METHOD' ? [[entry.id, entry]] : [])));
  const steps: PathStep[] = [];
  const factors: Factor[] = [...before];
  let person = found;

  /** The user's state after a required action. */
  const acted = (action: RequiredAction): PersonStanding => ({
    ...person,
    actions: person.actions.filter((one) => one !== action),
    ...(action === 'UPDATE_PASSWORD' && { passwordSetAt: at }),
    ...(action === 'TERMS' && { termsVersion: demand.settings.termsVersion }),
  });

  for (let n = 0; n < MOST_STEPS; n += 1) {
    const known = all.identify(factors);
    if (known && risk?.action === 'deny') return { steps, ends: 'refused', because: 'risk' };
    if (known && !person.enabled) return { steps, ends: 'refused', because: 'disabled' };
    const next = judge(demand, {
      known,
      factors,
      person: known ? person : undefined,
      risk: known ? risk : undefined,
      circumstances: known ? circumstances : { ...circumstances, person: undefined },
    });
    if (next.do === 'finish') return { steps, ends: 'signed-in', level: next.level };
    if (next.do === 'refused') return { steps, ends: 'refused', because: next.because };
    if (next.do === 'act') {
      steps.push({ kind: 'action', authenticatorId: null, action: next.action, able: true, others: [] });
      person = acted(next.action);
      continue;
    }
    const ways = [next, ...next.others].map(({ authenticatorId, config }) => ({
      authenticatorId,
      config,
      able: (next.enrol && authenticatorId === next.authenticatorId) || able(authenticatorId, config),
    }));
    const [first, ...others] = ways;
    const taken = ways.find((way) => way.able);
    steps.push({
      kind: next.enrol ? 'set-up' : 'proof',
      authenticatorId: next.authenticatorId,
      action: next.action ?? null,
      able: first?.able ?? false,
      others,
    });
    if (!taken) return { steps, ends: 'stuck' };
    const { authenticatorId, config } = taken;
    factors.push({ authenticator: authenticatorId, at: at.getTime(), config });
    const type = methods.get(authenticatorId)?.credential?.type;
    if (next.enrol && type !== undefined) person = { ...person, types: [...new Set([...person.types, type])] };
    if (next.action) person = acted(next.action);
  }
  return { steps, ends: 'refused', because: 'exhausted' };
}
