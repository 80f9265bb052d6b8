// Owns: a sign-in under way: its state, the steps a person takes through the realm's flow, and the session at its end.
// Does not own: the order of steps (engine.ts), the steps (features/authenticators), what an application asked for (authorize).
// Implements: specification 1 (flows, adaptive authentication), 2.1, 2.3; decisions "Protocol paths".
import { randomBytes } from 'node:crypto';
import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../contract/events.ts';
import { Problem } from '../../contract/problem.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { sha256 } from '../../crypto/tokens.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { AuthenticatorRecord, Form, Method, Step, StepPage } from '../authenticators/authenticator.ts';
import type { Credentials } from '../credentials/service.ts';
import type { TreeNode } from '../flows/tree.ts';
import type { RiskService } from '../risk/service.ts';
import type { Sessions, SsoSession } from '../sessions/service.ts';
import { createActions } from './actions.ts';
import { createFinish } from './finish.ts';
import { restarted, type SignInState } from './state.ts';
import * as store from './store.ts';
import { createWalk, type Standing } from './walk.ts';

export const SIGN_IN_COOKIE = 'SVC_SIGN_IN';

export interface SignInDeps {
  sql: Sql;
  transact: Transact;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  flows: { treeFor(realm: string, override: string | undefined): Promise<{ tree: TreeNode[] }> };
  registry: readonly AuthenticatorRecord[];
  credentials: Credentials;
  sessions: Sessions;
  risk: RiskService;
  /** Bounds how often one address may fail. */
  attempts: { take(address: string): number | undefined; giveBack(address: string): void };
  baseUrl: string;
  now: () => Date;
}

export interface BeginInput {
  realm: string;
  clientId?: string | undefined;
  clientName?: string | undefined;
  /** The client's flow instead of the realm's. */
  flow?: string | undefined;
  /** The level of assurance that is asked for; 0 or 1: any. */
  requiredLevel: number;
  /** The person must prove again who they are, although there is a session. */
  forced: boolean;
  loginHint?: string | undefined;
  session?: SsoSession | undefined;
  /** The caller's own; given back by {@link SignIns.finished}. */
  request: unknown;
  /** Where to go afterwards: a path of this server. */
  continueAt: string;
  /** Where that will lead the browser in the end: the CSP's form-action has to know. */
  redirectTo?: string | undefined;
}

/** Where a sign-in stands, for the page that shows it. */
export interface View {
  state: SignInState;
  settings: RealmSettingsDto;
  standing: Standing;
  /** The step's form; absent where there is nothing to fill in. */
  page: StepPage | undefined;
  csrf: string;
}

const LIFETIME_SECONDS = 1800;

export function createSignIns(deps: SignInDeps) {
  const { sql, transact, settings, registry, credentials, risk, attempts, baseUrl, now } = deps;
  const walk = createWalk({ registry, credentials, tree: deps.flows.treeFor });
  const actions = createActions({ credentials, transact, settings });
  const finish = createFinish(deps);
  const methods = new Map(registry.filter((r): r is Method => r.category === 'METHOD').map((r) => [r.id, r]));
  const cookieOptions = (realm: string) => ({
    path: `/realms/${realm}`,
    httpOnly: true,
    sameSite: 'lax' as const,
    secure: baseUrl.startsWith('https:'),
  });
  const csrfOf = (token: string): string => sha256(`csrf:${token}`).toString('base64url');
  const byOf = (request: FastifyRequest): By => ({ actor: null, ipAddress: request.ip });

  async function settingsOf(realm: string): Promise<RealmSettingsDto> {
    const found = await settings.of(realm);
    if (!found) throw new Problem('not-found', 'There is no such realm here.');
    return found;
  }
  async function load(request: FastifyRequest, realm: string) {
    const token = request.cookies[SIGN_IN_COOKIE];
    if (!token) return undefined;
    const id = sha256(token);
    const state = await store.read(sql, realm, id, now());
    return state && { id, token, state };
  }

  function methodOf(authenticatorId: string): Method {
    const method = methods.get(authenticatorId);
    if (!method) throw new Error(`the flow asks for ${authenticatorId}, which this server does not have`);
    return method;
  }
  const stepOf = (
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto,
    state: SignInState,
    ask: Extract<Standing, { do: 'ask' }>,
  ): Step => ({
    realm,
    settings: policy,
    by: byOf(request),
    user: state.user,
    config: ask.config,
    enrol: ask.enrol,
    loginHint: state.loginHint,
    kept: state.kept[ask.executionId] ?? {},
  });

  /** The first look at a person whom the tree has just identified. */
  async function look(request: FastifyRequest, realm: string, policy: RealmSettingsDto, state: SignInState) {
    if (!state.user || state.risk) return state;
    const scored = await risk.score(request, realm, policy, state.user.id);
    return { ...state, risk: scored, ...(scored?.action === 'deny' ? { refused: 'risk' as const } : {}) };
  }

  async function recordFailure(
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto,
    state: SignInState,
    failure: { reason: string; name?: string | undefined; user?: SignInState['user'] },
  ): Promise<void> {
    const who = failure.user ?? state.user;
    await transact(async ({ sql: on, record }) => {
      if (who) await risk.failed(on, realm, policy, who.id, request.ip);
      record({
        type: 'LOGIN_FAILURE',
        realm,
        by: byOf(request),
        subject: { type: 'user', id: who?.id ?? null, name: who?.username ?? failure.name ?? null },
        clientId: state.clientId ?? null,
        outcome: 'failure',
        data: { reason: failure.reason, ...(state.risk ? { risk: state.risk } : {}) },
      });
    });
  }

  /** Verifies what the person sent for the step that is asked. @returns the state after it */
  async function verify(
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto,
    state: SignInState,
    ask: Extract<Standing, { do: 'ask' }>,
    form: Form,
  ): Promise<SignInState> {
    const wait = attempts.take(request.ip);
    if (wait !== undefined) {
      const message = `Too many failed tries from your network. Wait ${wait} seconds, then try again.`;
      return { ...state, complaint: { field: 'form', message } };
    }
    const method = methodOf(ask.authenticatorId);
    const verdict = await method.verify(stepOf(request, realm, policy, state, ask), form);
    if (verdict.do === 'again') {
      const { complaint, reason, user } = verdict;
      if (reason === '') attempts.giveBack(request.ip);
      else await recordFailure(request, realm, policy, state, { reason, name: complaint.values?.username, user });
      return { ...state, complaint };
    }
    attempts.giveBack(request.ip);
    const user = verdict.user ?? state.user;
    const another = state.session !== undefined && state.session.user.id !== user?.id;
    const base = another ? { ...state, session: undefined, proven: [], fresh: [], risk: undefined } : state;
    return {
      ...base,
      user,
      proven: [...new Set([...base.proven, ask.authenticatorId])],
      fresh: [...new Set([...base.fresh, ask.authenticatorId])],
      kept: {},
      complaint: undefined,
      rememberMe: verdict.rememberMe ?? state.rememberMe,
    };
  }

  /** What a sign-in tells the audit log when it comes to a new step: a second factor, a refusal. */
  async function announce(
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto,
    state: SignInState,
  ): Promise<SignInState> {
    const standing = await walk(realm, policy, state);
    if (standing.do === 'refused' && !state.refused) {
      await recordFailure(request, realm, policy, state, { reason: standing.because });
      return { ...state, refused: standing.because };
    }
    const second = standing.do === 'ask' && !methodOf(standing.authenticatorId).identifies;
    if (!second || state.challenged || !state.user) return state;
    const { id, username: name } = state.user;
    await transact(async ({ record }) =>
      record({
        type: 'MFA_CHALLENGE',
        realm,
        by: byOf(request),
        subject: { type: 'user', id, name },
        clientId: state.clientId ?? null,
        data: {
          authenticator: standing.authenticatorId,
          enrolment: standing.enrol,
          ...(state.risk ? { risk: state.risk } : {}),
        },
      }),
    );
    return { ...state, challenged: true };
  }

  async function pageOf(
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto,
    state: SignInState,
    at: Standing,
  ) {
    if (at.do === 'act') return actions.page(policy, state.complaint);
    if (at.do !== 'ask') return undefined;
    return methodOf(at.authenticatorId).begin(stepOf(request, realm, policy, state, at), state.complaint);
  }

  return {
    /** Begins a sign-in and sends the browser to its pages. */
    async begin(reply: FastifyReply, request: FastifyRequest, input: BeginInput): Promise<FastifyReply> {
      const { realm, session, forced } = input;
      const policy = await settingsOf(realm);
      const known = session && !forced;
      const fresh: SignInState = {
        version: 0,
        clientId: input.clientId,
        clientName: input.clientName,
        flow: input.flow,
        requiredLevel: input.requiredLevel,
        loginHint: input.loginHint ?? (forced ? (session?.username ?? '') : ''),
        session: session && {
          id: session.id,
          user: { id: session.userId, username: session.username },
          methods: session.methods,
        },
        request: input.request,
        continueAt: input.continueAt,
        redirectTo: input.redirectTo,
        user: known ? { id: session.userId, username: session.username } : undefined,
        proven: known ? [...methods.values()].filter((m) => session.methods.includes(m.amr)).map((m) => m.id) : [],
        fresh: [],
        kept: {},
        rememberMe: session?.rememberMe ?? false,
        challenged: false,
      };
      const state = await announce(request, realm, policy, await look(request, realm, policy, fresh));
      const token = randomBytes(32).toString('base64url');
      const expiresAt = new Date(now().getTime() + LIFETIME_SECONDS * 1000);
      await store.insert(sql, realm, sha256(token), state, now(), expiresAt);
      void reply.setCookie(SIGN_IN_COOKIE, token, { ...cookieOptions(realm), maxAge: LIFETIME_SECONDS });
      return reply.redirect(`/realms/${realm}/login`, 303);
    },

    /** Where the request's sign-in stands; undefined: there is none, or it has expired. */
    async view(request: FastifyRequest, realm: string): Promise<View | undefined> {
      const loaded = await load(request, realm);
      if (!loaded) return undefined;
      const { id, token, state } = loaded;
      const policy = await settingsOf(realm);
      const standing = await walk(realm, policy, state);
      const page = await pageOf(request, realm, policy, state, standing);
      if (page?.keep && standing.do === 'ask' && state.kept[standing.executionId] === undefined) {
        const kept = { [standing.executionId]: page.keep };
        // Lost where two pages were opened at once: then this one shows what the other kept.
        if (!(await store.save(sql, realm, id, { ...state, kept }))) return this.view(request, realm);
      }
      return { state, settings: policy, standing, page, csrf: csrfOf(token) };
    },

    /**
     * Takes what a person sent. Whatever the outcome, the browser is sent on by 303, so that going back or reloading
     * never sends a password twice.
     * @returns where to; undefined: there is no such sign-in (any more), or the form was not one of its own
     */
    async submit(reply: FastifyReply, request: FastifyRequest, realm: string, form: Form): Promise<string | undefined> {
      const loaded = await load(request, realm);
      if (!loaded || form.csrf !== csrfOf(loaded.token)) return undefined;
      const { id, state } = loaded;
      const here = `/realms/${realm}/login`;
      if (state.done) return state.continueAt;
      const policy = await settingsOf(realm);
      const save = async (to: SignInState) => void (await store.save(sql, realm, id, to));
      if (form.do === 'restart') {
        await save(restarted(state));
        return here;
      }
      if (form.do === 'choose') {
        await save({ ...state, chosen: form.execution, complaint: undefined });
        return here;
      }
      const standing = await walk(realm, policy, state);
      let after = state;
      if (standing.do === 'ask' && form.step === standing.executionId)
        after = await look(request, realm, policy, await verify(request, realm, policy, state, standing, form));
      else if (standing.do === 'act' && form.step === standing.action)
        after = await actions.changePassword(realm, byOf(request), state, form);
      else if (standing.do !== 'finish') return here;
      after = await announce(request, realm, policy, after);
      const then = await walk(realm, policy, after);
      if (then.do !== 'finish') {
        await save(after);
        return here;
      }
      return (await finish(reply, request, realm, policy, id, after, then.level)) ? after.continueAt : here;
    },

    /** A sign-in that needed nothing more from the person (its session was good enough). */
    async complete(reply: FastifyReply, request: FastifyRequest, realm: string): Promise<string | undefined> {
      const loaded = await load(request, realm);
      if (!loaded) return undefined;
      if (loaded.state.done) return loaded.state.continueAt;
      const policy = await settingsOf(realm);
      const standing = await walk(realm, policy, loaded.state);
      if (standing.do !== 'finish') return undefined;
      await finish(reply, request, realm, policy, loaded.id, loaded.state, standing.level);
      return loaded.state.continueAt;
    },

    /** What the request's sign-in came to, for whoever began it. */
    async finished(
      request: FastifyRequest,
      realm: string,
    ): Promise<{ signIn: SignInState; request: unknown; done: NonNullable<SignInState['done']> } | undefined> {
      const state = (await load(request, realm))?.state;
      return state?.done && { signIn: state, request: state.request, done: state.done };
    },

    /** Forgets the request's sign-in. */
    async discard(reply: FastifyReply, request: FastifyRequest, realm: string): Promise<void> {
      const token = request.cookies[SIGN_IN_COOKIE];
      if (token) await store.remove(sql, realm, sha256(token));
      void reply.clearCookie(SIGN_IN_COOKIE, cookieOptions(realm));
    },
  };
}
export type SignIns = ReturnType<typeof createSignIns>;
