// The end of a sign-in: one transaction that makes or raises the session, tells the audit log, and says so in its state.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../contract/events.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import type { RiskService } from '../risk/service.ts';
import type { Sessions, SsoSession } from '../sessions/service.ts';
import type { SignInState } from './state.ts';
import * as store from './store.ts';

export interface FinishDeps {
  transact: Transact;
  registry: readonly AuthenticatorRecord[];
  sessions: Sessions;
  risk: RiskService;
}

class Lost extends Error {}

export function createFinish({ transact, registry, sessions, risk }: FinishDeps) {
  const amrOf = (ids: readonly string[]): string[] =>
    registry.flatMap((r) => (r.category === 'METHOD' && ids.includes(r.id) ? [r.amr] : []));

  /** The session that was proven anew goes on; anything else is a new one. */
  async function establish(
    tx: Tx,
    realm: string,
    by: By,
    request: FastifyRequest,
    state: SignInState,
    user: { id: string; username: string },
    level: number,
  ): Promise<{
    session: Pick<SsoSession, 'id' | 'realm' | 'rememberMe' | 'expiresAt' | 'authenticatedAt'>;
    token: string;
    level: number;
  }> {
    const methods = amrOf(state.proven);
    const before = state.session && (await sessions.byId(realm, state.session.id, tx.sql));
    if (before && before.userId === user.id) {
      const raised = Math.max(level, before.levelOfAssurance);
      const all = [...new Set([...before.methods, ...methods])];
      const upgraded = await sessions.upgrade(tx, realm, before.id, { level: raised, methods: all });
      if (upgraded) return { session: { ...before, ...upgraded }, token: upgraded.token, level: raised };
    }
    if (before) await sessions.end(tx, realm, by, before.id, { because: 'reauthentication' });
    const started = await sessions.start(tx, realm, by, {
      user,
      level,
      methods,
      rememberMe: state.rememberMe,
      ipAddress: request.ip,
      userAgent: request.headers['user-agent'] ?? null,
    });
    return { ...started, level };
  }

  /** @returns whether it was this request that finished it */
  return async function finish(
    reply: FastifyReply,
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto,
    id: Buffer,
    state: SignInState,
    level: number,
  ): Promise<boolean> {
    const { user } = state;
    if (!user) return false;
    const party = { type: 'user' as const, id: user.id, name: user.username };
    const by: By = { actor: party, ipAddress: request.ip };
    try {
      const { established, device } = await transact(async (tx) => {
        const established = await establish(tx, realm, by, request, state, user, level);
        const { session } = established;
        const device = await risk.succeeded(tx.sql, request, realm, policy, user.id);
        const done = {
          sessionId: session.id,
          authenticatedAt: session.authenticatedAt.getTime(),
          level: established.level,
        };
        if (!(await store.save(tx.sql, realm, id, { ...state, kept: {}, complaint: undefined, done })))
          throw new Lost();
        tx.record({
          type: 'LOGIN_SUCCESS',
          realm,
          by,
          subject: party,
          clientId: state.clientId ?? null,
          data: {
            sessionId: session.id,
            levelOfAssurance: established.level,
            methods: amrOf(state.fresh),
            ...(state.risk ? { risk: state.risk } : {}),
          },
        });
        return { established, device };
      });
      sessions.setCookie(reply, established.session, established.token);
      if (device) risk.setCookie(reply, realm, device);
      return true;
    } catch (error) {
      // Two posts at once: the other one finished it, and its cookies are the ones that count.
      if (error instanceof Lost) return false;
      throw error;
    }
  };
}
