// Runs the machine's effects: shows and verifies steps, scores and judges the user, and writes audit events.
import type { FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import type { Transact } from '../../../db/transact.ts';
import { SECOND_FACTOR } from '../../../domain/factors.ts';
import { isWithdrawn } from '../../../domain/proof.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { siteOf } from '../../../domain/site.ts';
import type { PersonStanding } from '../../../domain/standing.ts';
import { personSpeaks } from '../../../http/spoken.ts';
import { text } from '../../../http/texts.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type {
  AuthenticatorRecord,
  Beside,
  Circumstances,
  Form,
  Method,
  PageStep,
  RequiredStep,
  Step,
  StepPage,
  StepVerdict,
} from '../authenticators/authenticator.ts';
import type { NewDevices } from '../new-device/service.ts';
import type { RiskService } from '../risk/service.ts';
import type { createCircumstances } from './circumstances.ts';
import { tabOf } from './cookie.ts';
import { type Demand, idOf, isPage, type Judge, type NextStep, type PageAsked, stepNamed } from './judge.ts';
import { advance, type Effect, type Failure, type Input } from './machine.ts';
import { configsOf, withOffer } from './passkey-offer.ts';
import { countedOf, type IdentifiedState, OFFER_PASSKEY, provenBy, REGISTER, type SignInState } from './state.ts';

/** A request to a sign-in of a realm. */
export interface Visit {
  request: FastifyRequest;
  realm: string;
  policy: RealmSettingsDto;
  /** The sign-in's token; absent for programs without pages. */
  token?: string;
}

export interface RunDeps {
  transact: Transact;
  registry: readonly AuthenticatorRecord[];
  required: readonly RequiredStep[];
  judge: Judge;
  /** The step that creates an account. */
  register: RegisterStep;
  passkeyOffer: PageStep;
  credentials: Pick<Credentials, 'standing'>;
  sends(realm: string, channel: 'EMAIL' | 'SMS'): Promise<boolean>;
  circumstances: ReturnType<typeof createCircumstances>;
  /** `firstAlone`: the flow has only steps of first sign-ins, which aren't in the tree. */
  flows: { treeFor(realm: string, override: string | undefined): Promise<{ tree: TreeNode[]; firstAlone?: boolean }> };
  risk: RiskService;
  newDevices: Pick<NewDevices, 'tells'>;
  /** Limits the failures of one client address. */
  attempts: Pick<RateLimit, 'blocked' | 'fail' | 'inTurn'>;
  baseUrl: string;
  now: () => Date;
}

/** The page for creating an account. It ends with a new user, whose password counts as proven. */
export interface RegisterStep extends PageStep {
  isOpen(settings: RealmSettingsDto): boolean;
}

/** The state after an input, with the judge's verdict if there was one. */
interface Reached {
  state: SignInState;
  nextStep?: NextStep;
  /** The address that the browser goes to now. */
  leadsTo?: string;
}

/** The form contains a password, like that of the flow's first step. */
const registering: Extract<PageAsked, { do: 'ask' }> = {
  do: 'ask',
  executionId: REGISTER,
  authenticatorId: 'username-password',
  enrol: false,
  others: [],
  config: {},
};

/** No user is the author of events before the sign-in has proven one. */
export const byOf = (request: FastifyRequest): By => ({ actor: null, ipAddress: request.ip });

export function createRun(deps: RunDeps) {
  const {
    transact,
    registry,
    required,
    register,
    passkeyOffer,
    judge,
    credentials,
    sends,
    circumstances,
    flows,
    risk,
    newDevices,
    attempts,
    baseUrl,
    now,
  } = deps;
  const methods = new Map(registry.filter((r): r is Method => r.category === 'METHOD').map((r) => [r.id, r]));
  const actions = new Map<string, RequiredStep>(required.map((step) => [step.action, step]));
  const isSecond = (id: string): boolean => (methods.get(id)?.levelOfAssurance ?? 0) >= SECOND_FACTOR;

  function recordOf(asked: PageAsked): PageStep {
    if (idOf(asked) === REGISTER) return register;
    if (idOf(asked) === OFFER_PASSKEY) return passkeyOffer;
    const record = asked.do === 'ask' ? methods.get(asked.authenticatorId) : actions.get(asked.action);
    if (!record) throw new Error(`${idOf(asked)} is asked for, which this server does not have`);
    return record;
  }

  function stepOf({ request, realm, policy, token = '' }: Visit, state: SignInState, asked: PageAsked): Step {
    const known = state.is === 'known' ? state : undefined;
    const by = byOf(request);
    return {
      realm,
      settings: policy,
      by,
      byThem: known ? { ...by, actor: { type: 'user', id: known.user.id, name: known.user.username } } : by,
      user: known?.user,
      proven: known && provenBy(known, now()),
      config: asked.do === 'ask' ? asked.config : {},
      enrol: asked.do === 'ask' && asked.enrol,
      wanted: asked.action !== undefined && asked.action === known?.setUp,
      loginHint: state.purpose.loginHint,
      providerHint: state.purpose.provider,
      anew: state.before !== undefined || state.purpose.maxAgeSeconds !== undefined,
      kept: (state.is === 'unknown' || state.is === 'known' ? state.kept[idOf(asked)] : undefined) ?? {},
      sessionId: state.before?.id,
      application: state.purpose.clientName ?? state.purpose.clientId,
      userAgent: request.headers['user-agent'],
      id: idOf(asked),
      tab: tabOf(request),
      site: siteOf(request, policy, baseUrl),
      challenge: sha256(`challenge:${state.round}:${idOf(asked)}:${token}`).toString('base64url'),
    };
  }

  /**
   * The configuration under which a passkey alone passes the flow, or leads to a step that any user can set up; undefined:
   * there is none.
   */
  function passkeyAlone(demand: Demand, circumstances: Circumstances): Record<string, unknown> | undefined {
    const { termsVersion } = demand.settings;
    const reach = { EMAIL: null, SMS: null };
    const person = { types: ['webauthn'], actions: [], passwordSetAt: null, reach, termsVersion };
    return configsOf(demand.tree, 'webauthn').find((config) => {
      const factors = [{ authenticator: 'webauthn', at: now().getTime(), config }];
      const nextStep = judge(demand, { known: true, factors, person, risk: undefined, circumstances });
      return nextStep.do === 'ask' ? nextStep.enrol : nextStep.do !== 'refused';
    });
  }

  /** The same for a new account, if the realm allows accounts without a password. */
  async function passkeyFor(
    { request, realm, clientId }: Pick<Visit, 'request' | 'realm'> & { clientId: string | undefined },
    { settings, flow, requiredLevel }: { settings: RealmSettingsDto; flow: string | undefined; requiredLevel: number },
  ): Promise<Record<string, unknown> | undefined> {
    if (!settings.registrationPasskeyEnabled) return undefined;
    const { tree } = await flows.treeFor(realm, flow);
    const occasion = { request, realm, clientId, user: undefined, deviceKnown: undefined };
    return passkeyAlone({ tree, settings, requiredLevel }, await circumstances.of(tree, occasion));
  }

  /** A user is not asked for codes on a channel without a provider. */
  async function reachedNow(realm: string, { EMAIL, SMS }: PersonStanding['reach']): Promise<PersonStanding['reach']> {
    return {
      EMAIL: EMAIL !== null && (await sends(realm, 'EMAIL')) ? EMAIL : null,
      SMS: SMS !== null && (await sends(realm, 'SMS')) ? SMS : null,
    };
  }

  /** The next step of the sign-in. @param read the user's standing, if it was just read */
  async function nextStepOf(
    { request, realm, policy: settings }: Pick<Visit, 'request' | 'realm' | 'policy'>,
    state: SignInState,
    read?: PersonStanding,
  ): Promise<NextStep> {
    if (state.is === 'refused') return { do: 'refused', because: state.because };
    const known = state.is === 'unknown' ? undefined : state;
    if (known?.risk?.action === 'deny') return { do: 'refused', because: 'risk' };
    const found = known && (read ?? (await credentials.standing(realm, known.user.id)));
    if (found) await personSpeaks(found.locale);
    if (known && !found?.enabled) return { do: 'refused', because: 'disabled' };
    const setUp = state.is === 'known' ? state.setUp : undefined;
    const reach = found && (await reachedNow(realm, found.reach));
    const person = found && reach && { ...found, reach, actions: setUp ? [...found.actions, setUp] : found.actions };
    const atEnd = state.is === 'known' ? state.atEnd : undefined;
    const here = { request, realm, clientId: state.purpose.clientId, user: known?.user, atEnd };
    if (state.is === 'unknown' && state.chosen === REGISTER && register.isOpen(settings)) {
      const { flow, requiredLevel } = state.purpose;
      const passkey = await passkeyFor(here, { settings, flow, requiredLevel });
      return { ...registering, config: { ...(passkey && { passkey }) } };
    }
    const judgedBy = async (flow: string | undefined): Promise<NextStep> => {
      const { tree, firstAlone } = await flows.treeFor(realm, flow);
      // The first-sign-in steps are done by then.
      if (firstAlone && flow !== undefined && flow === known?.firstFlow) return { do: 'finish', level: 0 };
      const judged = {
        known: known !== undefined,
        factors: countedOf(state, now()),
        person,
        risk: known?.risk,
        circumstances: await circumstances.of(tree, { ...here, deviceKnown: known?.deviceKnown }),
      };
      const chosen = state.is === 'done' ? undefined : state.chosen;
      const demand = { tree, settings, requiredLevel: state.purpose.requiredLevel };
      return withOffer(judge, state, settings, demand, { ...judged, chosen });
    };
    const first = known?.firstFlow === undefined ? undefined : await judgedBy(known.firstFlow);
    return first && first.do !== 'finish' ? first : judgedBy(state.purpose.flow);
  }

  /** The key for counting tries: the client address; beyond its limit, a device with which a user has signed in. */
  async function trying({ request, realm }: Visit): Promise<string> {
    const address = inRealm(realm, request.ip);
    if (attempts.blocked(address) === undefined) return address;
    const device = await risk.knownDevice(request, realm);
    return device === undefined ? address : `${realm} device ${device}`;
  }

  async function tried(record: PageStep, step: Step, form: Form): Promise<StepVerdict> {
    try {
      return await record.verify(step, form);
    } catch (error) {
      if (!isWithdrawn(error)) throw error;
      return { do: 'again', complaint: { field: 'form', message: text('said.changed') }, reason: 'withdrawn' };
    }
  }
  /** Verifies a proof, one at a time for each address and realm, and counts its failures. */
  const proof = (visit: Visit, record: PageStep, step: Step, form: Form): Promise<StepVerdict> =>
    attempts.inTurn(visit.realm, visit.request.ip, async () => {
      const from = await trying(visit);
      const wait = attempts.blocked(from);
      if (wait !== undefined) {
        const message = text('signIn.tooManyFailures', { wait: String(wait) });
        return { do: 'again', complaint: { field: 'form', message }, reason: '' };
      }
      const verdict = await tried(record, step, form);
      if (verdict.do === 'again' && verdict.reason !== '') attempts.fail(from);
      return verdict;
    });

  async function tellFailure(visit: Visit, { purpose }: SignInState, failure: Failure): Promise<void> {
    const { request, realm, policy } = visit;
    const { reason, name, user, risk: found } = failure;
    await transact(realm, async ({ atLast, record }) => {
      risk.failed(atLast, realm, policy, user?.id, request.ip);
      record({
        type: 'LOGIN_FAILURE',
        realm,
        by: byOf(request),
        subject: { type: 'user', id: user?.id ?? null, name: user?.username ?? name ?? null },
        clientId: purpose.clientId ?? null,
        outcome: 'failure',
        data: { reason, ...(found ? { risk: found } : {}) },
      });
    });
  }

  const looksAtDevice = async (realm: string, policy: RealmSettingsDto, flow: string | undefined): Promise<boolean> =>
    (await newDevices.tells(realm, policy)) || circumstances.looksAtDevice((await flows.treeFor(realm, flow)).tree);

  async function scoreOf({ request, realm, policy, token }: Visit, { user, purpose, signals = [] }: IdentifiedState) {
    const device = await looksAtDevice(realm, policy, purpose.flow);
    return risk.score(request, realm, policy, user.id, { device, signals, byPage: token !== undefined });
  }

  /** @returns the result, as input for the machine */
  async function perform(visit: Visit, state: SignInState, effect: Effect): Promise<Input | undefined> {
    const { request, realm } = visit;
    switch (effect.do) {
      case 'verify': {
        const { asked, form } = effect;
        const step = stepOf(visit, state, asked);
        const record = recordOf(asked);
        const isGuess = asked.do === 'ask' && idOf(asked) !== REGISTER && (record.guesses?.(step, form) ?? true);
        const verdict = await (isGuess ? proof(visit, record, step, form) : tried(record, step, form));
        return { do: 'answered', asked, verdict, at: now().getTime() };
      }
      case 'score':
        if (state.is !== 'known') return undefined;
        return { do: 'scored', ...(await scoreOf(visit, state)) };
      case 'judge':
        return { do: 'judged', nextStep: await nextStepOf(visit, state, effect.known) };
      case 'tell-failure':
        await tellFailure(visit, state, effect.failure);
        return undefined;
      case 'tell-challenge': {
        const { user, risk: found, asked } = effect;
        await transact(realm, async ({ record }) =>
          record({
            type: 'MFA_CHALLENGE',
            realm,
            by: byOf(request),
            subject: { type: 'user', id: user.id, name: user.username },
            clientId: state.purpose.clientId ?? null,
            data: { authenticator: asked.authenticatorId, enrolment: asked.enrol, ...(found ? { risk: found } : {}) },
          }),
        );
        return undefined;
      }
    }
  }

  async function go(visit: Visit, from: SignInState, first: Input, doing: typeof perform): Promise<Reached> {
    let state = from;
    let nextStep: NextStep | undefined;
    let leadsTo: string | undefined;
    async function take(input: Input): Promise<void> {
      if (input.do === 'judged') nextStep = input.nextStep;
      if (input.do === 'answered' && input.verdict.do === 'kept') leadsTo = input.verdict.leadsTo;
      const next = advance(state, input, isSecond);
      state = next.state;
      for (const effect of next.effects) {
        const back = await doing(visit, state, effect);
        if (back) await take(back);
      }
    }
    await take(first);
    return { state, ...(nextStep && { nextStep }), ...(leadsTo !== undefined && { leadsTo }) };
  }

  return {
    nextStepOf,

    /** Whether an account created from the account page may have a passkey alone. */
    takesPasskeyAlone: async ({ policy, ...at }: Pick<Visit, 'request' | 'realm' | 'policy'>): Promise<boolean> => {
      const demand = { settings: policy, flow: undefined, requiredLevel: 0 };
      return (await passkeyFor({ ...at, clientId: undefined }, demand)) !== undefined;
    },

    /** Applies an input to a sign-in. */
    run: (visit: Visit, from: SignInState, input: Input): Promise<Reached> => go(visit, from, input, perform),

    /** The same for callers that write audit events and count tries themselves. */
    runUntold: (visit: Visit, from: SignInState, input: Input): Promise<Reached> =>
      go(visit, from, input, async (at, state, effect) => {
        if (effect.do === 'score' || effect.do === 'judge') return perform(at, state, effect);
        return undefined;
      }),
    /** A method's verdict on a form, uncounted. */
    verdictOf: (visit: Visit, state: SignInState, asked: PageAsked, form: Form): Promise<StepVerdict> =>
      tried(recordOf(asked), stepOf(visit, state, asked), form),

    /** The page of the step; undefined: there is no form to fill in. */
    async pageOf(visit: Visit, state: SignInState, nextStep: NextStep): Promise<StepPage | undefined> {
      if (!isPage(nextStep) || state.is === 'refused' || state.is === 'done') return undefined;
      return recordOf(nextStep).begin(stepOf(visit, state, nextStep), state.complaint);
    },

    /** Whether the page asks if the browser is the user's own: only if the answer matters and is unknown. */
    async asksDevice({ request, realm, policy }: Visit, state: SignInState, nextStep: NextStep): Promise<boolean> {
      if (policy.deviceRemembering !== 'ask' || nextStep.do !== 'ask' || nextStep.enrol) return false;
      if (idOf(nextStep) === REGISTER || (state.is === 'known' ? state.deviceKnown : risk.hasDevice(request, realm)))
        return false;
      return policy.riskPolicyEnabled || looksAtDevice(realm, policy, state.purpose.flow);
    },

    /** The methods that the page offers, by execution. */
    async besideOf(visit: Visit, state: SignInState, nextStep: NextStep): Promise<Map<string, Beside>> {
      const found = new Map<string, Beside>();
      const complaint = state.is === 'unknown' || state.is === 'known' ? state.complaint : undefined;
      for (const { authenticatorId, executionId } of nextStep.do === 'ask' ? nextStep.others : []) {
        const asked = stepNamed(nextStep, executionId);
        const beside = asked && (await methods.get(authenticatorId)?.beside?.(stepOf(visit, state, asked), complaint));
        if (beside) found.set(executionId, beside);
      }
      return found;
    },
  };
}
export type Run = ReturnType<typeof createRun>;
