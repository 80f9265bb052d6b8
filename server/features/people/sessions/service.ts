// Owns: users' sign-in sessions: cookie, timeouts, remember-me, the limit per user, how they end.
// Does not own: how a user signs in (features/authentication/sign-in), tokens (ended with the session by the database's cascade).
// Implements: specification 2.3 "Session policy meaning"; decisions "Session", "Reading and writing" (maxConcurrentSessions).

import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DAY_MS } from '../../../contract/durations.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { EndedSessions, ServiceAccountSession, Session } from '../../../contract/sessions.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { actedFrom, endActing } from '../../../domain/acting.ts';
import { endOfflineGrants } from '../../../domain/end-access.ts';
import type { Factor, Factors } from '../../../domain/factors.ts';
import { userParty } from '../../../domain/party.ts';
import type { Proven } from '../../../domain/proof.ts';
import { withQuery } from '../../../domain/redirect-uri.ts';
import type { Finding } from '../../../domain/risk.ts';
import { cutoffsOf } from '../../../domain/session.ts';
import { type PersonStanding, standingOf } from '../../../domain/standing.ts';
import { forgetActing, noteActing } from '../../../http/acting-notice.ts';
import { realmCookie } from '../../../http/realm-cookie.ts';
import { personSpeaks } from '../../../http/spoken.ts';
import * as store from './store.ts';

/** The session cookie; its name contains the realm. */
export const sessionCookieAt = (baseUrl: string) => realmCookie(baseUrl, 'SVC_SESSION');

export interface SessionDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  factors: Factors;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

/** A live session of a signed-in user. */
export interface SsoSession {
  id: string;
  realm: string;
  userId: string;
  username: string;
  startedAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
  rememberMe: boolean;
  /** The factors that were proven in the session, each with the time of its proof. */
  factors: readonly Factor[];
  /** The unusual circumstances of the last sign-in; null: it was not assessed. */
  findings: readonly Finding[] | null;
  /** SHA-256 of the cookie, hex. The tokens against request forgery are derived from it. */
  tokenHash: string;
  /** The impersonating administrator; null: it is the user's own session. */
  impersonator: store.Impersonator | null;
}
export type LiveSession = SsoSession & { standing: PersonStanding };

/** The factors that one sign-in proved, and the client's address. */
export interface Proof {
  user: { id: string; username: string };
  factors: readonly Factor[];
  findings: readonly Finding[] | null;
  /** The credentials that must still exist when the session is written. */
  proven: Proven;
  rememberMe: boolean;
  ipAddress: string | null;
  userAgent: string | null;
}

export interface PlannedSession {
  session: SsoSession;
  token: string;
  row: store.SessionRow;
  proven: Proven;
}
export type SessionPage = store.SessionPage;
export type EndReason = 'logout' | 'administrator' | 'self' | 'limit' | 'reauthentication';

const TOUCH_MS = 60_000;
const MOST_ENDED = 1000;
const USER_AGENT_MAX = 512;
const userAgentOf = (text: string | null): string | null => text?.replaceAll('\0', '').slice(0, USER_AGENT_MAX) ?? null;
/** How long an impersonation's address stays valid until the administrator opens it. */
const PENDING_SECONDS = 60;
const ACTING_SECONDS = 1800;
const later = (at: Date, seconds: number) => new Date(at.getTime() + seconds * 1000);

const toSession = (realm: string, row: store.SessionRow, factors: Factors): SsoSession => ({
  id: row.id,
  realm,
  userId: row.user_id,
  username: row.username,
  startedAt: row.started_at,
  lastSeenAt: row.last_seen_at,
  expiresAt: row.expires_at,
  rememberMe: row.remember_me,
  factors: row.factors ?? factors.ofAmr(row.methods, row.started_at),
  findings: row.risk,
  tokenHash: row.token_hash.toString('hex'),
  impersonator: row.impersonator,
});

const toWire = (row: store.ListedRow): Session => ({
  id: row.id,
  userId: row.user_id,
  username: row.username,
  clients: row.clients,
  ipAddress: row.ip_address,
  userAgent: row.user_agent,
  startedAt: row.started_at.getTime(),
  lastSeenAt: row.last_seen_at.getTime(),
  expiresAt: row.expires_at.getTime(),
  rememberMe: row.remember_me,
  levelOfAssurance: row.level_of_assurance,
  impersonator: row.impersonator?.name ?? null,
});

export function createSessions({ sql, realmSql, transact, settings, factors, baseUrl, now, newId }: SessionDeps) {
  const live = (realm: string, row: store.LiveRow): LiveSession => ({
    ...toSession(realm, row, factors),
    standing: standingOf(row),
  });
  /** The columns of a proof. Older versions of the server read only the first three. */
  const kept = (proof: Pick<Proof, 'factors' | 'findings'>) => ({
    authenticated_at: now(),
    level_of_assurance: factors.levelOf(proof.factors),
    methods: factors.amrOf(proof.factors),
    factors: [...proof.factors],
    risk: proof.findings && [...proof.findings],
  });
  const cookie = sessionCookieAt(baseUrl);

  async function policyOf(realm: string): Promise<RealmSettingsDto> {
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', `There is no realm ${realm}`);
    return policy;
  }
  const ended = (
    tx: Tx,
    realm: string,
    by: By,
    id: string,
    user: { id: string; username: string },
    because: EndReason,
    { clients, impersonator = null }: { clients: readonly string[]; impersonator?: store.Impersonator | null },
  ) =>
    tx.record({
      type: 'SESSION_ENDED',
      realm,
      by,
      subject: userParty(user.id, user.username),
      data: {
        sessionId: id,
        reason: because,
        ...(clients.length > 0 && { clients }),
        ...(impersonator && { impersonator: impersonator.name }),
      },
    });

  const endActingFrom = (tx: Tx, realm: string, by: By, ids: readonly string[]) =>
    endActing(tx, realm, { which: actedFrom(ids), by, at: now() });

  async function touchIfDue(realm: string, session: SsoSession, policy: RealmSettingsDto): Promise<void> {
    // A short idle timeout needs the last use to be noted more often than once a minute.
    const due = Math.min(TOUCH_MS, policy.ssoSessionIdleTimeoutSeconds * 100);
    if (now().getTime() - session.lastSeenAt.getTime() >= due)
      await store.touch(realmSql(realm), realm, session.id, now());
  }

  /** Prepares a session that `begin` writes. The caller passes its token to `setCookie` after the commit. */
  async function plan(realm: string, proof: Proof): Promise<PlannedSession> {
    const policy = await policyOf(realm);
    const at = now();
    const remember = proof.rememberMe && policy.rememberMe;
    const token = newSecret();
    const row: store.SessionRow = {
      id: newId(),
      user_id: proof.user.id,
      username: proof.user.username,
      token_hash: sha256(token),
      ip_address: proof.ipAddress,
      user_agent: userAgentOf(proof.userAgent),
      started_at: at,
      last_seen_at: at,
      expires_at: later(at, remember ? policy.rememberMeLifetimeSeconds : policy.ssoSessionMaxLifetimeSeconds),
      remember_me: remember,
      impersonator: null,
      ...kept(proof),
    };
    return { session: toSession(realm, row, factors), token, row, proven: proof.proven };
  }

  /** Ends several sessions, each as {@link end} does. @returns the sessions that existed */
  async function endAll(tx: Tx, realm: string, by: By, ids: readonly string[], { because }: { because: EndReason }) {
    const gone = await store.removeAll(tx.sql, realm, ids);
    await endActingFrom(tx, realm, by, ids);
    return gone.map(({ id, user_id, username, clients, impersonator }) => {
      ended(tx, realm, by, id, { id: user_id, username }, because, { clients, impersonator });
      return { id, user: userParty(user_id, username) };
    });
  }

  return {
    /** The live session of the request's cookie. The read counts as use and restarts the idle timeout. */
    async current(request: FastifyRequest, realm: string): Promise<LiveSession | undefined> {
      const token = request.cookies[cookie.nameIn(realm)];
      const policy = token ? await settings.of(realm) : undefined;
      if (!token || !policy) return undefined;
      const row = await store.byToken(sql, realm, sha256(token), cutoffsOf(policy, now()));
      if (!row) return undefined;
      const session = live(realm, row);
      await touchIfDue(realm, session, policy);
      if (session.impersonator) noteActing(request, session.impersonator.name, session, now());
      else await personSpeaks(session.standing.locale);
      return session;
    },

    /** The live session with this id, which its tokens depend on. */
    async byId(realm: string, id: string, on: Sql = sql): Promise<LiveSession | undefined> {
      const row = await store.byId(on, realm, id, cutoffsOf(await policyOf(realm), now()));
      return row && live(realm, row);
    },

    plan,

    /**
     * Writes a planned session. Call {@link makeRoom} before, for the realm's limit of sessions per user. The transaction
     * fails if a proven credential is gone: `isWithdrawn` (domain/proof.ts).
     */
    begin: (tx: Pick<Tx, 'atLast'>, realm: string, { row, proven }: PlannedSession): void =>
      store.insert(tx, realm, row, proven),

    /**
     * Prepares an impersonated session. It counts no factor of the user, and expires after a minute unless the
     * administrator {@link arrive}s.
     */
    async planFor(realm: string, user: Proof['user'], impersonator: store.Impersonator): Promise<PlannedSession> {
      const nothing = { factors: [], findings: null, rememberMe: false, ipAddress: null, userAgent: null };
      const proven = { userId: user.id, credentials: [] };
      const { row, token } = await plan(realm, { user, proven, ...nothing });
      const waiting = { ...row, impersonator, expires_at: later(row.started_at, PENDING_SECONDS) };
      return { session: toSession(realm, waiting, factors), token, row: waiting, proven };
    },

    /** When an impersonated session ends by itself. */
    endOfActing: (startedAt: Date): Date => later(startedAt, ACTING_SECONDS),

    /**
     * Starts an impersonated session in the administrator's browser.
     * @returns the new token for the cookie; undefined: the address was used before, or has expired
     */
    async arrive(tx: Tx, request: FastifyRequest, realm: string, token: string) {
      const fresh = newSecret();
      const found = await store.replaceArrivalToken(tx.sql, realm, sha256(token), {
        tokenHash: sha256(fresh),
        pendingMs: PENDING_SECONDS * 1000,
        at: now(),
        expiresAt: fragment`started_at + ${ACTING_SECONDS} * interval '1 second'`,
        ipAddress: request.ip,
        userAgent: userAgentOf(request.headers['user-agent'] ?? null),
      });
      return (
        found && { session: { id: found.id, realm, rememberMe: false, expiresAt: found.expires_at }, token: fresh }
      );
    },

    /** Ends the user's oldest sessions if one more would exceed the realm's limit. */
    async makeRoom(tx: Tx, realm: string, by: By, user: Proof['user']): Promise<void> {
      const policy = await policyOf(realm);
      const most = policy.maxConcurrentSessions;
      if (most === 0) return;
      const over = await store.removeOldest(tx.sql, realm, user.id, most - 1, cutoffsOf(policy, now()));
      for (const { id, clients } of over) ended(tx, realm, by, id, user, 'limit', { clients });
      const gone = over.map(({ id }) => id);
      if (gone.length > 0) await endActingFrom(tx, realm, by, gone);
    },

    /**
     * The user proved more in a live session: it continues under a new token, so that a stolen old token is worthless.
     * @returns the token; undefined: the session has ended, or a proven credential is gone
     */
    async upgrade(
      tx: Tx,
      realm: string,
      id: string,
      proof: Pick<Proof, 'factors' | 'findings' | 'proven'>,
    ): Promise<string | undefined> {
      const token = newSecret();
      const to = { ...kept(proof), token_hash: sha256(token), proven: proof.proven };
      return (await store.upgrade(tx.sql, realm, id, to)) ? token : undefined;
    },

    endAll,

    /** Ends a session with its codes and refresh tokens; offline grants stay. @returns whether the session existed */
    async end(tx: Tx, realm: string, by: By, id: string, { because }: { because: EndReason }): Promise<boolean> {
      const gone = await store.remove(tx.sql, realm, id);
      if (!gone) return false;
      ended(tx, realm, by, id, { id: gone.user_id, username: gone.username }, because, gone);
      await endActingFrom(tx, realm, by, [id]);
      return true;
    },

    /** The front-channel logout addresses of the sessions' applications, which the browser loads in frames. */
    frames: async (tx: Tx, realm: string, ids: readonly string[], iss: string): Promise<string[]> =>
      (await store.framesOf(tx.sql, realm, ids)).map(({ uri, sid }) => withQuery(uri, { iss, sid })),

    /**
     * Ends one session, for an administrator or for its user.
     * @param may throws if the caller may not end sessions of this user
     */
    endOne: (
      realm: string,
      by: By,
      id: string,
      { because, may }: { because: EndReason; may(userId: string, on: Sql): Promise<void> },
    ): Promise<void> =>
      transact(realm, async (tx) => {
        const gone = await store.remove(tx.sql, realm, id);
        if (!gone) throw new Problem('not-found', `There is no session ${id}`);
        await may(gone.user_id, tx.sql);
        ended(tx, realm, by, id, { id: gone.user_id, username: gone.username }, because, gone);
        await endActingFrom(tx, realm, by, [id]);
      }),

    /**
     * Ends all sessions and offline grants that a client takes part in, for an administrator.
     * @param may throws if the caller may not end sessions of one of these users
     */
    endOfClient: (
      realm: string,
      by: By,
      clientId: string,
      may: (userIds: readonly string[], on: Sql) => Promise<void>,
    ): Promise<EndedSessions> =>
      transact(
        realm,
        async (tx) => {
          const held = await store.heldBy(tx.sql, realm, clientId, { at: now(), most: MOST_ENDED + 1 });
          if (!held) throw new Problem('not-found', `There is no client ${clientId}`);
          const more = held.sessions.length > MOST_ENDED || held.offline.length > MOST_ENDED;
          const [theirs, granted] = [held.sessions.slice(0, MOST_ENDED), held.offline.slice(0, MOST_ENDED)];
          await may([...new Set([...theirs, ...granted].map(({ userId }) => userId))], tx.sql);
          const because = 'administrator';
          const idsOf = (of: readonly { id: string }[]) => of.map(({ id }) => id);
          const gone = await endAll(tx, realm, by, idsOf(theirs), { because });
          const which = fragment`f.id = any(${idsOf(granted)}::uuid[])`;
          const offline = await endOfflineGrants(tx.sql, realm, { which, at: now() });
          for (const { user_id, username } of offline) {
            const subject = userParty(user_id, username);
            const data = { what: 'refresh_token', reason: because };
            tx.record({ type: 'TOKEN_REVOKED', realm, by, subject, clientId, data });
          }
          return { sessions: gone.length, offline: offline.length, more };
        },
        { bookkeeping: true },
      ),

    /** Live sessions, newest first; one row more than `limit` if there are more. */
    async list(realm: string, page: SessionPage): Promise<Session[]> {
      const rows = await store.list(sql, realm, cutoffsOf(await policyOf(realm), now()), {
        ...page,
        limit: page.limit + 1,
      });
      return rows.map(toWire);
    },

    ofServiceAccounts: async (realm: string): Promise<ServiceAccountSession[]> =>
      (await store.serviceAccounts(sql, realm, new Date(now().getTime() - DAY_MS))).map((row) => ({
        clientId: row.client_id,
        grant: row.grant,
        lastTokenAt: row.occurred_at.getTime(),
        ipAddress: row.ip_address,
      })),

    setCookie(
      reply: FastifyReply,
      session: Pick<SsoSession, 'realm' | 'rememberMe' | 'expiresAt'>,
      token: string,
    ): void {
      void reply.setCookie(cookie.nameIn(session.realm), token, {
        ...cookie.options(session.realm),
        ...(session.rememberMe ? { expires: session.expiresAt } : {}),
      });
    },
    clearCookie(reply: FastifyReply, realm: string): void {
      forgetActing(reply.request);
      void reply.clearCookie(cookie.nameIn(realm), cookie.options(realm));
    },
  };
}
export type Sessions = ReturnType<typeof createSessions>;
