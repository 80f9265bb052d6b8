// The sign-in as a state machine, pure: state × input → state × effects. run.ts runs the effects and feeds their results back as input.
//
//             sent: choose, a wrong answer             sent: the next step
//               ┌─────────┐                               ┌─────────┐
//   begun ──▶ unknown ────┴── a right answer ─────────▶ known ──────┴── ended ──▶ done
//     │         ▲   │                                   │   ▲  ▲                    ┆ the same form again within a minute
//     │         │   └── judged: no way on ──▶ refused ◀─┘   │  └╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘ ends one of its own
//     │         └────────── restart ────────────┘           │
//     └──────────── begun with a session that still says who it is
//
// After each answer the person is scored once (`score`) and judged (`judge`): by the flow and the settings as they are now.

import { mergedFactors } from '../../../domain/factors.ts';
import type { PersonStanding } from '../../../domain/standing.ts';
import type { KnownUser } from '../../people/credentials/service.ts';
import type { Form, StepVerdict } from '../authenticators/authenticator.ts';
import { idOf, type NextStep, type PageAsked, stepNamed } from './judge.ts';
import {
  type Because,
  type FinishedState,
  type IdentifiedState,
  OFFER_PASSKEY,
  type Open,
  REGISTER,
  type SignInResult,
  type SignInState,
} from './state.ts';

export type Input =
  | { do: 'begun' }
  /** A form; `nextStep`: the present demand of the sign-in, which the form answers. */
  | { do: 'sent'; form: Form; nextStep: NextStep }
  | { do: 'answered'; asked: PageAsked; verdict: StepVerdict; at: number }
  | ({ do: 'scored' } & Pick<IdentifiedState, 'risk' | 'deviceKnown' | 'deviceNew'>)
  | { do: 'judged'; nextStep: NextStep }
  /** A proof that the state rests on no longer holds. */
  | { do: 'withdrawn' };

export type Effect =
  | { do: 'verify'; asked: PageAsked; form: Form }
  | { do: 'score' }
  | { do: 'judge'; known?: PersonStanding | undefined }
  | { do: 'tell-failure'; failure: Failure }
  | { do: 'tell-challenge'; asked: Extract<NextStep, { do: 'ask' }>; user: KnownUser; risk: IdentifiedState['risk'] };

/** Why a user was not signed in, for the audit log. */
export interface Failure {
  reason: string;
  /** The name that was entered, if the user is unknown. */
  name?: string | undefined;
  user: KnownUser | undefined;
  risk: IdentifiedState['risk'];
}

export interface Transition {
  state: SignInState;
  effects: Effect[];
}

const stays = (state: SignInState): Transition => ({ state, effects: [] });

/** @param isSecond whether an authenticator is a second factor */
export function advance(state: SignInState, input: Input, isSecond: (authenticator: string) => boolean): Transition {
  if (state.is === 'done') return stays(state);
  if (input.do === 'sent' && input.form.do === 'restart') return stays(restartedState(state));
  if (input.do === 'begun') return { state, effects: toJudge(state) };
  if (state.is === 'refused') return stays(state);
  switch (input.do) {
    case 'sent':
      return sent(state, input.form, input.nextStep);
    case 'answered':
      return answered(state, input);
    case 'scored': {
      const { risk, deviceKnown, deviceNew } = input;
      return stays(state.is === 'known' ? { ...state, risk, deviceKnown, deviceNew } : state);
    }
    case 'judged':
      return judged(state, input.nextStep, isSecond);
    case 'withdrawn':
      return refused(state, 'withdrawn');
  }
}

/** A newly identified user is scored first, once. */
function toJudge(state: SignInState, known?: PersonStanding): Effect[] {
  const judge: Effect = { do: 'judge', known };
  return state.is === 'known' && !state.risk ? [{ do: 'score' }, judge] : [judge];
}

function sent(before: Open, form: Form, nextStep: NextStep): Transition {
  const state: Open = form.deviceAsked ? { ...before, rememberDevice: form.device === 'on' } : before;
  if (form.do === 'choose') {
    const offered = nextStep.do === 'ask' && nextStep.others.some((o) => o.executionId === form.execution);
    return stays(offered ? { ...state, chosen: form.execution, complaint: undefined } : state);
  }
  const asked = stepNamed(nextStep, form.step);
  if (asked) return { state, effects: [{ do: 'verify', asked, form }] };
  return nextStep.do === 'finish' ? { state, effects: [{ do: 'judge' }] } : stays(state);
}

function answered(state: Open, { asked, verdict, at }: Extract<Input, { do: 'answered' }>): Transition {
  if (verdict.do === 'again') {
    const { complaint, reason, user } = verdict;
    const { keep } = verdict;
    const kept = keep ? { ...state.kept, [idOf(asked)]: keep } : state.kept;
    const after: Open = { ...state, complaint, kept, ...(verdict.leaves && { chosen: undefined, address: undefined }) };
    // An empty reason: it was no try.
    const told = reason === '' ? [] : [failed(state, { reason, name: complaint.values?.username, user })];
    return { state: after, effects: [...told, ...toJudge(after)] };
  }
  if (verdict.do === 'ended') return refused(state, verdict.because);
  if (verdict.do === 'kept') {
    const kept = { ...state.kept, [idOf(asked)]: verdict.keep };
    const chosen = asked.do === 'ask' ? idOf(asked) : state.chosen;
    const after: Open = { ...state, chosen, kept, address: verdict.address, complaint: undefined };
    return { state: after, effects: toJudge(after) };
  }
  if (verdict.do === 'done') {
    if (state.is === 'unknown') return stays(state);
    const credentials = renewed(state.credentials, verdict.renewed);
    const after: IdentifiedState = {
      ...state,
      credentials,
      ...setUpAfter(state, asked),
      ...(idOf(asked) === OFFER_PASSKEY && { offered: true }),
      kept: {},
      complaint: undefined,
    };
    return { state: after, effects: toJudge(after) };
  }
  const user = verdict.user ?? (state.is === 'known' ? state.user : undefined);
  if (!user || asked.do !== 'ask') return stays(state);
  const { authenticatorId, config } = verdict.by ?? asked;
  const { amr, beside, credentialId, identityId, firstFlow, atEnd, signals } = verdict;
  const passed = {
    authenticator: authenticatorId,
    at,
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...(amr && { amr }),
    ...(beside && { beside }),
  };
  const base = knownAs(state, user);
  const after: IdentifiedState = {
    ...base,
    factors: mergedFactors(base.factors, [passed]),
    credentials: { ...base.credentials, ...(credentialId !== undefined && { [authenticatorId]: credentialId }) },
    ...(identityId !== undefined && { identity: identityId }),
    ...(firstFlow !== undefined && { firstFlow }),
    ...(signals && { signals }),
    ...(atEnd && { atEnd: { ...base.atEnd, [authenticatorId]: atEnd } }),
    ...setUpAfter(base, asked),
    kept: {},
    address: undefined,
    complaint: undefined,
    rememberMe: verdict.rememberMe ?? base.rememberMe,
    ...(verdict.note !== undefined && { note: verdict.note }),
  };
  return { state: after, effects: toJudge(after, verdict.standing) };
}

/** The credential that the user wants to set up, after a step that may have done so. */
const setUpAfter = ({ setUp, hasSetUp }: IdentifiedState, { action }: PageAsked) =>
  setUp !== undefined && action === setUp ? { setUp: undefined, hasSetUp: true } : { setUp, hasSetUp };

/** Earlier proofs may be another user's, so they are dropped. That user's session ends with this sign-in. */
function knownAs(state: Open, user: KnownUser): IdentifiedState {
  if (state.is === 'known' && state.user.id === user.id) return { ...state, user };
  const { version, round, purpose, before, rememberDevice, setUp, chosen, kept, address, complaint, took } = state;
  return {
    ...{ version, round, purpose, rememberDevice, setUp, chosen, kept, address, complaint, took },
    before: before && { ...before, factors: before.user.id === user.id ? before.factors : [] },
    is: 'known',
    user,
    factors: [],
    credentials: {},
    rememberMe: state.is === 'known' ? state.rememberMe : (before?.rememberMe ?? false),
    challenged: state.is === 'known' && state.challenged,
  };
}

const renewed = (credentials: IdentifiedState['credentials'], by: { old: string; now: string } | undefined) =>
  Object.fromEntries(Object.entries(credentials).map(([of, id]) => [of, id === by?.old ? by.now : id]));

/** Reports a new step to the audit log: a refusal, or a second factor. */
function judged(state: Open, nextStep: NextStep, isSecond: (authenticator: string) => boolean): Transition {
  if (nextStep.do === 'refused') return refused(state, nextStep.because);
  if (nextStep.do !== 'ask' || !isSecond(nextStep.authenticatorId) || state.is === 'unknown' || state.challenged)
    return stays(state);
  const { user, risk } = state;
  return { state: { ...state, challenged: true }, effects: [{ do: 'tell-challenge', asked: nextStep, user, risk }] };
}

function refused(state: Open, because: Because): Transition {
  const { version, round, purpose, before } = state;
  const user = state.is === 'known' ? state.user : undefined;
  return {
    state: { is: 'refused', version, round, purpose, before, user, because },
    effects: [failed(state, { reason: because })],
  };
}

const failed = (state: Open, of: Pick<Failure, 'reason' | 'name'> & Partial<Failure>): Effect => {
  const known = state.is === 'known' ? state : undefined;
  return { do: 'tell-failure', failure: { ...of, user: of.user ?? known?.user, risk: known?.risk } };
};

/** Back to the start, for another user or another try. */
export const restartedState = ({ version, round, purpose, before }: SignInState): SignInState => ({
  is: 'unknown',
  version,
  round: round + 1,
  purpose,
  before: before && { ...before, factors: [], rememberMe: false },
  kept: {},
});

/**
 * If the user has signed in in another tab in the meantime, the sign-in renews that session instead of creating a second
 * one.
 */
export const withSessionOfOtherTab = (
  state: IdentifiedState,
  session: { id: string; userId: string; rememberMe: boolean } | undefined,
): IdentifiedState =>
  session?.userId === state.user.id
    ? { ...state, before: { id: session.id, user: state.user, factors: [], rememberMe: session.rememberMe } }
    : state;

/** The state that is stored once the session exists. */
export const finishedState = (
  state: IdentifiedState,
  done: SignInResult,
  { spent }: { spent: boolean },
): FinishedState => {
  const { kept, address, complaint, chosen, setUp, challenged, atEnd, ...rest } = state;
  return { ...rest, is: 'done', done, spent };
};

/**
 * Reopens a finished sign-in, so that a form that the browser sends again completes a sign-in of its own. The user was
 * already notified of a new device.
 */
export const reopenedState = ({ is, done, spent, deviceNew, ...rest }: FinishedState): IdentifiedState => ({
  ...rest,
  is: 'known',
  kept: {},
  challenged: true,
});

/** Notes the form that the state took last. */
export const takenBy = (state: SignInState, took: string): SignInState =>
  state.is === 'unknown' || state.is === 'known'
    ? { ...state, took: isTried(state) ? undefined : took, wentOn: undefined }
    : state;

/**
 * The state that stays under the token with which a proof came. A code or a link is used up, so the next page sends a new
 * one. The values of a registration stay: they count its forms, so that no proof of work counts twice.
 */
export const leftBehind = (from: Open, by: Pick<Open, 'took' | 'wentOn'>): Open => ({
  ...from,
  kept: Object.fromEntries(Object.entries(from.kept).filter(([step]) => step === REGISTER)),
  ...by,
  address: undefined,
});

/** Whether the second state has a proof that the first one lacks. */
export const provesMore = (from: SignInState, to: SignInState): boolean =>
  to.is === 'known' && (from.is !== 'known' || to.factors.some((factor) => !from.factors.includes(factor)));

/** The same form may be a new try, for example of a code, or a request for a new message. */
const isTried = ({ complaint, kept }: Open): boolean => complaint !== undefined || Object.keys(kept).length > 0;
