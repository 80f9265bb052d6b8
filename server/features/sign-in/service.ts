// Owns: a sign-in under way: its state, the steps a person takes through the realm's flow, and the session at its end.
// Does not own: the order of steps (engine.ts), the steps (features/authenticators), what an application asked for (authorize).
// Implements: specification 1 (flows, adaptive authentication), 2.1, 2.3; decisions "Protocol paths".
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { TokenSeal } from '../../crypto/token-seal.ts';
import { newSecret, sameSecret, sha256 } from '../../crypto/tokens.ts';
import type { InLane } from '../../db/realm-share.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { Attempts } from '../../domain/attempts.ts';
import type { Factor, Factors } from '../../domain/factors.ts';
import { createSemaphore } from '../../schedule/semaphore.ts';
import type { AuthenticatorRecord, Form, StepPage } from '../authenticators/authenticator.ts';
import type { Credentials } from '../credentials/service.ts';
import type { TreeNode } from '../flows/tree.ts';
import type { Finding } from '../risk/score.ts';
import type { RiskService } from '../risk/service.ts';
import type { LiveSession, Sessions } from '../sessions/service.ts';
import type { Visit } from './action.ts';
import { createActions } from './actions.ts';
import { createAtOnce } from './at-once.ts';
import type { Continuation } from './continuation.ts';
import { type Carried, createSignInCookie, inTab } from './cookie.ts';
import { type Answer, createFinish, type Ending } from './finish.ts';
import { createHolding, type Held } from './held.ts';
import { createJudge } from './judge.ts';
import { type BeginInput, begunBy, restarted, type SignInState } from './state.ts';
import { createSteps } from './steps.ts';
import * as store from './store.ts';
import { createWalk, type Standing } from './walk.ts';

export interface SignInDeps {
  sql: Sql;
  inLane: InLane;
  transact: Transact;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  flows: { treeFor(realm: string, override: string | undefined): Promise<{ tree: TreeNode[] }> };
  registry: readonly AuthenticatorRecord[];
  factors: Factors;
  credentials: Credentials;
  sessions: Sessions;
  risk: RiskService;
  /** Bounds how often one address may fail. */
  attempts: Pick<Attempts, 'blocked' | 'fail' | 'inTurn'>;
  /** Bounds how often one address may have kept what nobody has proven anything in. */
  strangers: { take(address: string): number | undefined };
  /** For what the cookie carries. */
  seal: TokenSeal;
  baseUrl: string;
  now: () => Date;
}

/** What a session lacks: a proof of who they are, or something to be done by whoever has proven it. */
export type Missing = 'proof' | 'action';

/** What somebody has passed, and what is known of them. */
export interface Passed {
  factors: readonly Factor[];
  /** Of credentials. */
  types: readonly string[];
  /** What was unusual about the sign-in; null: nobody looked. */
  findings: readonly Finding[] | null;
}

/** A form that comes again within this is the same click. */
const AGAIN_MS = 60_000;

/** Where a sign-in stands, for the page that shows it. */
export interface View {
  state: SignInState;
  settings: RealmSettingsDto;
  standing: Standing;
  /** The step's form; absent where there is nothing to fill in. */
  page: StepPage | undefined;
  csrf: string;
}

export function createSignIns(deps: SignInDeps) {
  const { inLane, settings, now } = deps;
  const cookie = createSignInCookie(deps);
  const { load, reload, carry, keep, keepNew } = createHolding({ ...deps, cookie });
  const judge = createJudge(deps);
  const walk = createWalk({ ...deps, judge, tree: deps.flows.treeFor });
  const actions = createActions(deps);
  const { look, verify, announce, withdraw, pageOf } = createSteps({ ...deps, walk, actions });
  const finish = createFinish({ ...deps, cookie });
  /** One that goes on from a session is as risky as the sign-in that made it, by the policy as it is now. */
  function begun(input: BeginInput, policy: RealmSettingsDto): SignInState {
    const state = begunBy({ ...input, now: now(), identify: deps.factors.identify });
    const findings = state.user && input.session?.findings;
    return findings ? { ...state, risk: deps.risk.judge(findings, policy) } : state;
  }
  const csrfOf = (token: string): string => sha256(`csrf:${token}`).toString('base64url');
  const digestOf = (token: string, form: Form) => sha256(`form:${token}:${JSON.stringify(form)}`).toString('base64url');
  /** The forms of one sign-in, one after the other: the second of two clicks finds what the first one came to. */
  const inTurn = createSemaphore({ perKey: 1 });

  async function settingsOf(realm: string): Promise<RealmSettingsDto> {
    const found = await settings.of(realm);
    if (!found) throw new Problem('not-found', 'There is no such realm here.');
    return found;
  }
  /** What a form makes of a sign-in, and where that stands if a step was taken; undefined: it changes nothing. */
  async function taken(
    visit: Visit,
    { state, stored }: Held,
    form: Form,
  ): Promise<{ state: SignInState; standing?: Standing } | undefined> {
    if (form.do === 'restart') return stored ? { state: restarted(state) } : undefined;
    const { realm, policy } = visit;
    const standing = await walk(realm, policy, state);
    if (form.do === 'choose') {
      const offered = standing.do === 'ask' && standing.others.some((o) => o.executionId === form.execution);
      return offered ? { state: { ...state, chosen: form.execution, complaint: undefined } } : undefined;
    }
    if (standing.do === 'ask' && form.step === standing.executionId) {
      const verified = await verify(visit, state, standing, form);
      return announce(visit, await look(visit, verified.state), verified.known);
    }
    if (standing.do === 'act' && form.step === standing.action)
      return announce(visit, await actions.take(standing.action, visit, state, form));
    return standing.do === 'finish' ? announce(visit, state) : undefined;
  }
  /** The answer; undefined: another request has ended it, and this one goes on by the cookie. */
  async function end(reply: FastifyReply, reached: Ending, continuation: Continuation): Promise<Answer | undefined> {
    const { realm, held } = reached;
    const state = await joined(reached);
    const ending = { ...reached, state };
    const answer = await finish(reply, ending, continuation);
    if (answer === 'withdrawn') {
      await keep(reply, realm, held, await withdraw(ending, state));
      return undefined;
    }
    if (answer !== 'lost') return answer;
    if ((await reload(realm, held))?.state.done) return endOnItsOwn(reply, ending, continuation);
    if (!held.stored) cookie.keep(reply, realm, held);
    return undefined;
  }
  /** Who has signed in meanwhile in another tab proves that session anew, and has no second one. */
  async function joined({ request, realm, state }: Ending): Promise<SignInState> {
    const session = state.session ? undefined : await deps.sessions.current(request, realm);
    if (!session || session.userId !== state.user?.id) return state;
    return { ...state, session: { id: session.id, user: state.user, factors: [] } };
  }
  /**
   * Who clicks twice sees the second answer alone, so that the first one's session is nobody's. All of it was proven by this
   * form, too: it ends a sign-in of its own.
   */
  async function endOnItsOwn(
    reply: FastifyReply,
    ending: Ending,
    continuation: Continuation,
  ): Promise<Answer | undefined> {
    const token = newSecret();
    const held = { ...ending.held, token, id: sha256(token), stored: false };
    const answer = await finish(reply, { ...ending, held }, continuation);
    return typeof answer === 'string' ? undefined : answer;
  }
  const to =
    (path: string): Answer =>
    (reply) =>
      reply.redirect(path, 303);
  const pageIn = (realm: string, { tab }: Pick<Held, 'tab'>): Answer => to(inTab(`/realms/${realm}/login`, tab));

  /** Where a browser goes whose sign-in is over. */
  function onward(reply: FastifyReply, realm: string, { state, tab }: Held, continuation: Continuation): Answer {
    if (!state.spent) return to(inTab(state.continueAt, tab));
    cookie.clear(reply, realm, tab);
    return to(continuation.again(state.request, realm));
  }

  /** What a person sent; undefined: there is no such sign-in (any more). */
  async function submitted(
    reply: FastifyReply,
    request: FastifyRequest,
    realm: string,
    carried: Carried,
    form: Form,
    continuation: Continuation,
  ): Promise<Answer | undefined> {
    const held = await load(realm, carried);
    if (!held) return undefined;
    const here = pageIn(realm, held);
    const visit = { request, realm, policy: await settingsOf(realm) };
    const { done, spent, ...before } = held.state;
    const took = digestOf(held.token, form);
    if (done) {
      const again = held.state.took === took && now().getTime() - done.at < AGAIN_MS;
      const answer =
        again && (await endOnItsOwn(reply, { ...visit, held, state: before, level: done.level }, continuation));
      return answer || onward(reply, realm, held, continuation);
    }
    if (held.state.took === took) return here;
    const next = await taken(visit, held, form);
    if (!next) return here;
    const { standing } = next;
    const state = { ...next.state, took: next.state.complaint ? undefined : took };
    if (standing?.do === 'finish')
      return (await end(reply, { ...visit, held, state, level: standing.level }, continuation)) ?? here;
    await keep(reply, realm, held, state);
    return here;
  }

  return {
    proveAtOnce: createAtOnce({ ...deps, walk }),

    /** What the person of a session would still have to do, if anything, were a sign-in begun by it. */
    async missing(input: Omit<BeginInput, 'session'> & { session: LiveSession }): Promise<Missing | undefined> {
      const policy = await settingsOf(input.realm);
      const standing = await walk(input.realm, policy, begun(input, policy), input.session.standing);
      if (standing.do === 'finish') return undefined;
      return standing.do === 'act' || (standing.do === 'ask' && standing.action) ? 'action' : 'proof';
    },

    /** Whether what somebody has proven is all that a flow and the realm ask of them now: pure, once it has been asked for. */
    async judgeFor(realm: string, flow: string | undefined): Promise<(passed: Passed) => boolean> {
      const policy = await settingsOf(realm);
      const { tree } = await deps.flows.treeFor(realm, flow);
      return ({ factors, types, findings }) => {
        const risk = findings ? deps.risk.judge(findings, policy) : undefined;
        const about = { known: deps.factors.identify(factors), factors, types, risk };
        return risk?.action !== 'deny' && judge({ tree, settings: policy, requiredLevel: 0 }, about).do === 'passed';
      };
    },

    /** Begins a sign-in and sends the browser to its pages. */
    async begin(reply: FastifyReply, request: FastifyRequest, input: BeginInput): Promise<FastifyReply> {
      const { realm, session } = input;
      const policy = await settingsOf(realm);
      const visit = { request, realm, policy };
      const { state, standing } = await announce(visit, await look(visit, begun(input, policy)));
      // What was proven before, or refused, is not for a cookie that can be sent again and again.
      const nothingYet = !session && standing.do === 'ask';
      const beginning = input.again ? 'in its place' : 'beside others';
      const carried = nothingYet ? carry(reply, realm, beginning, state) : undefined;
      const page = inTab(`/realms/${realm}/login`, carried ?? (await keepNew(reply, realm, beginning, state)));
      return reply.redirect(input.again ? `${page}${page.includes('?') ? '&' : '?'}begun=1` : page, 303);
    },

    /** Where the request's sign-in stands; undefined: there is none, or it has expired. */
    async view(reply: FastifyReply, request: FastifyRequest, realm: string): Promise<View | undefined> {
      const policy = await settingsOf(realm);
      for (let held = await load(realm, cookie.read(request, realm)); held; held = await reload(realm, held)) {
        const { token, state } = held;
        const standing = await walk(realm, policy, state);
        const page = await pageOf({ request, realm, policy }, state, standing);
        const view = { state, settings: policy, standing, page, csrf: csrfOf(token) };
        if (!page?.keep || standing.do !== 'ask' || state.kept[standing.executionId]) return view;
        const kept = { [standing.executionId]: page.keep };
        // Lost where two pages were opened at once: then this one shows what the other kept.
        if (await keep(reply, realm, held, { ...state, kept })) return view;
      }
      return undefined;
    },

    /**
     * Takes what a person sent. Whatever the outcome, the browser is sent on by 303, so that going back or reloading
     * never sends a password twice.
     * @returns the answer; undefined: there is no such sign-in (any more), or the form was not one of its own
     */
    async submit(
      reply: FastifyReply,
      request: FastifyRequest,
      realm: string,
      form: Form,
      continuation: Continuation,
    ): Promise<Answer | undefined> {
      const carried = cookie.find(request, realm, (token) => sameSecret(form.csrf ?? '', csrfOf(token)));
      if (!carried) return undefined;
      const submit = () => submitted(reply, request, realm, carried, form, continuation);
      // Where nothing has happened yet each form proves all of it by itself.
      return carried.begun ? submit() : inTurn(`${realm} ${carried.id.toString('hex')}`, submit);
    },

    /** A sign-in that needs nothing more from the person: it is over, or its session was good enough. */
    async complete(
      reply: FastifyReply,
      request: FastifyRequest,
      realm: string,
      continuation: Continuation,
    ): Promise<Answer | undefined> {
      const held = await load(realm, cookie.read(request, realm));
      if (!held) return undefined;
      const { state } = held;
      if (state.done) return onward(reply, realm, held, continuation);
      const policy = await settingsOf(realm);
      const standing = await walk(realm, policy, state);
      if (standing.do !== 'finish') return undefined;
      const ending = { request, realm, policy, held, state, level: standing.level };
      const answer = await finish(reply, ending, continuation);
      if (answer === 'withdrawn') await keep(reply, realm, held, await withdraw(ending, state));
      if (answer === 'lost') return to(inTab(state.continueAt, held.tab));
      return answer === 'withdrawn' ? pageIn(realm, held) : answer;
    },

    /** What the request's sign-in came to, for whoever began it to go on at `continueAt`; once. */
    async take(
      reply: FastifyReply,
      request: FastifyRequest,
      realm: string,
      continueAt: string,
    ): Promise<{ request: unknown; done: NonNullable<SignInState['done']> } | undefined> {
      const carried = cookie.read(request, realm);
      if (!carried) return undefined;
      const state = await store.take(inLane(realm), realm, carried.id, continueAt, now());
      if (!state?.done) return undefined;
      cookie.clear(reply, realm, carried.tab);
      return { request: state.request, done: state.done };
    },
  };
}
export type SignIns = ReturnType<typeof createSignIns>;
