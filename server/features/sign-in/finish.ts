// The end of a sign-in: one transaction that makes or raises the session, tells the audit log, does what the sign-in was
// begun for where that can be done at once, and says so in its state.
import type { FastifyReply } from 'fastify';
import type { By } from '../../contract/events.ts';
import { refersToNothing } from '../../db/error-code.ts';
import { createGroupCommit } from '../../db/group-commit.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import { type Factors, merged } from '../../domain/factors.ts';
import { isWithdrawn } from '../../domain/proof.ts';
import type { RiskService } from '../risk/service.ts';
import type { PlannedSession, Sessions, SsoSession } from '../sessions/service.ts';
import type { Visit } from './action.ts';
import type { Continuation, Next, Writes } from './continuation.ts';
import { inTab, type SignInCookie } from './cookie.ts';
import type { Held } from './held.ts';
import { countedOf, provenBy, provenFrom, type SignInState } from './state.ts';
import * as store from './store.ts';

export interface FinishDeps {
  transact: Transact;
  factors: Factors;
  sessions: Sessions;
  risk: RiskService;
  cookie: SignInCookie;
  now: () => Date;
}

/** How a request is answered. */
export type Answer = (reply: FastifyReply) => FastifyReply;

/** A sign-in that has come to its end. */
export interface Ending extends Visit {
  held: Held;
  state: SignInState;
  level: number;
}

/** How it is to end: from here on there is only writing. */
interface Plan extends Ending {
  user: NonNullable<SignInState['user']>;
  by: By;
  /** The session, where none goes on. */
  planned: PlannedSession;
  /** What the sign-in was begun for, where that can be done at once. */
  next: Next | undefined;
}
interface Established {
  session: Pick<SsoSession, 'id' | 'realm' | 'rememberMe' | 'expiresAt'>;
  token: string;
}
interface Ended extends Established {
  /** The device's cookie, where devices are known again. */
  device: string | undefined;
}

class Lost extends Error {}

export function createFinish({ transact, factors, sessions, risk, cookie, now }: FinishDeps) {
  /** Sessions that begin at the same moment are one commit. Whom it passes over it says nothing of: they go alone. */
  const together = createGroupCommit<Plan, Ended>({
    transact,
    async work(tx, plans) {
      // Nobody waits for a row that has to do with somebody else.
      tx.atLast`set local lock_timeout = '50ms'`;
      return plans.map((plan) => begin(tx, plan));
    },
  });

  async function planOf(ending: Ending, user: Plan['user'], continuation: Continuation): Promise<Plan> {
    const { request, realm, state } = ending;
    const by: By = { actor: { type: 'user', id: user.id, name: user.username }, ipAddress: request.ip };
    const planned = await sessions.plan(realm, {
      user,
      factors: countedOf(state, now()),
      findings: state.risk?.findings ?? null,
      proven: provenBy(state, user, now()),
      rememberMe: state.rememberMe,
      ipAddress: request.ip,
      userAgent: request.headers['user-agent'] ?? null,
    });
    // A session that goes on is known only when it is read again.
    const next =
      state.session === undefined && state.continueAt === continuation.continueAt(realm)
        ? await continuation.prepare(state.request, request, realm, planned.session)
        : undefined;
    return { ...ending, user, by, planned, next };
  }

  /** The session that was proven anew goes on; anything else is a new one. */
  async function establish(tx: Tx, { realm, state, by, planned }: Plan): Promise<Established> {
    const { session } = planned;
    const before = state.session && (await sessions.byId(realm, state.session.id, tx.sql));
    if (before && before.userId === session.userId) {
      const token = await sessions.upgrade(tx, realm, before.id, {
        factors: merged(before.factors, state.factors),
        findings: session.findings ?? before.findings,
        proven: planned.proven,
      });
      if (token !== undefined) return { session: before, token };
    }
    if (before) await sessions.end(tx, realm, by, before.id, { because: 'reauthentication' });
    await sessions.makeRoom(tx, realm, by, { id: session.userId, username: session.username });
    sessions.begin(tx, realm, planned);
    return planned;
  }

  /** What nothing has to be read for. */
  function conclude(tx: Writes, plan: Plan, { session, token }: Established): Ended {
    const { request, realm, policy, held, state, level, user, by, next } = plan;
    const device = risk.succeeded(tx.atLast, request, realm, policy, {
      userId: user.id,
      deviceKnown: state.deviceKnown,
    });
    // Where nothing is left to go on to there is nothing to keep: its form sent again proves everything again.
    if (!held.stored && !next)
      store.insertLast(tx.atLast, realm, held.id, over(plan, session, now()), now(), held.expiresAt);
    tx.record({
      type: 'LOGIN_SUCCESS',
      realm,
      by,
      subject: by.actor,
      clientId: state.clientId ?? null,
      data: {
        sessionId: session.id,
        levelOfAssurance: level,
        methods: factors.amrOf(state.factors),
        ...(state.risk ? { risk: state.risk } : {}),
      },
    });
    next?.write(tx);
    return { session, token, device };
  }

  function begin(tx: Writes, plan: Plan): Ended {
    sessions.begin(tx, plan.realm, plan.planned);
    return conclude(tx, plan, plan.planned);
  }
  async function beginOrGoOn(tx: Tx, plan: Plan): Promise<Ended> {
    const { realm, held } = plan;
    const established = await establish(tx, plan);
    if (held.stored && !(await store.save(tx.sql, realm, held.id, over(plan, established.session, now()))))
      throw new Lost();
    return conclude(tx, plan, established);
  }

  /** @returns 'lost': another request finished it, or went on with it; 'withdrawn': what was proven holds no more */
  return async function finish(
    reply: FastifyReply,
    ending: Ending,
    continuation: Continuation,
  ): Promise<Answer | 'lost' | 'withdrawn'> {
    if (!ending.state.user) return 'lost';
    const plan = await planOf(ending, ending.state.user, continuation);
    try {
      return await write(reply, plan);
    } catch (error) {
      // What it was for was deleted at the same moment: the person is signed in, and told so where they would go on.
      if (plan.next && refersToNothing(error)) return write(reply, { ...plan, next: undefined });
      throw error;
    }
  };

  async function write(reply: FastifyReply, plan: Plan): Promise<Answer | 'lost' | 'withdrawn'> {
    const { realm, policy, held, state, next } = plan;
    const nothingToRead = state.session === undefined && !held.stored && policy.maxConcurrentSessions === 0;
    try {
      const ended =
        (nothingToRead ? await together(plan) : undefined) ?? (await transact(realm, (tx) => beginOrGoOn(tx, plan)));
      sessions.setCookie(reply, ended.session, ended.token);
      if (ended.device) risk.setCookie(reply, realm, ended.device);
      if (next) cookie.clear(reply, realm, held.tab);
      else if (!held.stored) cookie.keep(reply, realm, held);
      return next?.send ?? ((to) => to.redirect(inTab(state.continueAt, held.tab), 303));
    } catch (error) {
      // Two posts at once: the other one finished it, and its cookies are the ones that count.
      if (error instanceof Lost || store.isKept(error)) return 'lost';
      if (isWithdrawn(error)) return 'withdrawn';
      throw error;
    }
  }
}

/** How the sign-in is kept from here on. */
const over = ({ state, level, next }: Plan, { id }: Established['session'], now: Date): SignInState => ({
  ...state,
  kept: {},
  complaint: undefined,
  done: { sessionId: id, at: now.getTime(), level, since: provenFrom(state, now) },
  ...(next ? { spent: true } : {}),
});
