// The end of a sign-in: one transaction that makes or raises the session, tells the audit log, does what the sign-in was
// begun for where that can be done at once, and says so in its state.
import type { FastifyReply } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { refersToNothing } from '../../../db/error-code.ts';
import { createGroupCommit } from '../../../db/group-commit.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { type Factors, mergedFactors } from '../../../domain/factors.ts';
import { isWithdrawn } from '../../../domain/proof.ts';
import { siteOf } from '../../../domain/site.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { PlannedSession, Sessions, SsoSession } from '../../people/sessions/service.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import type { NewDevices } from '../new-device/service.ts';
import type { RiskService } from '../risk/service.ts';
import type { Continuation, ContinuationStep, Writes } from './continuation.ts';
import { inTab, LIFETIME_SECONDS } from './cookie.ts';
import { finishedState } from './machine.ts';
import type { Visit } from './run.ts';
import { countedOf, type FinishedState, type IdentifiedState, provenBy, provenFrom } from './state.ts';
import type { HeldSignIn, Storage } from './storage.ts';

export interface FinishDeps {
  transact: Transact;
  registry: readonly AuthenticatorRecord[];
  factors: Factors;
  credentials: Pick<Credentials, 'forgetFailures'>;
  sessions: Sessions;
  risk: RiskService;
  newDevices: Pick<NewDevices, 'tell' | 'tells'>;
  storage: Storage;
  baseUrl: string;
  now: () => Date;
}

/** How a request is answered. */
export type Answer = (reply: FastifyReply) => FastifyReply;

/** A sign-in that has come to its end. */
export interface Ending extends Visit {
  held: HeldSignIn;
  state: IdentifiedState;
  level: number;
}

/** What is to be written; nothing is decided after it. */
interface Plan extends Ending {
  by: By;
  /** The session, where none goes on. */
  planned: PlannedSession;
  /** What the sign-in was begun for, where that can be done at once. */
  next: ContinuationStep | undefined;
  /** A sign-in on a device that its person doesn't know; none that goes on from a session of theirs. */
  mustBeTold: boolean;
}
interface Established {
  session: Pick<SsoSession, 'id' | 'realm' | 'rememberMe' | 'expiresAt'>;
  token: string;
}
interface Ended extends Established {
  /** The device's cookie, where devices are known again. */
  device: string | undefined;
}

export function createFinish(deps: FinishDeps) {
  const { transact, registry, factors, credentials, sessions, risk, newDevices, storage, baseUrl, now } = deps;
  /** Sessions that begin at the same moment share a commit. Those that it leaves out are written one by one, and learn their reason there. */
  const together = createGroupCommit<Plan, Ended>({
    transact,
    async work(tx, plans) {
      // Rows that are locked are left out, so that nobody waits for another person's.
      tx.atLast`set local lock_timeout = '50ms'`;
      return plans.map((plan) => begin(tx, plan));
    },
  });

  async function planOf(ending: Ending, continuation: Continuation | undefined): Promise<Plan> {
    const { request, realm, state } = ending;
    const { user, purpose } = state;
    const by: By = { actor: { type: 'user', id: user.id, name: user.username }, ipAddress: request.ip };
    const planned = await sessions.plan(realm, {
      user,
      factors: countedOf(state, now()),
      findings: state.risk?.findings ?? null,
      proven: provenBy(state, now()),
      rememberMe: state.rememberMe,
      ipAddress: request.ip,
      userAgent: request.headers['user-agent'] ?? null,
    });
    // Whether a session goes on is known only when it is read again, and who the person is when that is written.
    const next =
      state.before === undefined && state.atEnd === undefined
        ? await continuation?.prepare(purpose.request, request, realm, planned.session)
        : undefined;
    const mustBeTold =
      state.deviceNew === true && state.before?.user.id !== user.id && (await newDevices.tells(realm, ending.policy));
    return { ...ending, by, planned, next, mustBeTold };
  }

  /** The session that was proven anew goes on; anything else is a new one. */
  async function establish(tx: Tx, { realm, held, state, by, planned }: Plan): Promise<Established> {
    const { session } = planned;
    const before = state.before && (await sessions.byId(realm, state.before.id, tx.sql));
    if (before && before.userId === session.userId) {
      const token = await sessions.upgrade(tx, realm, before.id, {
        factors: mergedFactors(before.factors, state.factors),
        findings: session.findings ?? before.findings,
        proven: planned.proven,
      });
      if (token !== undefined) return { session: before, token };
    }
    if (before) {
      await storage.detach(tx, realm, held);
      await sessions.end(tx, realm, by, before.id, { because: 'reauthentication' });
    }
    await sessions.makeRoom(tx, realm, by, { id: session.userId, username: session.username });
    sessions.begin(tx, realm, planned);
    return planned;
  }

  /** How the sign-in is kept from here on. */
  const endOf = ({ state, level, next }: Plan, { id }: Established['session']): FinishedState =>
    finishedState(
      state,
      { sessionId: id, at: now().getTime(), level, since: provenFrom(state, now()) },
      { spent: next !== undefined },
    );

  /** Writes for which nothing has to be read. */
  function conclude(tx: Writes, plan: Plan, { session, token }: Established): Ended {
    const { request, realm, policy, held, state, level, by, next } = plan;
    const device = risk.succeeded(tx.atLast, request, realm, policy, {
      userId: state.user.id,
      deviceKnown: state.deviceKnown,
      isTheirs: state.rememberDevice ?? false,
    });
    if (policy.lockoutEnabled) credentials.forgetFailures(tx.atLast, realm, state.user.id);
    // Where the sign-in leads nowhere else nothing is kept: a form that is sent again proves everything again.
    if (!held.stored && !next) storage.keepOverLast(tx.atLast, realm, held, endOf(plan, session));
    tx.record({
      type: 'LOGIN_SUCCESS',
      realm,
      by,
      subject: by.actor,
      clientId: state.purpose.clientId ?? null,
      data: {
        sessionId: session.id,
        levelOfAssurance: level,
        methods: factors.amrOf(state.factors),
        ...(state.note !== undefined && { reason: state.note }),
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
  /** What its authenticators have left for now. */
  async function writeAtEnd(tx: Tx, { realm, by, state: { user, atEnd = {} } }: Plan, sessionId: string) {
    for (const entry of registry) {
      const kept = atEnd[entry.id];
      if (kept && entry.category === 'METHOD') await entry.atEnd?.(tx, { realm, by, user, sessionId, kept });
    }
  }
  async function beginOrGoOn(tx: Tx, plan: Plan): Promise<Ended> {
    const { realm, held } = plan;
    const established = await establish(tx, plan);
    // At the address that they had until now: a provider may say another one by this very sign-in.
    if (plan.mustBeTold) await tellOf(tx, plan, established);
    await writeAtEnd(tx, plan, established.session.id);
    if (held.stored) await storage.keepOver(tx, realm, held, endOf(plan, established.session));
    return conclude(tx, plan, established);
  }
  const tellOf = (tx: Tx, { request, realm, policy, held, state, by }: Plan, { session }: Established) =>
    newDevices.tell(tx, realm, {
      by,
      userId: state.user.id,
      sessionId: session.id,
      begunAt: new Date(held.expiresAt.getTime() - LIFETIME_SECONDS * 1000),
      userAgent: request.headers['user-agent'],
      origin: siteOf(request, policy, baseUrl).origin,
    });

  /** @returns 'lost': another request finished it, or went on with it; 'withdrawn': what was proven holds no more */
  return async function finish(
    reply: FastifyReply,
    ending: Ending,
    continuation: Continuation | undefined,
  ): Promise<Answer | 'lost' | 'withdrawn'> {
    const plan = await planOf(ending, continuation);
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
    const goesOn = state.before !== undefined || state.atEnd !== undefined || held.stored;
    const nothingToRead = !goesOn && policy.maxConcurrentSessions === 0 && !plan.mustBeTold;
    try {
      const ended =
        (nothingToRead ? await together(plan) : undefined) ?? (await transact(realm, (tx) => beginOrGoOn(tx, plan)));
      sessions.setCookie(reply, ended.session, ended.token);
      if (ended.device) risk.setCookie(reply, realm, ended.device);
      if (next) storage.forget(reply, realm, held);
      else storage.isRow(reply, realm, held);
      return next?.send ?? ((to) => to.redirect(inTab(state.purpose.continueAt, held.tab), 303));
    } catch (error) {
      // Two posts at once: the other one finished it, and its cookies are the ones that count.
      if (storage.isLost(error)) return 'lost';
      if (isWithdrawn(error)) return 'withdrawn';
      throw error;
    }
  }
}
