// Owns: checking and setting what people sign in with: passwords, one-time codes; counting failures and locking.
// Does not own: which of them a sign-in asks for (features/sign-in), hashing (crypto/passwords.ts), what a page says.
// Implements: specification 2.3 (lockout), 8; decisions "Admin authentication" (same lockout), "User" (credentials).
import type { By } from '../../contract/events.ts';
import { passwordFaults } from '../../contract/password-rules.ts';
import { freshSettings, type RealmSettingsDto } from '../../contract/settings.ts';
import type { Lockout } from '../../contract/user-access.ts';
import type { Credential } from '../../contract/users.ts';
import { newOtpSecret, OTP_DEFAULTS, openOtp, otpCounter, sealOtp } from '../../crypto/otp.ts';
import type { Passwords } from '../../crypto/passwords.ts';
import type { Seal } from '../../crypto/seal.ts';
import type { RealmSql } from '../../db/realm-share.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import { endAccess } from '../../domain/end-access.ts';
import { userParty } from '../../domain/party.ts';
import type { OwnSession } from '../../domain/principal.ts';
import { fulfilAction } from '../../domain/required-actions.ts';
import { type PersonStanding, standingOf } from '../../domain/standing.ts';
import type { Notify } from '../messaging/notify.ts';
import { createNobody } from './nobody.ts';
import type { ElsewhereAttempt, PasswordSource } from './sources.ts';
import * as store from './store.ts';
import { credentialView } from './view.ts';

export interface CredentialDeps {
  sql: Sql;
  realmSql: RealmSql;
  /** For reads that many do at the same moment. */
  batchedReads: Sql;
  transact: Transact;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  passwords: Passwords;
  notify: Notify;
  /** Whether a password is known from breaches. */
  breached(plain: string): Promise<boolean>;
  /** Asked behind the realm itself. */
  elsewhere: PasswordSource;
  seal: Seal;
  now: () => Date;
  newId: () => string;
}

export interface KnownUser {
  id: string;
  username: string;
}
/** Whose password was just stored; `actionsSet`: what they must do was said with it. */
export interface NewPassword extends KnownUser {
  temporary: boolean;
  actionsSet?: boolean;
}
/** Why a password was not accepted: for the audit log, never for whoever typed it. */
export type PasswordRefusal = 'unknown' | 'wrong' | 'locked' | 'disabled' | 'away' | 'reported';
export type PasswordVerdict =
  | {
      ok: true;
      user: KnownUser;
      credentialId: string;
      standing: PersonStanding;
      /** Whoever keeps the password couldn't be asked: it was the last that they took. */
      away: boolean;
    }
  | { ok: false; reason: PasswordRefusal; user: KnownUser | undefined };
export type OtpVerdict = { ok: true; credentialId: string } | { ok: false; reason: 'wrong' | 'used' | 'locked' };

export interface PasswordAttempt {
  realm: string;
  username: string;
  password: string;
  by: By;
}

/** A realm that locks nobody still doesn't let six digits be guessed. */
const OTP_LIMIT = { most: 10, seconds: 900 };

export function createCredentials(deps: CredentialDeps) {
  const { sql, realmSql, batchedReads, transact, settings, passwords, breached, elsewhere, seal, notify, now, newId } =
    deps;
  const nobody = createNobody({ sql, seal, passwords, now });
  interface Limit {
    most: number;
    seconds: number;
  }
  const lockoutOf = (policy: RealmSettingsDto | undefined): Limit | undefined =>
    policy?.lockoutEnabled ? { most: policy.maxLoginFailures, seconds: policy.lockoutDurationSeconds } : undefined;

  const count = (realm: string, userId: string, { most, seconds }: Limit): Promise<number> =>
    store.countAttempt(realmSql(realm), realm, userId, {
      most,
      now: now(),
      until: new Date(now().getTime() + seconds * 1000),
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

  /** The same lock for somebody by a name that only their source knows. All goes on beside the look, so that it takes as long for anybody. */
  const guessAt =
    ({ realm, by }: PasswordAttempt, limit: Limit | undefined): ElsewhereAttempt['guessAt'] =>
    async (userId, look) => {
      if (!limit) return look(true);
      const until = (await store.lockout(sql, realm, userId ?? null))?.locked_until ?? null;
      const [looked, counted] = await Promise.allSettled([
        look(until === null || until <= now()),
        userId === undefined ? 0 : count(realm, userId, limit),
      ]);
      if (counted.status === 'rejected') throw counted.reason;
      const wrong = looked.status === 'fulfilled' && !looked.value;
      if (userId !== undefined && !wrong) await store.giveBackAttempt(realmSql(realm), realm, userId, limit.most);
      if (userId !== undefined && wrong && counted.value === limit.most) {
        const user = await store.findById(sql, realm, userId);
        if (user) await tellLocked(realm, by, { id: user.id, username: user.username }, limit);
      }
      if (looked.status === 'rejected') throw looked.reason;
      return looked.value && counted.value <= limit.most;
    };

  async function rehash(realm: string, row: store.PasswordRow, plain: string): Promise<void> {
    if (row.credential_id === null || row.phc === null) return;
    await store.rehash(realmSql(realm), realm, row.credential_id, row.phc, await passwords.hash(plain));
  }

  /**
   * Checks a password. The refusal's reason is for the audit log: whoever asks is told the same words for each. Whoever it is,
   * one hash is computed; counting goes on beside it, so that no answer is quicker than another.
   */
  async function checkPassword(attempt: PasswordAttempt): Promise<PasswordVerdict> {
    const { realm, username, password: plain, by } = attempt;
    const row = await store.findForPassword(batchedReads, realm, username);
    const limit = lockoutOf(await settings.of(realm));
    const instead = await nobody.phcFor(realm, username);
    const [{ ok: matches, rehash: old }, attempts] = await Promise.all([
      passwords.verify(row?.phc ?? instead, plain),
      row && limit ? count(realm, row.id, limit) : 0,
    ]);
    const user = row && { id: row.id, username: row.username };
    const refuse = (reason: PasswordRefusal): PasswordVerdict => ({ ok: false, reason, user });
    const locked = limit !== undefined && attempts > limit.most;
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
      // Nobody looked at what was typed, so it was no guess.
      if (other === 'away' && limit && row && !row.phc)
        await store.giveBackAttempt(realmSql(realm), realm, row.id, limit.most);
      else if (row && user && limit && attempts === limit.most) await tellLocked(realm, by, user, limit);
      if (theirs || proven?.reported) return refuse('reported');
      return refuse(other === 'away' || other === 'wrong-or-away' ? 'away' : row ? 'wrong' : 'unknown');
    }
    const them = { id: proven.id, username: proven.username };
    if (!proven.enabled) return { ok: false, reason: 'disabled', user: them };
    if (local && old) await rehash(realm, proven, plain);
    // What comes after it must not become guessable by entering the password again and again.
    if (limit && row) await store.giveBackAttempt(realmSql(realm), realm, row.id, limit.most);
    const away = typeof other === 'object' && other.away === true;
    return { ok: true, user: them, credentialId: proven.credential_id, standing: standingOf(proven), away };
  }

  /** Whether the code is one of this person's, and had not been used. */
  async function matchOtp(realm: string, userId: string, code: string): Promise<OtpVerdict> {
    let used = false;
    for (const { id, secret } of await store.otps(sql, realm, userId)) {
      const counter = otpCounter(openOtp(seal, realm, id, secret), code, now(), secret);
      if (counter === undefined) continue;
      if (await store.acceptCounter(realmSql(realm), realm, id, counter, now())) return { ok: true, credentialId: id };
      used = true;
    }
    return { ok: false, reason: used ? 'used' : 'wrong' };
  }

  /** A guess of a code: so many and no more are looked at, whichever kind of code it is. */
  async function guess<T extends { ok: boolean }>(
    realm: string,
    user: KnownUser,
    by: By,
    look: () => Promise<T>,
  ): Promise<T | { ok: false; reason: 'locked' }> {
    const limit = lockoutOf(await settings.of(realm)) ?? OTP_LIMIT;
    const attempts = await count(realm, user.id, limit);
    if (attempts > limit.most) return { ok: false, reason: 'locked' };
    const verdict = await look();
    if (verdict.ok) await store.forgetFailures(realmSql(realm), realm, [user.id]);
    else if (attempts === limit.most) await tellLocked(realm, by, user, limit);
    return verdict;
  }
  const tryOtp = (realm: string, user: KnownUser, code: string, by: By): Promise<OtpVerdict> =>
    guess(realm, user, by, () => matchOtp(realm, user.id, code));

  /** Whether it is one of a person's last passwords: as many hashes as that are computed. */
  async function wasTheirs(realm: string, userId: string, plain: string, most: number): Promise<boolean> {
    for (const { phc } of await store.lastPasswords(sql, realm, userId, most))
      if ((await passwords.verify(phc, plain)).ok) return true;
    return false;
  }

  /** What follows from new passwords, by whichever way they came to be stored. */
  async function passwordsChanged(
    tx: Tx,
    by: By,
    realm: string,
    people: readonly NewPassword[],
    keep?: OwnSession,
  ): Promise<void> {
    const ids = people.map(({ id }) => id);
    const { actor } = by;
    // Whoever sets it at a link proves their mailbox: that forgives no guesses of what they hold beside it.
    const own = actor?.type === 'user' && people.every(({ id }) => id === actor.id);
    await (own ? store.forgetOfPassword : store.forgetFailures)(tx.sql, realm, ids);
    const done = people.filter((person) => !person.temporary && !person.actionsSet).map(({ id }) => id);
    if (done.length > 0) await fulfilAction(tx.sql, realm, done, 'UPDATE_PASSWORD');
    for (const { id, username: name, temporary } of people)
      tx.record({ type: 'PASSWORD_CHANGED', realm, by, subject: userParty(id, name), data: { temporary } });
    await endAccess(tx, realm, { people: ids, cause: 'password-changed', by, at: now(), keep });
  }

  return {
    checkPassword,

    tryOtp,
    guess,

    /** Whom a name is of; undefined: nobody who may sign in. */
    async named(realm: string, name: string): Promise<{ user: KnownUser; standing: PersonStanding } | undefined> {
      const row = await store.findForPassword(batchedReads, realm, name);
      return row?.enabled ? { user: { id: row.id, username: row.username }, standing: standingOf(row) } : undefined;
    },

    async lockout(realm: string, userId: string): Promise<Lockout> {
      const row = await store.lockout(sql, realm, userId);
      const until = row?.locked_until ?? null;
      const locked = until !== null && until > now();
      return {
        locked,
        failures: row && (until === null || locked) ? row.failures : 0,
        lastFailureAt: row?.last_failure_at.getTime() ?? null,
        lockedUntil: locked ? until.getTime() : null,
      };
    },
    /** Forgets the failures of somebody who has proven all that was asked of them. */
    forgetFailures: (atLast: Tx['atLast'], realm: string, userId: string): void =>
      store.forgetAtLast(atLast, realm, userId),
    /** Forgets the failures, and with them the lock. */
    async unlock(tx: Tx, by: By, realm: string, { id, username }: KnownUser): Promise<void> {
      if (!(await store.unlock(tx.sql, realm, id))) return;
      tx.record({ type: 'USER_UNLOCKED', realm, by, subject: userParty(id, username) });
    },

    /** Undefined: no such person. */
    async standing(realm: string, userId: string, on: Sql = sql): Promise<PersonStanding | undefined> {
      const row = await store.standing(on, realm, userId);
      return row && standingOf(row);
    },
    /** What the realm has against a new password, as sentences. */
    async newPasswordFaults(
      realm: string,
      plain: string,
      user: { id?: string; username: string; email: string | null },
    ): Promise<string[]> {
      const keeper = user.id === undefined ? undefined : await elsewhere.keeperOf(realm, user.id);
      if (keeper !== undefined) return [`is kept by the directory ${keeper}, and changed there`];
      const policy = (await settings.of(realm)) ?? freshSettings(realm);
      const faults = passwordFaults(plain, policy, user);
      // One that is refused anyway needs nobody else's word.
      if (faults.length > 0) return faults;
      const most = policy.passwordHistory;
      if (user.id !== undefined && most > 0 && (await wasTheirs(realm, user.id, plain, most)))
        return [most === 1 ? 'must not be the old one' : `must not be one of the last ${most}`];
      if (!policy.breachedPasswordCheck || !(await breached(plain))) return [];
      return ['must not be one that is known from a breach of some service'];
    },
    /** What a new password is compared with. */
    async passwordContext(
      realm: string,
      userId: string,
      plain: string,
    ): Promise<{ email: string | null; same: boolean; credentialId: string | undefined }> {
      const row = await store.findById(sql, realm, userId);
      const same = row?.phc ? (await passwords.verify(row.phc, plain)).ok : false;
      return { email: row?.email ?? null, same, credentialId: row?.credential_id ?? undefined };
    },
    hashPassword: (plain: string): Promise<string> => passwords.hash(plain),
    /**
     * Stores a hash made beforehand, so that no transaction waits for hashing, and ends what the person had signed in to;
     * `keep`: the session in which they set it themselves; `newAccount`: there is nobody to tell. @returns the new credential's id
     */
    async setPassword(
      tx: Tx,
      by: By,
      realm: string,
      user: KnownUser,
      {
        phc,
        temporary,
        keep,
        newAccount,
      }: { phc: string; temporary: boolean; keep?: OwnSession | undefined; newAccount?: true },
    ): Promise<string> {
      const credentialId = newId();
      const history = (await settings.of(realm))?.passwordHistory ?? 0;
      await store.rememberPassword(tx.sql, realm, user.id, { besidePresent: history - 1 });
      const replaced = await store.setPassword(tx.sql, realm, user.id, {
        id: credentialId,
        phc,
        temporary,
        now: now(),
      });
      const what = replaced ? 'password-changed' : 'credential-added';
      if (!newAccount) await notify(tx, { realm, by, userId: user.id, what });
      await passwordsChanged(tx, by, realm, [{ ...user, temporary }], keep);
      return credentialId;
    },
    passwordsChanged,

    /** What somebody can sign in with: which there are, never what they are. */
    list: async (realm: string, userId: string, on: Sql = sql): Promise<Credential[]> =>
      (await store.list(on, realm, userId)).map(credentialView),
    /** Ends what it was used for; `keep`: the session in which they do it themselves. @returns whether there was one */
    async remove(
      tx: Tx,
      by: By,
      realm: string,
      { id: userId, username: name }: KnownUser,
      { type, id, keep }: { type: string; id: string; keep?: OwnSession },
    ): Promise<boolean> {
      if (!(await store.remove(tx.sql, realm, userId, { type, id }))) return false;
      tx.record({
        type: 'CREDENTIAL_DELETED',
        realm,
        by,
        subject: userParty(userId, name),
        data: { type, id },
      });
      await notify(tx, { realm, by, userId, what: 'credential-removed' });
      await endAccess(tx, realm, { people: [userId], cause: 'credential-removed', by, at: now(), keep });
      return true;
    },
    /** What they had of a type before `id`, which they have set up in its place. */
    async removeOthers(tx: Tx, by: By, realm: string, user: KnownUser, { type, id }: { type: string; id: string }) {
      const gone = await store.removeOthers(tx.sql, realm, user.id, { type, id });
      const subject = userParty(user.id, user.username);
      for (const one of gone) tx.record({ type: 'CREDENTIAL_DELETED', realm, by, subject, data: { type, id: one } });
      if (gone.length === 0) return;
      await notify(tx, { realm, by, userId: user.id, what: 'credential-removed' });
      await endAccess(tx, realm, { people: [user.id], cause: 'credential-removed', by, at: now() });
    },

    newOtpSecret,
    /** Keeps a secret whose first code the person has just shown; that code is used up by it. @returns the credential's id */
    async enrolOtp(
      tx: Tx,
      by: By,
      realm: string,
      user: KnownUser,
      { secret, code, label }: { secret: string; code: string; label: string | null },
    ): Promise<string | undefined> {
      const counter = otpCounter(secret, code, now());
      if (counter === undefined) return undefined;
      const id = newId();
      const sealed = { sealed: sealOtp(seal, realm, id, secret), ...OTP_DEFAULTS };
      await store.insertOtp(tx.sql, realm, user.id, { id, label, secret: sealed, counter, now: now() });
      await fulfilAction(tx.sql, realm, [user.id], 'CONFIGURE_OTP');
      tx.record({
        type: 'CREDENTIAL_CREATED',
        realm,
        by,
        subject: userParty(user.id, user.username),
        data: { credentialId: id, type: 'otp' },
      });
      await notify(tx, { realm, by, userId: user.id, what: 'credential-added' });
      return id;
    },
  };
}
export type Credentials = ReturnType<typeof createCredentials>;
