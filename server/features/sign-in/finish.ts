// The end of a sign-in: one transaction that makes or raises the session, tells the audit log, does what the sign-in was
// begun for where that can be done at once, and says so in its state.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../contract/events.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import type { RiskService } from '../risk/service.ts';
import type { PlannedSession, Sessions, SsoSession } from '../sessions/service.ts';
import type { Continuation } from './continuation.ts';
import type { SignInCookie } from './cookie.ts';
import type { SignInState } from './state.ts';
import * as store from './store.ts';

export interface FinishDeps {
  transact: Transact;
  registry: readonly AuthenticatorRecord[];
  sessions: Sessions;
  risk: RiskService;
  cookie: SignInCookie;
  now: () => Date;
}

/** A sign-in that a request holds. */
export interface Held {
  token: string;
  id: Buffer;
  state: SignInState;
  expiresAt: Date;
  /** Whether the state is a row's; else it is how the sign-in began, by its cookie. */
  stored: boolean;
}

/** How a request is answered. */
export type Answer = (reply: FastifyReply) => FastifyReply;

class Lost extends Error {}

export function createFinish({ transact, registry, sessions, risk, cookie, now }: FinishDeps) {
  const amrOf = (ids: readonly string[]): string[] =>
    registry.flatMap((r) => (r.category === 'METHOD' && ids.includes(r.id) ? [r.amr] : []));

  /** The session that was proven anew goes on; anything else is a new one. */
  async function establish(
    tx: Tx,
    realm: string,
    by: By,
    state: SignInState,
    planned: PlannedSession,
  ): Promise<{
    session: Pick<SsoSession, 'id' | 'realm' | 'rememberMe' | 'expiresAt' | 'authenticatedAt' | 'levelOfAssurance'>;
    token: string;
  }> {
    const { session } = planned;
    const before = state.session && (await sessions.byId(realm, state.session.id, tx.sql));
    if (before && before.userId === session.userId) {
      const level = Math.max(session.levelOfAssurance, before.levelOfAssurance);
      const methods = [...new Set([...before.methods, ...session.methods])];
      const upgraded = await sessions.upgrade(tx, realm, before.id, { level, methods });
      const { token, authenticatedAt } = upgraded ?? {};
      if (token && authenticatedAt) return { session: { ...before, authenticatedAt, levelOfAssurance: level }, token };
    }
    if (before) await sessions.end(tx, realm, by, before.id, { because: 'reauthentication' });
    await sessions.start(tx, realm, by, planned);
    return planned;
  }

  async function keep(tx: Tx, realm: string, { id, stored, expiresAt }: Held, state: SignInState): Promise<void> {
    if (!stored) store.insertLast(tx.atLast, realm, id, state, now(), expiresAt);
    else if (!(await store.save(tx.sql, realm, id, state))) throw new Lost();
  }

  /** @returns undefined: another request finished it, or went on with it */
  return async function finish(
    reply: FastifyReply,
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto,
    held: Held,
    { state, level }: { state: SignInState; level: number },
    continuation: Continuation,
  ): Promise<Answer | undefined> {
    const { user } = state;
    if (!user) return undefined;
    const party = { type: 'user' as const, id: user.id, name: user.username };
    const by: By = { actor: party, ipAddress: request.ip };
    const planned = await sessions.plan(realm, {
      user,
      level,
      methods: amrOf(state.proven),
      rememberMe: state.rememberMe,
      ipAddress: request.ip,
      userAgent: request.headers['user-agent'] ?? null,
    });
    // A session that goes on is known only when it is read again.
    const next =
      state.session === undefined && state.continueAt === continuation.continueAt(realm)
        ? await continuation.prepare(state.request, request, realm, planned.session)
        : undefined;
    try {
      const { session, token, device } = await transact(realm, async (tx) => {
        const { session, token } = await establish(tx, realm, by, state, planned);
        const device = risk.succeeded(tx.atLast, request, realm, policy, user.id);
        const done = {
          sessionId: session.id,
          authenticatedAt: session.authenticatedAt.getTime(),
          level: session.levelOfAssurance,
        };
        const over = { ...state, kept: {}, complaint: undefined, done };
        await keep(tx, realm, held, next ? { ...over, spent: true } : over);
        tx.record({
          type: 'LOGIN_SUCCESS',
          realm,
          by,
          subject: party,
          clientId: state.clientId ?? null,
          data: {
            sessionId: session.id,
            levelOfAssurance: session.levelOfAssurance,
            methods: amrOf(state.fresh),
            ...(state.risk ? { risk: state.risk } : {}),
          },
        });
        next?.write(tx);
        return { session, token, device };
      });
      sessions.setCookie(reply, session, token);
      if (device) risk.setCookie(reply, realm, device);
      if (next) cookie.clear(reply, realm);
      else if (!held.stored) cookie.keep(reply, realm, held.token, held.expiresAt);
      return next?.send ?? ((to) => to.redirect(state.continueAt, 303));
    } catch (error) {
      // Two posts at once: the other one finished it, and its cookies are the ones that count.
      if (error instanceof Lost || store.isKept(error)) return undefined;
      throw error;
    }
  };
}
