// Checks a user's password, which this server or a directory verifies (sources.ts). All refusals have the same answer
// and take the same time: each attempt computes one hash and asks the same directories. Specification 2.3; decisions
// "User federation".
import type { By } from '../../../contract/events.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import { type PersonStanding, standingOf } from '../../../domain/standing.ts';
import type { Limit, Lockouts } from './lockouts.ts';
import type { createNobody } from './nobody.ts';
import type { KnownUser } from './service.ts';
import type { ElsewhereAttempt, PasswordSource } from './sources.ts';
import * as store from './store.ts';

/** Why a password was refused: for the audit log, never for the client. */
type PasswordRefusal = 'unknown' | 'wrong' | 'locked' | 'disabled' | 'away' | 'reported';
type PasswordVerdict =
  | {
      ok: true;
      user: KnownUser;
      credentialId: string;
      standing: PersonStanding;
      /** The directory could not be asked; the password is the last one that it accepted. */
      away: boolean;
    }
  | { ok: false; reason: PasswordRefusal; user: KnownUser | undefined };

interface PasswordAttempt {
  realm: string;
  username: string;
  password: string;
  by: By;
}

export interface PasswordCheckDeps {
  sql: Sql;
  realmSql: RealmSql;
  /** For reads that many requests make at the same moment. */
  batchedReads: Sql;
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  lockouts: Lockouts;
  nobody: Pick<ReturnType<typeof createNobody>, 'phcFor'>;
  elsewhere: Pick<PasswordSource, 'check'>;
}

export function createPasswordCheck(deps: PasswordCheckDeps) {
  const { sql, realmSql, batchedReads, passwords, lockouts, nobody, elsewhere } = deps;

  /**
   * Counts a guess at a user whom only a directory knows by the typed name, and applies the same lock. The count runs
   * beside the directory's check, so that the answer takes the same time for every user.
   */
  const guessAt =
    ({ realm, by }: PasswordAttempt, limit: Limit | undefined): ElsewhereAttempt['guessAt'] =>
    async (userId, look) => {
      if (!limit) return look(true);
      const mayTry = !(await lockouts.isLocked(realm, userId));
      const [looked, counted] = await Promise.allSettled([
        look(mayTry),
        userId === undefined ? 0 : lockouts.count(realm, userId, limit),
      ]);
      if (counted.status === 'rejected') throw counted.reason;
      const wrong = looked.status === 'fulfilled' && !looked.value;
      if (userId !== undefined && !wrong) await lockouts.giveBack(realm, userId, limit);
      if (userId !== undefined && wrong && counted.value === limit.most) {
        const user = await store.findById(sql, realm, userId);
        if (user) await lockouts.tellLocked(realm, by, { id: user.id, username: user.username }, limit);
      }
      if (looked.status === 'rejected') throw looked.reason;
      return looked.value && counted.value <= limit.most;
    };

  async function rehash(realm: string, row: store.PasswordRow, plain: string): Promise<void> {
    if (row.credential_id === null || row.phc === null) return;
    await store.rehash(realmSql(realm), realm, row.credential_id, row.phc, await passwords.hash(plain));
  }

  /**
   * Checks a password. The reason of a refusal is for the audit log: the client gets the same words for every reason. The
   * count of guesses runs beside the hash, so that no answer is quicker than another.
   */
  return async function checkPassword(attempt: PasswordAttempt): Promise<PasswordVerdict> {
    const { realm, username, password: plain, by } = attempt;
    const row = await store.findForPassword(batchedReads, realm, username);
    const limit = await lockouts.limitOf(realm);
    const instead = await nobody.phcFor(realm, username);
    const [{ ok: matches, rehash: isOld }, guesses] = await Promise.all([
      passwords.verify(row?.phc ?? instead, plain),
      row && limit ? lockouts.count(realm, row.id, limit) : 0,
    ]);
    const user = row && { id: row.id, username: row.username };
    const refuse = (reason: PasswordRefusal): PasswordVerdict => ({ ok: false, reason, user });
    const locked = limit !== undefined && guesses > limit.most;
    const theirs = matches && row !== undefined && row.phc !== null;
    const local = theirs && !row.reported;
    const other =
      local && !locked
        ? undefined
        : await elsewhere.check({
            realm,
            username,
            password: plain,
            user,
            tried: !locked && !row?.phc,
            settled: row !== undefined && row.credential_id !== null && !row.reported,
            guessAt: guessAt(attempt, limit),
          });
    if (locked) return refuse('locked');
    const proven = typeof other === 'object' ? await store.findById(sql, realm, other.userId) : local ? row : undefined;
    if (!proven || proven.credential_id === null || proven.reported) {
      // No directory compared the password, so the attempt was no guess.
      if (other === 'away' && limit && row && !row.phc) await lockouts.giveBack(realm, row.id, limit);
      else if (user && limit && guesses === limit.most) await lockouts.tellLocked(realm, by, user, limit);
      if (theirs || proven?.reported) return refuse('reported');
      return refuse(other === 'away' || other === 'wrong-or-away' ? 'away' : row ? 'wrong' : 'unknown');
    }
    const them = { id: proven.id, username: proven.username };
    if (!proven.enabled) return { ok: false, reason: 'disabled', user: them };
    if (local && isOld) await rehash(realm, proven, plain);
    // The attempt is given back, but the earlier failures stay: otherwise the right password would reset the count of
    // guesses at the second factor.
    if (limit && row) await lockouts.giveBack(realm, row.id, limit);
    const away = typeof other === 'object' && other.away === true;
    return { ok: true, user: them, credentialId: proven.credential_id, standing: standingOf(proven), away };
  };
}
