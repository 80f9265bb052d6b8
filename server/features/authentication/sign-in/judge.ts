// Judges what a user still has to do, pure: the engine's verdict on the tree with evaluated conditions and the present
// settings, then required actions. It judges running sign-ins, and sessions that would need no sign-in.

import { DAY_MS } from '../../../contract/durations.ts';
import { BY_PROVIDER } from '../../../contract/flows.ts';
import type { RequiredAction } from '../../../contract/required-actions.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { type Factor, type Factors, isPassOf, SECOND_FACTOR } from '../../../domain/factors.ts';
import type { PersonStanding } from '../../../domain/standing.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import type { AuthenticatorRecord, Circumstances, Method } from '../authenticators/authenticator.ts';
import type { Risk } from '../risk/score.ts';
import { type Ask, type Facts, nextVerdict, type Progress, proofFirst } from './engine.ts';
import type { Because } from './state.ts';

/** The demands of a flow and a realm. */
export interface Demand {
  tree: readonly TreeNode[];
  settings: Pick<RealmSettingsDto, 'requireMfa' | 'passwordMaxAgeDays' | 'termsVersion'>;
  /** A level beyond the tree's own; 0: none. */
  requiredLevel: number;
}

/** The user and proofs to judge. */
export interface Judged {
  known: boolean;
  factors: readonly Factor[];
  /** The user's credentials, required actions and so on; undefined: no step has identified the user yet. */
  person: Omit<PersonStanding, 'enabled' | 'locale'> | undefined;
  risk: Pick<Risk, 'action' | 'band'> | undefined;
  circumstances: Circumstances;
  chosen?: string | undefined;
}

type Config = Record<string, unknown>;
type Offered = Ask['others'][number] & { config: Config };
export type NextStep =
  /** `action`: a required action asks for the step, not the flow. */
  | (Omit<Ask, 'others'> & { config: Config; others: Offered[]; action?: RequiredAction })
  /** The user must do it before the session begins. */
  | { do: 'act'; action: RequiredAction }
  | { do: 'finish'; level: number }
  | { do: 'refused'; because: Because };
/** The steps with a page to fill in. */
export type PageAsked = Extract<NextStep, { do: 'ask' | 'act' }>;

export const isPage = (nextStep: NextStep): nextStep is PageAsked => nextStep.do === 'ask' || nextStep.do === 'act';
/** The step sets up a credential or shows a secret, so it needs a fresh proof. */
export const isSetUp = (nextStep: NextStep): nextStep is PageAsked =>
  nextStep.do === 'act' || (nextStep.do === 'ask' && nextStep.enrol);
/** The step that a form answers: the next step, or an alternative on its page. */
export function stepNamed(nextStep: NextStep, name: string | undefined): PageAsked | undefined {
  if (!isPage(nextStep) || name === idOf(nextStep)) return isPage(nextStep) ? nextStep : undefined;
  const other = nextStep.do === 'ask' ? nextStep.others.find(({ executionId }) => executionId === name) : undefined;
  return other && { do: 'ask', ...other, enrol: false, others: [] };
}

/** The step's name in its form. */
export const idOf = (asked: PageAsked): string => (asked.do === 'ask' ? asked.executionId : asked.action);

export function createJudge({
  registry,
  factors,
  now,
}: {
  registry: readonly AuthenticatorRecord[];
  factors: Factors;
  now: () => Date;
}) {
  const facts = new Map<string, Facts>(registry.map((entry) => [entry.id, entry]));
  const records = new Map(registry.map((entry) => [entry.id, entry]));
  const methods = registry.filter((entry) => entry.category === 'METHOD');

  /** The input for the engine's walk of the tree. */
  function laidOut({ tree, settings, requiredLevel }: Demand, judged: Judged) {
    const { person, risk } = judged;
    const nodes = new Map(flat(tree).map((node) => [node.executionId, node]));
    // A method that the flow contains, even disabled, doesn't stand in for another one.
    const standIns = methods.filter(
      ({ id, standsFor }) => standsFor && ![...nodes.values()].some(({ authenticatorId }) => authenticatorId === id),
    );
    const passed = judged.factors.flatMap((factor) => {
      const standsFor = standIns.find(({ id }) => id === factor.authenticator)?.standsFor;
      return standsFor === undefined ? [factor] : [factor, { authenticator: standsFor, at: factor.at }];
    });
    const suspicious = risk?.action === 'step_up';
    const conditions = new Map<string, boolean>();
    const progress: Progress = {
      userKnown: judged.known,
      proven: new Set(passed.map(({ authenticator }) => authenticator)),
      otherwise: new Set(
        [...nodes.values()]
          .filter(({ authenticatorId, config }) => !passed.some((f) => isPassOf(f, authenticatorId ?? '', config)))
          .map(({ executionId }) => executionId),
      ),
      enrolled: new Set(methods.filter((m) => person && isAvailable(m, person)).map(({ id }) => id)),
      held: new Set(
        person && factors.haveSecond(person.types) ? methods.filter((m) => holds(m, person)).map(({ id }) => id) : [],
      ),
      conditions,
      failed: new Set(),
      chosen: judged.chosen,
      requiredLevel: Math.max(requiredLevel, settings.requireMfa || suspicious ? SECOND_FACTOR : 0),
      noEnrolment: suspicious,
    };
    const configOf = ({ executionId }: { executionId: string }): Config => nodes.get(executionId)?.config ?? {};
    const shown = ({ others, ...first }: Ask): NextStep => {
      const inFlow = [first, ...others].map((one) => ({ ...one, config: configOf(one) }));
      const beside = judged.known ? [] : standIns.filter((m) => inFlow.some((o) => o.authenticatorId === m.standsFor));
      const all: Offered[] = [
        ...inFlow,
        ...beside.map(({ id }) => ({ executionId: id, authenticatorId: id, config: {} })),
      ];
      const picked = all.find((one) => isChosen(one, judged.chosen)) ?? { ...first, config: configOf(first) };
      const { executionId, authenticatorId, config } = picked;
      const enrol = executionId === first.executionId && first.enrol;
      const rest = all.filter((one) => one.executionId !== executionId);
      return { do: 'ask', executionId, authenticatorId, enrol, config, others: rest.map(offered) };
    };
    return { tree, progress, conditions, configOf, shown };
  }
  type LaidOut = ReturnType<typeof laidOut>;

  function byTree({ tree, progress, conditions, configOf, shown }: LaidOut, { person, risk, circumstances }: Judged) {
    const seen = {
      ...circumstances,
      secondFactor: factors.haveSecond(person?.types ?? []),
      riskAction: risk?.action,
      riskBand: risk?.band,
      requiredLevel: progress.requiredLevel,
    };
    for (;;) {
      const verdict = nextVerdict(tree, progress, facts);
      if (verdict.do === 'ask') return shown(verdict);
      if (verdict.do === 'passed') return { do: 'finish', level: verdict.level } as const;
      if (verdict.do === 'failed') return { do: 'refused', because: verdict.because } as const;
      const condition = records.get(verdict.authenticatorId);
      const config = configOf(verdict);
      // A condition that this server doesn't know counts as true, so that the steps behind it are asked.
      conditions.set(verdict.executionId, condition?.category === 'CONDITION' ? condition.holds(seen, config) : true);
    }
  }

  /** The next required action of an authenticated user. */
  function required(person: NonNullable<Judged['person']>, settings: Demand['settings']): NextStep | undefined {
    const [action] = dueActions(person, settings, now());
    if (!action) return undefined;
    const method = methods.find(({ credential }) => credential?.setUpBy === action);
    if (!method) return { do: 'act', action };
    const executionId = `configure-${method.id}`;
    return { do: 'ask', executionId, authenticatorId: method.id, enrol: true, others: [], config: {}, action };
  }

  return function judge(demand: Demand, judged: Judged): NextStep {
    const set = laidOut(demand, judged);
    const nextStep: NextStep = byTree(set, judged);
    const action = nextStep.do === 'finish' && judged.person && required(judged.person, demand.settings);
    if (!action) return nextStep;
    const proof = addsWay(action) ? proofFirst({ ...set, registry: facts }) : undefined;
    return proof ? set.shown(proof) : action;
  };
}
export type Judge = ReturnType<typeof createJudge>;

/** Adds a credential, or an address to which codes will be sent. */
const addsWay = (action: NextStep): boolean =>
  action.do === 'ask' ||
  (action.do === 'act' && (action.action === 'VERIFY_EMAIL' || action.action === 'VERIFY_PHONE'));

const offered = ({ executionId, authenticatorId, config }: Offered): Offered => ({
  executionId,
  authenticatorId,
  config,
});
const isChosen = ({ executionId, authenticatorId }: Offered, chosen: string | undefined): boolean =>
  executionId === chosen || (chosen === BY_PROVIDER && authenticatorId === BY_PROVIDER);

const isAvailable = (
  { availableTo, credential }: Method,
  person: Omit<PersonStanding, 'enabled' | 'locale'>,
): boolean => availableTo?.(person) ?? person.types.includes(credential?.type ?? '');

/** A second factor that the user holds, or its replacement. An address for codes alone doesn't count. */
const holds = (method: Method, person: Omit<PersonStanding, 'enabled' | 'locale'>): boolean =>
  method.levelOfAssurance >= SECOND_FACTOR && isAvailable(method, { ...person, reach: { EMAIL: null, SMS: null } });

const flat = (nodes: readonly TreeNode[]): TreeNode[] => nodes.flatMap((node) => [node, ...flat(node.children)]);

/** The actions that the user must do before they are signed in, in order, with those that the settings add. */
export function dueActions(
  {
    actions,
    passwordSetAt,
    termsVersion: accepted,
  }: Pick<PersonStanding, 'actions' | 'passwordSetAt' | 'termsVersion'>,
  { passwordMaxAgeDays: days, termsVersion }: Demand['settings'],
  now: Date,
): RequiredAction[] {
  const old = days > 0 && passwordSetAt !== null && now.getTime() - passwordSetAt.getTime() > days * DAY_MS;
  const terms = termsVersion !== null && termsVersion !== accepted;
  return [
    ...new Set<RequiredAction>([
      ...(old ? ['UPDATE_PASSWORD' as const] : []),
      ...actions,
      ...(terms ? ['TERMS' as const] : []),
    ]),
  ];
}
