// The end of a sign-in, in one transaction: it creates or renews the session, writes the audit event, runs the continuation
// if possible, and stores the final state.

import type { FastifyReply } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { refersToNothing } from '../../../db/error-code.ts';
import { createGroupCommit } from '../../../db/group-commit.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { type Factors, mergedFactors } from '../../../domain/factors.ts';
import { isWithdrawn } from '../../../domain/proof.ts';
import { siteOf } from '../../../domain/site.ts';
import { causeOf } from '../../../telemetry/spans.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { PlannedSession, Sessions, SsoSession } from '../../people/sessions/service.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import type { NewDevices } from '../new-device/service.ts';
import type { RiskService } from '../risk/service.ts';
import type { Continuation, ContinuationStep, Writes } from './continuation.ts';
import { inTab, LIFETIME_SECONDS } from './cookie.ts';
import { finishedState } from './machine.ts';
import type { Visit } from './run.ts';
import { continuesAt, countedOf, type FinishedState, type IdentifiedState, provenBy, provenFrom } from './state.ts';
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

/** The response to a request. */
export type Answer = (reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

/** A sign-in that has everything it needs. */
export interface Ending extends Visit {
  held: HeldSignIn;
  state: IdentifiedState;
  level: number;
}

/** Everything that will be written; no decision follows. */
interface Plan extends Ending {
  by: By;
  /** The session to create if no session is renewed. */
  planned: PlannedSession;
  /** The continuation, if it can run in this transaction. */
  next: ContinuationStep | undefined;
  /** The user doesn't know the device, so a mail must be sent; not if the user's own session is renewed. */
  mustBeTold: boolean;
}
interface Established {
  session: Pick<SsoSession, 'id' | 'realm' | 'rememberMe' | 'expiresAt'>;
  token: string;
  /** The level of a session that goes on, before this sign-in. */
  previousLevel?: number;
}
interface Ended extends Established {
  /** The value of the device cookie, if the device is remembered. */
  device: string | undefined;
}

export function createFinish(deps: FinishDeps) {
  const { transact, registry, factors, credentials, sessions, risk, newDevices, storage, baseUrl, now } = deps;
  /**
   * Group commit: sessions that begin at the same moment share a transaction. Plans that it leaves out are written one by
   * one, and fail there with their own reason.
   */
  const together = createGroupCommit<Plan, Ended>({
    transact,
    async work(tx, plans) {
      // A plan that meets a locked row is left out at once, so that no sign-in waits for another user's lock.
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
    // Whether a former session continues is known only when it is read again, and the user's final data only when it is
    // written. In both cases no continuation is prepared.
    const next =
      state.before === undefined && state.atEnd === undefined
        ? await continuation?.prepare(purpose.request, request, realm, planned.session)
        : undefined;
    const mustBeTold =
      state.deviceNew === true && state.before?.user.id !== user.id && (await newDevices.tells(realm, ending.policy));
    return { ...ending, by, planned, next, mustBeTold };
  }

  /** Renews the former session if it still lives; otherwise begins a new one. */
  async function establish(tx: Tx, { realm, held, state, by, planned }: Plan): Promise<Established> {
    const { session } = planned;
    const before = state.before && (await sessions.byId(realm, state.before.id, tx.sql));
    if (before && before.userId === session.userId) {
      const token = await sessions.upgrade(tx, realm, before.id, {
        factors: mergedFactors(before.factors, state.factors),
        findings: session.findings ?? before.findings,
        proven: planned.proven,
      });
      if (token !== undefined) return { session: before, token, previousLevel: factors.levelOf(before.factors) };
    }
    if (before) {
      await storage.detach(tx, realm, held);
      await sessions.end(tx, realm, by, before.id, { because: 'reauthentication' });
    }
    await sessions.makeRoom(tx, realm, by, { id: session.userId, username: session.username });
    sessions.begin(tx, realm, planned);
    return planned;
  }

  /** The final state of the sign-in. */
  const endOf = ({ state, level, next }: Plan, { id }: Established['session']): FinishedState =>
    finishedState(
      state,
      { sessionId: id, at: now().getTime(), level, since: provenFrom(state, now()) },
      { spent: next !== undefined },
    );

  /** Writes that read nothing. */
  function conclude(tx: Writes, plan: Plan, { session, token, previousLevel }: Established): Ended {
    const { request, realm, policy, held, state, level, by, next } = plan;
    const device = risk.succeeded(tx.atLast, request, realm, policy, {
      userId: state.user.id,
      deviceKnown: state.deviceKnown,
      isTheirs: state.rememberDevice ?? false,
    });
    if (policy.lockoutEnabled) credentials.forgetFailures(tx.atLast, realm, state.user.id);
    // If the continuation runs in this transaction, no state is stored: a form that is sent again proves everything again.
    if (!held.stored && !next) storage.keepOverLast(tx.atLast, realm, held, endOf(plan, session));
    tx.record({
      cause: causeOf(plan),
      type: 'LOGIN_SUCCESS',
      realm,
      by,
      subject: by.actor,
      clientId: state.purpose.clientId ?? null,
      data: {
        sessionId: session.id,
        levelOfAssurance: level,
        ...(previousLevel !== undefined && { previousLevel }),
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
  /** Writes the pending results of the authenticators. */
  async function writeAtEnd(tx: Tx, { realm, by, state: { user, atEnd = {} } }: Plan, sessionId: string) {
    for (const entry of registry) {
      const kept = atEnd[entry.id];
      if (kept && entry.category === 'METHOD') await entry.atEnd?.(tx, { realm, by, user, sessionId, kept });
    }
  }
  async function beginOrGoOn(tx: Tx, plan: Plan): Promise<Ended> {
    const { realm, held } = plan;
    const established = await establish(tx, plan);
    // The mail goes to the address that the user had until now, because the provider of this sign-in may change it.
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

  /** @returns 'lost': another request has ended or continued the sign-in; 'withdrawn': a proof no longer holds */
  return async function finish(
    reply: FastifyReply,
    ending: Ending,
    continuation: Continuation | undefined,
  ): Promise<Answer | 'lost' | 'withdrawn'> {
    const plan = await planOf(ending, continuation);
    try {
      return await write(reply, plan);
    } catch (error) {
      // The client of the request was deleted at the same moment. The session begins anyway, and the next page reports the
      // missing client.
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
      return next?.send ?? ((to) => to.redirect(inTab(continuesAt(state), held.tab), 303));
    } catch (error) {
      // Two requests sent the form at once: the other one has ended the sign-in, and its cookies count.
      if (storage.isLost(error)) return 'lost';
      if (isWithdrawn(error)) return 'withdrawn';
      throw error;
    }
  }
}
