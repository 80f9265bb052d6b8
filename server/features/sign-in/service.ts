// Owns: a sign-in under way: its state, the steps a person takes through the realm's flow, and the session at its end.
// Does not own: the order of steps (engine.ts), the steps (features/authenticators), what an application asked for (authorize).
// Implements: specification 1 (flows, adaptive authentication), 2.1, 2.3; decisions "Protocol paths".
import { randomBytes } from 'node:crypto';
import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { sameSecret, sha256 } from '../../crypto/tokens.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { AuthenticatorRecord, Form, StepPage } from '../authenticators/authenticator.ts';
import type { Credentials } from '../credentials/service.ts';
import type { TreeNode } from '../flows/tree.ts';
import type { RiskService } from '../risk/service.ts';
import type { Sessions, SsoSession } from '../sessions/service.ts';
import { createActions } from './actions.ts';
import { createFinish } from './finish.ts';
import { restarted, type SignInState } from './state.ts';
import { byOf, createSteps } from './steps.ts';
import * as store from './store.ts';
import { createWalk, type Standing } from './walk.ts';

const SIGN_IN_COOKIE = 'SVC_SIGN_IN';

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
  attempts: { blocked(address: string): number | undefined; fail(address: string): void };
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
  /** The caller's own; given back by {@link SignIns.take}. */
  request: unknown;
  /** Where to go afterwards: a path of this server. */
  continueAt: string;
  /** Where that will lead the browser in the end: the CSP's form-action has to know. */
  redirectTo?: string | undefined;
  /** Set where the sign-in page itself begins one, so that a browser that keeps no cookie isn't sent round for ever. */
  again?: boolean;
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
  const { sql, settings, registry, baseUrl, now } = deps;
  const walk = createWalk({ registry, credentials: deps.credentials, tree: deps.flows.treeFor });
  const actions = createActions(deps);
  const { look, verify, announce, pageOf } = createSteps({ ...deps, walk, actions });
  const finish = createFinish(deps);
  const cookieOptions = (realm: string) => ({
    path: `/realms/${realm}`,
    httpOnly: true,
    sameSite: 'lax' as const,
    secure: baseUrl.startsWith('https:'),
  });
  const csrfOf = (token: string): string => sha256(`csrf:${token}`).toString('base64url');

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
        proven: known
          ? registry.filter((r) => r.category === 'METHOD' && session.methods.includes(r.amr)).map((r) => r.id)
          : [],
        fresh: [],
        kept: {},
        rememberMe: session?.rememberMe ?? false,
        challenged: false,
      };
      const { state } = await announce(request, realm, policy, await look(request, realm, policy, fresh));
      const token = randomBytes(32).toString('base64url');
      const expiresAt = new Date(now().getTime() + LIFETIME_SECONDS * 1000);
      await store.insert(sql, realm, sha256(token), state, now(), expiresAt);
      void reply.setCookie(SIGN_IN_COOKIE, token, { ...cookieOptions(realm), maxAge: LIFETIME_SECONDS });
      return reply.redirect(`/realms/${realm}/login${input.again ? '?begun=1' : ''}`, 303);
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
      if (!loaded || !sameSecret(form.csrf ?? '', csrfOf(loaded.token))) return undefined;
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
      const then = await announce(request, realm, policy, after);
      if (then.standing.do !== 'finish') {
        await save(then.state);
        return here;
      }
      const finished = await finish(reply, request, realm, policy, id, then.state, then.standing.level);
      return finished ? state.continueAt : here;
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

    /** What the request's sign-in came to, for whoever began it to go on at `continueAt`; once. */
    async take(
      reply: FastifyReply,
      request: FastifyRequest,
      realm: string,
      continueAt: string,
    ): Promise<{ request: unknown; done: NonNullable<SignInState['done']> } | undefined> {
      const token = request.cookies[SIGN_IN_COOKIE];
      const state = token ? await store.take(sql, realm, sha256(token), continueAt, now()) : undefined;
      if (!state?.done) return undefined;
      void reply.clearCookie(SIGN_IN_COOKIE, cookieOptions(realm));
      return { request: state.request, done: state.done };
    },
  };
}
export type SignIns = ReturnType<typeof createSignIns>;
