// Owns: running sign-ins: their state, the user's steps through the realm's flow, and the session at the end.
// Does not own: the order of steps (engine.ts), the steps (features/authentication/authenticators), the application's request (authorize).
// Implements: specification 1 (flows, adaptive authentication), 2.1, 2.3; decisions "Protocol paths".

import type { FastifyReply, FastifyRequest } from 'fastify';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { TokenSeal } from '../../../crypto/token-seal.ts';
import { newSecret, sameSecret } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Factors } from '../../../domain/factors.ts';
import { linkDigest } from '../../../domain/links.ts';
import type { RateLimit } from '../../../domain/rate-limit.ts';
import { createSemaphore } from '../../../schedule/semaphore.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { LiveSession, Sessions } from '../../people/sessions/service.ts';
import type { AuthenticatorRecord, Beside, Form, RequiredStep, StepPage } from '../authenticators/authenticator.ts';
import type { NewDevices } from '../new-device/service.ts';
import type { RiskService } from '../risk/service.ts';
import { createAtOnce } from './at-once.ts';
import { createCircumstances } from './circumstances.ts';
import { type Continuation, continuationOf } from './continuation.ts';
import { type Carried, inTab } from './cookie.ts';
import { createEnd } from './end.ts';
import { createJudgeFor } from './enough.ts';
import { type Answer, createFinish } from './finish.ts';
import { createFirstStep } from './first-step.ts';
import { csrfOf, digestOf, nextToken } from './forms.ts';
import { createJudge, idOf, isPage, type NextStep, stepNamed } from './judge.ts';
import { createLateness } from './late.ts';
import { leftBehind, provesMore, reopenedState, takenBy } from './machine.ts';
import { createRun, type RegisterStep, type RunDeps } from './run.ts';
import {
  type BeginInput,
  begunBy,
  continuesAt,
  type FinishedState,
  isFromAccount,
  type Open,
  REGISTER,
  type SignInResult,
  type SignInState,
} from './state.ts';
import { createStorage, type HeldSignIn } from './storage.ts';
import { markOf } from './waiting.ts';

export interface SignInDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  flows: { treeFor(realm: string, override: string | undefined): Promise<{ tree: TreeNode[]; firstAlone?: boolean }> };
  registry: readonly AuthenticatorRecord[];
  /** Required actions that are no authenticators. */
  required: readonly RequiredStep[];
  register: RegisterStep;
  passkeyOffer: RunDeps['passkeyOffer'];
  factors: Factors;
  credentials: Credentials;
  sessions: Sessions;
  /** Whether the realm has a provider for the channel. */
  sends(realm: string, channel: 'EMAIL' | 'SMS'): Promise<boolean>;
  risk: RiskService;
  newDevices: Pick<NewDevices, 'tell' | 'tells'>;
  /** Limits the failures of one client address. */
  attempts: Pick<RateLimit, 'blocked' | 'fail' | 'inTurn'>;
  /** Limits the stored sign-ins without a proof of one client address. */
  unproven: { take(address: string): number | undefined };
  /** Seals the state in the cookie. */
  seal: TokenSeal;
  baseUrl: string;
  now: () => Date;
}

/** The need that a session doesn't meet: a proof, or a required action after a proof. */
export type Missing = 'proof' | 'action';
type Continuations = readonly Continuation[];

/** The same form within this time counts as a double click. */
const AGAIN_MS = 60_000;

/** The values that a link's page sends for the waiting step. */
export interface Linked {
  step: string;
  csrf: string;
  redirectTo: string | undefined;
}

/** The present state of a sign-in, for its page. */
export interface View {
  state: SignInState;
  settings: RealmSettingsDto;
  nextStep: NextStep;
  /** The page of the step; undefined: there is no form to fill in. */
  page: StepPage | undefined;
  /** The methods that the page offers, by execution. */
  beside: ReadonlyMap<string, Beside>;
  /** Whether the page asks if the browser is the user's own. */
  asksDevice: boolean;
  csrf: string;
  /** Changes when a waiting page should be replaced; undefined: the page doesn't wait. */
  mark: string | undefined;
}

export function createSignIns(deps: SignInDeps) {
  const { settings, now } = deps;
  const storage = createStorage(deps);
  const judge = createJudge(deps);
  const runner = createRun({ ...deps, judge, circumstances: createCircumstances(deps) });
  const { run, nextStepOf, pageOf, besideOf, asksDevice } = runner;
  const finish = createFinish({ ...deps, storage });
  const { end, endOnItsOwn, withdraw } = createEnd({ sessions: deps.sessions, storage, run, finish });

  /** A sign-in that continues a session has the risk of the session's sign-in, judged by the present policy. */
  function begun(input: BeginInput, policy: RealmSettingsDto): Open {
    const state = begunBy({ ...input, now: now(), identify: deps.factors.identify });
    const findings = state.is === 'known' && input.session?.findings;
    return findings ? { ...state, risk: deps.risk.judge(findings, policy) } : state;
  }
  /** Forms of one sign-in run one after the other: the second of two clicks sees the result of the first. */
  const inTurn = createSemaphore({ perKey: 1 });

  async function settingsOf(realm: string): Promise<RealmSettingsDto> {
    const found = await settings.of(realm);
    if (!found) throw new Problem('not-found', phrase('noRealm'));
    return found;
  }

  /** Only the session's own browser can use a sign-in that began with a session. */
  async function load(
    request: FastifyRequest,
    realm: string,
    named: Carried | undefined,
  ): Promise<HeldSignIn | undefined> {
    const held = await storage.load(realm, named);
    if (held?.state.is !== 'known' || !held.state.before) return held;
    const session = await deps.sessions.current(request, realm);
    return session?.id === held.state.before.id ? held : undefined;
  }
  const elsewhere = new Set(deps.registry.flatMap((e) => (e.category === 'METHOD' && e.provenElsewhere ? [e.id] : [])));
  /**
   * Whether the same form counts as a double click. A form that shows only possession of the cookie doesn't, nor does a
   * passkey's signature, which counts once.
   */
  const mayComeAgain = (nextStep: NextStep, { step, passkey }: Form): boolean => {
    if (passkey) return false;
    const sent = stepNamed(nextStep, step);
    return sent?.do !== 'ask' || !elsewhere.has(sent.authenticatorId);
  };
  /** A sign-in with a passkey ends once: the last page's cookie alone must not end another one. */
  const restsOnPasskey = ({ factors }: FinishedState): boolean =>
    factors.some(({ authenticator }) => authenticator === 'webauthn');
  const { isLate, leftAt } = createLateness({ ...deps, runUntold: runner.runUntold });
  const to =
    (path: string): Answer =>
    (reply) =>
      reply.redirect(path, 303);
  const pageIn = (realm: string, { tab }: Pick<HeldSignIn, 'tab'>): Answer => to(inTab(`/realms/${realm}/login`, tab));

  /** The answer for a browser whose sign-in is over. */
  function onward(
    reply: FastifyReply,
    realm: string,
    { tab }: HeldSignIn,
    state: FinishedState,
    continuations: Continuations,
  ): Answer {
    const { purpose, spent } = state;
    const continuation = spent ? continuationOf(continuations, realm, purpose) : undefined;
    if (!continuation) return to(inTab(continuesAt(state), tab));
    storage.forget(reply, realm, { tab });
    return to(continuation.again(purpose.request, realm));
  }

  /** Handles a submitted form; undefined: there is no such sign-in, or it has expired. */
  async function submitted(
    reply: FastifyReply,
    request: FastifyRequest,
    realm: string,
    named: Carried,
    form: Form,
    continuations: Continuations,
  ): Promise<Answer | undefined> {
    const held = await load(request, realm, named);
    if (!held) return undefined;
    const here = pageIn(realm, held);
    const visit = { request, realm, policy: await settingsOf(realm), token: held.token };
    const took = digestOf(held.token, form);
    const from = held.state;
    if (from.is === 'done') {
      const again = from.took === took && now().getTime() - from.done.at < AGAIN_MS && !restsOnPasskey(from);
      const ending = { ...visit, held, state: reopenedState(from), level: from.done.level };
      const answer = again && (await endOnItsOwn(reply, ending, continuations));
      return answer || onward(reply, realm, held, from, continuations);
    }
    if (form.do === 'cancel') {
      const { continueAt, request: asked } = from.purpose;
      const continuation = continuationOf(continuations, realm, from.purpose);
      if (!continuation && !isFromAccount(realm, from)) return here;
      await storage.drop(reply, realm, held);
      return continuation ? (on) => continuation.cancel(on, request, realm, asked) : to(continueAt);
    }
    if (from.is !== 'refused' && from.took === took) {
      const { wentOn } = from;
      if (wentOn && now().getTime() - wentOn.at < AGAIN_MS)
        storage.follow(reply, realm, held, nextToken(wentOn.nonce, held.token, form));
      return here;
    }
    // A sign-in without a row is at its start already.
    const isFirst = from.is === 'unknown' && from.chosen === undefined;
    if (form.do === 'restart' && !held.stored && isFirst) return here;
    const asked = await nextStepOf(visit, from);
    if (isLate(from, asked)) return here;
    const { state: reached, nextStep, leadsTo } = await run(visit, from, { do: 'sent', form, nextStep: asked });
    if (reached === from && !nextStep) return here;
    const again = mayComeAgain(asked, form) ? took : newSecret();
    const state = takenBy(reached, again);
    if (nextStep?.do === 'finish' && state.is === 'known')
      return (await end(reply, { ...visit, held, state, level: nextStep.level }, continuations)) ?? here;
    const nonce = newSecret();
    const kept =
      from.is === 'refused' || !provesMore(from, state)
        ? await storage.keep(reply, realm, held, state)
        : await storage.rotate(reply, realm, held, {
            state,
            token: nextToken(nonce, held.token, form),
            left: leftBehind(from, { took: again, wentOn: { nonce, at: now().getTime() } }),
          });
    if (!kept || leadsTo === undefined) return here;
    return to(leadsTo.startsWith('/') ? inTab(leadsTo, held.tab) : leadsTo);
  }

  return {
    proveAtOnce: createAtOnce({ ...deps, ...runner }),
    takesPasskeyAlone: runner.takesPasskeyAlone,

    /** The action or proof that a sign-in with this session would still require; undefined: none. */
    async missing(
      request: FastifyRequest,
      input: Omit<BeginInput, 'session'> & { session: LiveSession },
    ): Promise<Missing | undefined> {
      const { realm, session } = input;
      const policy = await settingsOf(realm);
      const nextStep = await nextStepOf({ request, realm, policy }, begun(input, policy), session.standing);
      if (nextStep.do === 'finish') return undefined;
      return nextStep.do === 'act' || (nextStep.do === 'ask' && nextStep.action) ? 'action' : 'proof';
    },

    judgeFor: createJudgeFor({ ...deps, judge, settingsOf }),

    /** Begins a sign-in and sends the browser to its page. */
    async begin(reply: FastifyReply, request: FastifyRequest, input: BeginInput): Promise<FastifyReply> {
      const { realm, session } = input;
      const policy = await settingsOf(realm);
      const visit = { request, realm, policy };
      const { state, nextStep } = await run(visit, begun(input, policy), { do: 'begun' });
      const isNew = nextStep !== undefined && isPage(nextStep) && idOf(nextStep) === REGISTER;
      // Sign-ins with proofs, refusals or a proof of work get a row: a cookie could be replayed with the same work.
      const isSolved = isNew && policy.captchaProvider === 'pow';
      const inCookie = !session && nextStep?.do === 'ask' && !isSolved;
      const beginning = input.again ? 'in its place' : 'beside others';
      const tab = await storage.begin(reply, realm, state, { beginning, inCookie });
      const page = inTab(isNew ? `/realms/${realm}/register` : `/realms/${realm}/login`, tab);
      return reply.redirect(input.again ? `${page}${page.includes('?') ? '&' : '?'}begun=1` : page, 303);
    },

    /** Switches a sign-in without proofs to creating an account. @returns whether there is such a sign-in */
    async toRegister(reply: FastifyReply, request: FastifyRequest, realm: string): Promise<boolean> {
      const held = await load(request, realm, storage.named(request, realm));
      if (held?.state.is !== 'unknown') return false;
      return storage.keep(reply, realm, held, { ...held.state, kept: {}, complaint: undefined, chosen: REGISTER });
    },

    firstStep: createFirstStep({ ...runner, begun }),

    /** The page of a sign-in that this browser has begun for the same purpose. */
    async begunFor(request: FastifyRequest, realm: string, continueAt: string): Promise<string | undefined> {
      const found = await storage.inProgress(request, realm, continueAt);
      return found && inTab(`/realms/${realm}/login`, found.tab);
    },

    /** The present state of the request's sign-in; undefined: there is none, or it has expired. */
    async view(reply: FastifyReply, request: FastifyRequest, realm: string): Promise<View | undefined> {
      const policy = await settingsOf(realm);
      const named = storage.named(request, realm);
      for (let held = await load(request, realm, named); held; held = await storage.reload(realm, held)) {
        const { token, state } = held;
        const csrf = csrfOf(token);
        if (state.is === 'done') {
          const nextStep = { do: 'finish', level: state.done.level } as const;
          return {
            state,
            settings: policy,
            nextStep,
            page: undefined,
            beside: new Map(),
            asksDevice: false,
            csrf,
            mark: undefined,
          };
        }
        const visit = { request, realm, policy, token };
        const nextStep = await nextStepOf(visit, state);
        const left = await leftAt(visit, state, nextStep);
        if (left) {
          await storage.keep(reply, realm, held, left);
          continue;
        }
        const page = await pageOf(visit, state, nextStep);
        const beside = await besideOf(visit, state, nextStep);
        // A waiting page is reloaded, and would lose the box's state.
        const asks = page?.refreshSeconds === undefined && (await asksDevice(visit, state, nextStep));
        const mark = page && markOf(state, nextStep, page);
        const view = { state, settings: policy, nextStep, page, beside, asksDevice: asks, csrf, mark };
        if (!page?.keep || !isPage(nextStep) || state.is === 'refused' || state.kept[idOf(nextStep)]) return view;
        const kept = { [idOf(nextStep)]: page.keep };
        // Two pages were opened at once: the slower one shows what the other has stored.
        if (await storage.keep(reply, realm, held, { ...state, kept, address: page.address ?? state.address }))
          return view;
      }
      return undefined;
    },

    /**
     * Takes a submitted form. It always answers by 303, so that going back or reloading never sends a password twice.
     * @returns the answer; undefined: there is no such sign-in, it has expired, or the form is not one of its own
     */
    async submit(
      reply: FastifyReply,
      request: FastifyRequest,
      realm: string,
      form: Form,
      continuations: Continuations,
    ): Promise<Answer | undefined> {
      const named = storage.find(request, realm, (token) => sameSecret(form.csrf ?? '', csrfOf(token)));
      if (!named) {
        // The form is from a page before the last proof: the browser goes to the present page.
        const held = await load(request, realm, storage.named(request, realm));
        return held?.state.is === 'known' ? pageIn(realm, held) : undefined;
      }
      const submit = () => submitted(reply, request, realm, named, form, continuations);
      // Without a row each form proves everything by itself, so no order is needed.
      return named.begun ? submit() : inTurn(`${realm} ${named.id.toString('hex')}`, submit);
    },

    /** The sign-in of this browser that waits for a link; undefined: another browser has it, or it has expired. */
    async linked(request: FastifyRequest, realm: string, secret: string): Promise<Linked | undefined> {
      const address = linkDigest(secret);
      const held = await storage.waiting(request, realm, address);
      if (!held || held.state.is === 'refused' || held.state.is === 'done') return undefined;
      const [step] = Object.entries(held.state.kept).find(([, kept]) => kept.address === address) ?? [];
      return step === undefined
        ? undefined
        : { step, csrf: csrfOf(held.token), redirectTo: held.state.purpose.redirectTo };
    },

    /** Deletes all unfinished sign-ins of the browser when the user signs out. */
    leave: storage.dropAll,

    /** Completes a sign-in without further steps: the flow has ended, or the existing session was enough. */
    async complete(
      reply: FastifyReply,
      request: FastifyRequest,
      realm: string,
      continuations: Continuations,
    ): Promise<Answer | undefined> {
      const held = await load(request, realm, storage.named(request, realm));
      if (!held) return undefined;
      const { state } = held;
      if (state.is === 'done') return onward(reply, realm, held, state, continuations);
      const policy = await settingsOf(realm);
      const nextStep = await nextStepOf({ request, realm, policy }, state);
      if (nextStep.do !== 'finish' || state.is !== 'known') return undefined;
      const ending = { request, realm, policy, held, state, level: nextStep.level };
      const answer = await finish(reply, ending, continuationOf(continuations, realm, state.purpose));
      if (answer === 'withdrawn') await withdraw(reply, ending);
      if (answer === 'lost') return to(inTab(state.purpose.continueAt, held.tab));
      return answer === 'withdrawn' ? pageIn(realm, held) : answer;
    },

    /** The result of the request's sign-in, returned once to the code that started it for `continueAt`. */
    async take(
      reply: FastifyReply,
      request: FastifyRequest,
      realm: string,
      continueAt: string,
    ): Promise<{ request: unknown; done: SignInResult } | undefined> {
      const state = await storage.take(reply, realm, storage.named(request, realm), continueAt);
      return state && { request: state.purpose.request, done: state.done };
    },
  };
}
export type SignIns = ReturnType<typeof createSignIns>;
