// How a person gets an admin session, and how it ends. One answer to every failure, so that nothing can be enumerated.

import type { By } from '../../contract/events.ts';
import { Problem } from '../../contract/problem.ts';
import { MASTER } from '../../contract/realms.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { newSecret, sha256 } from '../../crypto/tokens.ts';
import { isWithdrawn, type Proven } from '../../db/proof.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { Attempts } from '../../http/attempts.ts';
import { ADMIN_MAX_MS } from '../../http/principal.ts';
import { ADMIN_IDLE_MS, parseCookie, permissionsOf } from './service.ts';
import * as store from './store.ts';

/** What the credentials feature gives to this sign-in. */
export interface AdminCredentials {
  checkPassword(attempt: {
    realm: string;
    username: string;
    password: string;
    by: By;
  }): Promise<
    { ok: true; user: { id: string; username: string }; credentialId: string } | { ok: false; reason: string }
  >;
  hasSecondFactor(realm: string, userId: string): Promise<boolean>;
  /** The credential whose code it was. */
  checkOtp(attempt: { realm: string; userId: string; code: string; by: By }): Promise<string | undefined>;
  /** What the person must do first at the realm's own sign-in page: a temporary password, an enrolment. */
  mustActFirst(realm: string, userId: string): Promise<string | undefined>;
}

export interface Login {
  username: string;
  password: string;
  otp?: string | undefined;
  realm?: string | undefined;
}

export function createAdminSignIn({
  sql,
  transact,
  realmExists,
  credentials,
  settings,
  attempts,
  now,
}: {
  sql: Sql;
  transact: Transact;
  realmExists(realm: string): Promise<boolean>;
  credentials: AdminCredentials;
  settings: { of(realm: string): Promise<Pick<RealmSettingsDto, 'requireMfa'> | undefined> };
  attempts: Attempts;
  now: () => Date;
}) {
  type Verdict =
    | { ok: true; username: string; proven: Proven }
    | { ok: false; reason: string; code?: 'otp-required'; detail?: string };

  async function judge(realm: string, login: Login, by: By): Promise<Verdict> {
    const { username, password, otp } = login;
    const checked = await credentials.checkPassword({ realm, username, password, by });
    if (!checked.ok) return { ok: false, reason: checked.reason };
    const { id: userId, username: name } = checked.user;
    const credentialIds = [checked.credentialId];
    const grants = await store.grants(sql, realm, { userId });
    if (permissionsOf(realm, grants).size === 0) return { ok: false, reason: 'no-admin-role' };
    // From here on the password was right, so it gives nothing away to say what is missing.
    if (await credentials.hasSecondFactor(realm, userId)) {
      if (otp === undefined)
        return { ok: false, reason: 'otp-missing', code: 'otp-required', detail: 'Send it as otp, with the password' };
      const second = await credentials.checkOtp({ realm, userId, code: otp, by });
      if (second === undefined) return { ok: false, reason: 'otp-wrong' };
      credentialIds.push(second);
    } else if ((await settings.of(realm))?.requireMfa) {
      const detail = `A second factor is needed: first sign in at /realms/${realm}/login and set up a one-time code`;
      return { ok: false, reason: 'mfa-required', detail };
    }
    const first = await credentials.mustActFirst(realm, userId);
    if (first !== undefined) return { ok: false, reason: 'action-required', detail: first };
    return { ok: true, username: name, proven: { userId, credentials: credentialIds } };
  }

  /** @returns the session's cookie; undefined: what was proven holds no more */
  async function begin(
    realm: string,
    { username, proven }: Extract<Verdict, { ok: true }>,
    by: By,
    previous: string | undefined,
  ): Promise<string | undefined> {
    const secret = newSecret();
    const at = now();
    const subject = { type: 'user', id: proven.userId, name: username } as const;
    try {
      await transact(realm, async ({ sql: on, record }) => {
        const old = previous === undefined ? undefined : parseCookie(previous);
        if (old) await store.deleteSession(on, old.realm, old.hash);
        await store.deleteExpiredSessions(on, at, new Date(at.getTime() - ADMIN_IDLE_MS));
        const expiresAt = new Date(at.getTime() + ADMIN_MAX_MS);
        await store.insertSession(on, realm, { tokenHash: sha256(secret), proven, at, expiresAt });
        record({ type: 'ADMIN_LOGIN_SUCCESS', realm, by: { ...by, actor: subject }, subject });
      });
    } catch (error) {
      if (isWithdrawn(error)) return undefined;
      throw error;
    }
    return `${realm}.${secret}`;
  }

  async function refuse(realm: string, login: Login, by: By, refusal: Extract<Verdict, { ok: false }>): Promise<never> {
    // A realm that doesn't exist has no audit log; made-up names are remembered in master's.
    const logged = (await realmExists(realm)) ? realm : MASTER;
    await transact(logged, async ({ record }) =>
      record({
        type: 'ADMIN_LOGIN_FAILURE',
        realm: logged,
        by,
        subject: { type: 'user', id: null, name: login.username },
        outcome: 'failure',
        data: { reason: refusal.reason, ...(logged === realm ? {} : { realm }) },
      }),
    );
    throw new Problem(refusal.code ?? 'invalid-credentials', refusal.detail, { reason: refusal.reason });
  }

  return {
    /** @param previous the session cookie that came along; signing in ends that session */
    async login(login: Login, by: By, previous: string | undefined): Promise<{ cookie: string }> {
      const address = by.ipAddress ?? '';
      const wait = attempts.take(address);
      if (wait !== undefined)
        throw new Problem('too-many-requests', 'Too many failed sign-ins from this address', {
          retryAfterSeconds: wait,
        });
      const realm = login.realm ?? MASTER;
      const verdict = await judge(realm, login, by);
      if (!verdict.ok) return refuse(realm, login, by, verdict);
      attempts.giveBack(address);
      const cookie = await begin(realm, verdict, by, previous);
      if (cookie !== undefined) return { cookie };
      attempts.fail(address);
      return refuse(realm, login, by, { ok: false, reason: 'withdrawn' });
    },

    async logout(realm: string, by: By, cookie: string | undefined): Promise<void> {
      const session = cookie === undefined ? undefined : parseCookie(cookie);
      await transact(realm, async ({ sql: on, record }) => {
        if (session && (await store.deleteSession(on, session.realm, session.hash)))
          record({ type: 'ADMIN_LOGOUT', realm, by, subject: by.actor });
      });
    },
  };
}
export type AdminSignIn = ReturnType<typeof createAdminSignIn>;
