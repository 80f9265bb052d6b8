// Counts the failed attempts to sign in as a user, of all kinds together, before their outcome is known, and locks the user
// after too many. The realm's settings decide whether wrong passwords lock a user; one-time codes are always limited.
// Specification 2.3; decisions "Guessed codes".

import { DAY_SECONDS } from '../../../contract/durations.ts';
import type { By } from '../../../contract/events.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Lockout } from '../../../contract/user-access.ts';
import { NIL_ID } from '../../../crypto/ids.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { CodeGuesses } from '../../../domain/code-guesses.ts';
import { userParty } from '../../../domain/party.ts';
import type { KnownUser } from './service.ts';
import * as store from './store.ts';

/** How many attempts are allowed, and for how many seconds the user is locked after more. */
export interface Limit {
  most: number;
  seconds: number;
}
/** The limit for codes in a realm without lockout: six digits must not become guessable. */
const OTP_LIMIT: Limit = { most: 10, seconds: 900 };
/** The most codes in a day without a right one, however short the realm's lock is. */
const A_DAY: Limit = { most: 30, seconds: DAY_SECONDS };
/** Condition: the user `u` is locked at that time, as {@link createLockouts}`.of` says. */
export const lockedAt = (realm: string, at: Date): Fragment => fragment`u.id in (
  select user_id from lockout where realm_id = ${realm}
    and (locked_until > ${at} or (codes >= ${A_DAY.most} and codes_until > ${at})))`;

const laterOf = (a: Date | null, b: Date | null): Date | null => (a !== null && b !== null && a < b ? b : (a ?? b));

export interface LockoutDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  codeGuesses: Pick<CodeGuesses, 'wrong'>;
  now: () => Date;
}

export function createLockouts({ sql, realmSql, transact, settings, codeGuesses, now }: LockoutDeps) {
  const isAhead = (until: Date | null): boolean => until !== null && until > now();

  /** undefined: the realm locks no users. */
  async function limitOf(realm: string): Promise<Limit | undefined> {
    const policy = await settings.of(realm);
    return policy?.lockoutEnabled
      ? { most: policy.maxLoginFailures, seconds: policy.lockoutDurationSeconds }
      : undefined;
  }

  const after = (seconds: number): Date => new Date(now().getTime() + seconds * 1000);

  /** Counts an attempt. @returns the attempts including this one; above `most`: the user was locked already */
  const count = (realm: string, userId: string, { most, seconds }: Limit): Promise<number> =>
    store.countAttempt(realmSql(realm), realm, userId, {
      most,
      now: now(),
      until: after(seconds),
    });

  const tellLocked = (realm: string, by: By, user: KnownUser, limit: Limit): Promise<void> =>
    transact(realm, async ({ record }) =>
      record({
        type: 'USER_LOCKED',
        realm,
        by,
        subject: userParty(user.id, user.username),
        data: { failures: limit.most, seconds: limit.seconds },
      }),
    );

  return {
    limitOf,
    count,
    tellLocked,

    /** Takes back an attempt that was no guess, or one that was right while more has to be proven. */
    async giveBack(realm: string, userId: string, { most }: Limit): Promise<void> {
      await store.giveBackAttempt(realmSql(realm), realm, userId, most);
    },

    /**
     * Counts an attempt to guess a code, of any kind, and calls `look` only below the limits. An unknown user (undefined)
     * is treated like a known one.
     * @param byAnybody the user has proven no first factor before. The attempt doesn't count in the user's day, and locks
     * the user only if the realm locks users for wrong passwords, too. The address that the code went to has its own limit
     */
    async guess<T extends { ok: boolean }>(
      realm: string,
      user: KnownUser | undefined,
      by: By,
      look: () => Promise<T>,
      { byAnybody = false } = {},
    ): Promise<T | { ok: false; reason: 'locked' }> {
      const lock = await limitOf(realm);
      const limit = lock ?? OTP_LIMIT;
      const whose = byAnybody && !lock ? undefined : user;
      const { failures, codes, codesUntil } = await store.countCode(realmSql(realm), realm, whose?.id ?? NIL_ID, {
        ofDay: !byAnybody,
        most: limit.most,
        now: now(),
        until: after(limit.seconds),
        dayEnds: after(A_DAY.seconds),
      });
      if (failures > limit.most || (codes > A_DAY.most && !byAnybody)) return { ok: false, reason: 'locked' };
      const verdict = await look();
      if (verdict.ok) {
        if (byAnybody) await store.giveBackAttempt(realmSql(realm), realm, whose?.id ?? NIL_ID, limit.most);
        else await store.forgetFailures(realmSql(realm), realm, whose ? [whose.id] : []);
        return verdict;
      }
      await codeGuesses.wrong(realm);
      if (!whose) return verdict;
      const seconds = Math.ceil((codesUntil.getTime() - now().getTime()) / 1000);
      if (codes === A_DAY.most && !byAnybody) await tellLocked(realm, by, whose, { most: codes, seconds });
      else if (failures === limit.most) await tellLocked(realm, by, whose, limit);
      return verdict;
    },

    async isLocked(realm: string, userId: string | undefined): Promise<boolean> {
      return isAhead((await store.lockout(sql, realm, userId ?? null))?.locked_until ?? null);
    },

    async of(realm: string, userId: string): Promise<Lockout> {
      const row = await store.lockout(sql, realm, userId);
      const codesUntil = row && row.codes >= A_DAY.most && isAhead(row.codes_until) ? row.codes_until : null;
      const until = laterOf(codesUntil, row?.locked_until ?? null);
      const locked = isAhead(until);
      return {
        locked,
        failures: row && (until === null || locked) ? row.failures : 0,
        lastFailureAt: row?.last_failure_at.getTime() ?? null,
        lockedUntil: locked && until ? until.getTime() : null,
        rule: !locked ? null : until === codesUntil ? 'codes-of-a-day' : 'failed-attempts',
      };
    },

    /** Forgets the user's failures and ends the lock. */
    async unlock(tx: Tx, by: By, realm: string, { id, username }: KnownUser): Promise<void> {
      if (!(await store.unlock(tx.sql, realm, id))) return;
      tx.record({ type: 'USER_UNLOCKED', realm, by, subject: userParty(id, username) });
    },
  };
}
export type Lockouts = ReturnType<typeof createLockouts>;
