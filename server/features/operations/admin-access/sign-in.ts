// Begins and ends admin sessions: by one request of a program, or by the realm's own sign-in pages. Every failure has the
// same answer, so that no caller can enumerate users.
import type { FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import { MASTER } from '../../../contract/realms.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { actedFrom, endActing } from '../../../domain/acting.ts';
import { type Factor, type Factors, mergedFactors } from '../../../domain/factors.ts';
import { ADMIN_MAX_MS, type Principal } from '../../../domain/principal.ts';
import { isWithdrawn, type Proven } from '../../../domain/proof.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { siteOf } from '../../../domain/site.ts';
import type { NewDevices } from '../../authentication/new-device/service.ts';
import type { RiskService } from '../../authentication/risk/service.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { Sessions, SsoSession } from '../../people/sessions/service.ts';
import { ADMIN_IDLE_MS, holdsAny, parseCookie, permissionsHeld } from './service.ts';
import * as store from './store.ts';

/** The functions of the credentials feature that this sign-in uses. */
export interface AdminCredentials {
  checkPassword(attempt: { realm: string; username: string; password: string; by: By }): Promise<unknown>;
  tryOtp: Credentials['tryOtp'];
  forgetFailures: Credentials['forgetFailures'];
}

export interface Login {
  username: string;
  password: string;
  otp?: string | undefined;
  realm?: string | undefined;
}

export interface AdminSignInDeps {
  sql: Sql;
  transact: Transact;
  credentials: AdminCredentials;
  sessions: Pick<Sessions, 'end'>;
  signIns: Pick<SignIns, 'proveAtOnce'>;
  risk: Pick<RiskService, 'failed' | 'visited'>;
  newDevices: Pick<NewDevices, 'tell' | 'tells'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  attempts: RateLimit;
  factors: Pick<Factors, 'amrOf'>;
  baseUrl: string;
  now: () => Date;
}

export function createAdminSignIn(deps: AdminSignInDeps) {
  const { sql, transact, sessions, credentials, signIns, risk, newDevices, settings, attempts, baseUrl, now } = deps;
  interface Admitted {
    username: string;
    proven: Proven;
    factors: readonly Factor[];
  }
  interface Refusal {
    reason: string;
    userId?: string | undefined;
    code?: 'otp-required' | undefined;
    detail?: string | undefined;
  }
  type Verdict = ({ ok: true } & Admitted) | ({ ok: false } & Refusal);
  const byOf = (request: FastifyRequest): By => ({ actor: null, ipAddress: request.ip });

  async function judge(
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto | undefined,
    sent: Login,
  ): Promise<Verdict> {
    if (!policy) {
      // An unknown realm must not answer faster, so the password is checked all the same.
      const { username, password } = sent;
      await credentials.checkPassword({ realm, username, password, by: byOf(request) });
      return { ok: false, reason: 'unknown' };
    }
    const admits = ({ id }: { id: string }) => administers(realm, id);
    const proof = await signIns.proveAtOnce(request, { realm, policy, admits }, sent);
    if (proof.ok) return { ok: true, username: proof.user.username, proven: proof.proven, factors: proof.factors };
    const { reason, userId, missing, detail } = proof;
    if (reason === 'not-admitted') return { ok: false, reason: 'no-admin-role', userId };
    if (!missing) return { ok: false, reason, userId, detail };
    return { ok: false, reason, userId, code: 'otp-required', detail: 'Send it as otp, with the password' };
  }
  const administers = async (realm: string, userId: string): Promise<boolean> =>
    holdsAny(permissionsHeld(realm, await store.grants(sql, realm, { userId })));

  /**
   * Ends the session, the impersonations that began in it, and the realm's session that it opened. @returns whether the
   * session existed
   */
  async function end(tx: Tx, { realm, hash }: { realm: string; hash: Buffer }, by: By): Promise<boolean> {
    const gone = await store.deleteSession(tx.sql, realm, hash);
    if (!gone) return false;
    await endActing(tx, realm, { which: actedFrom([gone.id]), by, at: now() });
    if (gone.accountSession !== null) await sessions.end(tx, realm, by, gone.accountSession, { because: 'logout' });
    return true;
  }

  /** Records a sign-in without a page, and mails the user about a new device, in the sign-in's transaction. */
  async function visited(
    tx: Tx,
    request: FastifyRequest,
    realm: string,
    policy: RealmSettingsDto,
    { userId, sessionId, begunAt, tells }: { userId: string; sessionId: string; begunAt: Date; tells: boolean },
  ): Promise<void> {
    const isNew = await risk.visited(tx, request, realm, policy, userId, { remembers: tells });
    if (policy.lockoutEnabled) credentials.forgetFailures(tx.atLast, realm, userId);
    if (!isNew) return;
    const { origin } = siteOf(request, policy, baseUrl);
    const userAgent = request.headers['user-agent'];
    await newDevices.tell(tx, realm, { by: byOf(request), userId, sessionId, begunAt, userAgent, origin });
  }

  /**
   * `pageless`: the policy for a sign-in without a page of the realm. @returns the session's cookie; undefined: a proof
   * was withdrawn
   */
  async function begin(
    realm: string,
    { username, proven, factors }: Admitted,
    request: FastifyRequest,
    { previous, pageless }: { previous?: string | undefined; pageless?: RealmSettingsDto },
  ): Promise<string | undefined> {
    const by = byOf(request);
    const secret = newSecret();
    const at = now();
    const subject = { type: 'user', id: proven.userId, name: username } as const;
    const tells = pageless !== undefined && (await newDevices.tells(realm, pageless));
    return orWithdrawn(() =>
      transact(realm, async (tx) => {
        const { sql: on, record } = tx;
        const old = previous === undefined ? undefined : parseCookie(previous);
        if (old) await end(tx, old, by);
        await store.deleteExpiredSessions(on, at, new Date(at.getTime() - ADMIN_IDLE_MS));
        const expiresAt = new Date(at.getTime() + ADMIN_MAX_MS);
        const row = { tokenHash: sha256(secret), proven, factors, at, expiresAt };
        const sessionId = await store.insertSession(on, realm, row);
        const { userId } = proven;
        if (pageless) await visited(tx, request, realm, pageless, { userId, sessionId, begunAt: at, tells });
        const data = { methods: deps.factors.amrOf(factors) };
        record({ type: 'ADMIN_LOGIN_SUCCESS', realm, by: { ...by, actor: subject }, subject, data });
        return `${realm}.${secret}`;
      }),
    );
  }

  /**
   * Gives the session a new secret, since it has more rights now.
   * @returns the new cookie; undefined: the session or the proof is no longer valid
   */
  async function goOn(
    realm: string,
    tokenHash: Buffer,
    { username, proven }: Pick<Admitted, 'username' | 'proven'>,
    by: By,
  ): Promise<string | undefined> {
    const secret = newSecret();
    const at = now();
    const subject = { type: 'user', id: proven.userId, name: username } as const;
    return orWithdrawn(() =>
      transact(realm, async ({ sql: on, record }) => {
        const session = await store.findSession(on, realm, tokenHash);
        if (!session) return undefined;
        const factors = mergedFactors(session.factors, [{ authenticator: 'otp', at: at.getTime() }]);
        if (!(await store.stepUpSession(on, realm, tokenHash, { tokenHash: sha256(secret), proven, factors, at })))
          return undefined;
        record({ type: 'ADMIN_LOGIN_SUCCESS', realm, by: { ...by, actor: subject }, subject, data: { stepUp: true } });
        return `${realm}.${secret}`;
      }),
    );
  }

  /** Records the failure. A realm that doesn't exist has no audit log: such failures are recorded in master's. */
  async function refused(
    by: By,
    realm: string,
    policy: RealmSettingsDto | undefined,
    { reason, userId, name }: Refusal & { name: string },
  ): Promise<void> {
    const logged = policy ? realm : MASTER;
    await transact(logged, async ({ atLast, record }) => {
      if (policy) risk.failed(atLast, realm, policy, userId, by.ipAddress);
      record({
        type: 'ADMIN_LOGIN_FAILURE',
        realm: logged,
        by,
        subject: { type: 'user', id: null, name },
        outcome: 'failure',
        data: { reason, ...(policy ? {} : { realm }) },
      });
    });
  }

  /** @returns the key under which the rate limiter counts this address's failures @throws Problem `too-many-requests` */
  function takeTurn(realm: string, { ip }: FastifyRequest): string {
    const from = inRealm(realm, ip);
    const wait = attempts.take(from);
    if (wait !== undefined)
      throw new Problem('too-many-requests', 'Too many failed sign-ins from this address', { retryAfterSeconds: wait });
    return from;
  }

  return {
    /** @param previous the browser's present session cookie; signing in ends that session */
    async login(login: Login, request: FastifyRequest, previous: string | undefined): Promise<{ cookie: string }> {
      const by = byOf(request);
      const realm = login.realm ?? MASTER;
      const policy = await settings.of(realm);
      // All names of missing realms share one counter, so that they can't evict the counters of others.
      const from = takeTurn(policy ? realm : '', request);
      const verdict = await judge(request, realm, policy, login);
      if (verdict.ok) attempts.giveBack(from);
      const cookie =
        verdict.ok && policy ? await begin(realm, verdict, request, { previous, pageless: policy }) : undefined;
      if (cookie !== undefined) return { cookie };
      if (verdict.ok) attempts.fail(from);
      const refusal: Refusal = verdict.ok ? { reason: 'withdrawn', userId: verdict.proven.userId } : verdict;
      await refused(by, realm, policy, { ...refusal, name: login.username });
      throw new Problem(refusal.code ?? 'invalid-credentials', refusal.detail, { reason: refusal.reason });
    },

    /**
     * Begins an admin session for a user of the realm's own sign-in. @returns its cookie; undefined: the user is no
     * administrator
     */
    async admit(
      request: FastifyRequest,
      realm: string,
      { id, userId, username, factors }: Pick<SsoSession, 'id' | 'userId' | 'username' | 'factors'>,
    ): Promise<string | undefined> {
      const by = byOf(request);
      const policy = await settings.of(realm);
      const may = await administers(realm, userId);
      const proven = { userId, credentials: [], sessionId: id };
      const admitted = { username, proven, factors };
      const cookie = may ? await begin(realm, admitted, request, {}) : undefined;
      if (cookie !== undefined) return cookie;
      await refused(by, realm, policy, { reason: may ? 'withdrawn' : 'no-admin-role', userId, name: username });
      return undefined;
    },

    /** Adds a one-time code to the session's proofs. @returns the session's new cookie */
    async stepUp(
      { id: userId, name, realm, session }: Principal,
      code: string,
      request: FastifyRequest,
    ): Promise<{ cookie: string }> {
      if (!session || !('adminSession' in session))
        throw new Problem(
          'invalid-request',
          'Only a session by cookie continues this way; request a new token instead',
        );
      const by = byOf(request);
      const policy = await settings.of(realm);
      const from = takeTurn(realm, request);
      const verdict = await credentials.tryOtp(realm, { id: userId, username: name }, code, by);
      if (verdict.ok) {
        attempts.giveBack(from);
        const proven = { userId, credentials: [verdict.credentialId] };
        const cookie = await goOn(realm, session.adminSession, { username: name, proven }, by);
        if (cookie !== undefined) return { cookie };
      }
      const reason = verdict.ok ? 'withdrawn' : `otp-${verdict.reason}`;
      await refused(by, realm, policy, { reason, userId, name });
      throw new Problem('invalid-credentials', undefined, { reason });
    },

    async logout(realm: string, by: By, cookie: string | undefined): Promise<void> {
      const session = cookie === undefined ? undefined : parseCookie(cookie);
      await transact(realm, async (tx) => {
        if (session && (await end(tx, session, by))) tx.record({ type: 'ADMIN_LOGOUT', realm, by, subject: by.actor });
      });
    },
  };
}
export type AdminSignIn = ReturnType<typeof createAdminSignIn>;

/** undefined: a proof was withdrawn in the meantime. */
const orWithdrawn = <T>(work: () => Promise<T>): Promise<T | undefined> =>
  work().catch((error: unknown) => {
    if (isWithdrawn(error)) return undefined;
    throw error;
  });
