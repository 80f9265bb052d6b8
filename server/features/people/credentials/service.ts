// Owns: users' credentials: setting, listing and removing them, and checking one-time codes.
// Does not own: checking passwords (check-password.ts), counting guesses (lockouts.ts), the credentials that a sign-in asks for (features/authentication/sign-in), hashing (crypto/passwords.ts), pages.
// Implements: specification 2.3 (lockout), 8; decisions "Admin authentication" (same lockout), "User" (credentials).
import type { By } from '../../../contract/events.ts';
import type { PasswordOwner } from '../../../contract/guessable-passwords.ts';
import { passwordForm } from '../../../contract/password-form.ts';
import { passwordFaults } from '../../../contract/password-rules.ts';
import { type Phrase, phrase } from '../../../contract/phrases.ts';
import { freshSettings, type RealmSettingsDto } from '../../../contract/settings.ts';
import type { Credential } from '../../../contract/users.ts';
import { newOtpSecret, OTP_DEFAULTS, openOtp, otpCounter, sealOtp } from '../../../crypto/otp.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { CodeGuesses } from '../../../domain/code-guesses.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { userParty } from '../../../domain/party.ts';
import type { OwnSession } from '../../../domain/principal.ts';
import { fulfilAction } from '../../../domain/required-actions.ts';
import { type PersonStanding, standingOf } from '../../../domain/standing.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import { createPasswordCheck } from './check-password.ts';
import { type CommonPasswords, IS_COMMON } from './common-passwords.ts';
import { createLockouts } from './lockouts.ts';
import { createNobody } from './nobody.ts';
import { passwordsChanged } from './passwords-changed.ts';
import type { PasswordSource } from './sources.ts';
import * as store from './store.ts';
import { credentialView } from './view.ts';

export interface CredentialDeps {
  sql: Sql;
  realmSql: RealmSql;
  /** For reads that many requests make at the same moment. */
  batchedReads: Sql;
  transact: Transact;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  passwords: Passwords;
  notify: Notify;
  codeGuesses: Pick<CodeGuesses, 'wrong'>;
  /** Whether a password is known from breaches. */
  breached(plain: string): Promise<boolean>;
  /** Used only when a password is set. */
  common: CommonPasswords;
  /** The directories, asked after the realm itself. */
  elsewhere: PasswordSource;
  seal: Seal;
  now: () => Date;
  newId: () => string;
}

export interface KnownUser {
  id: string;
  username: string;
}
export type OtpVerdict = { ok: true; credentialId: string } | { ok: false; reason: 'wrong' | 'used' | 'locked' };

export function createCredentials(deps: CredentialDeps) {
  const { sql, realmSql, batchedReads, settings, passwords, breached, common, elsewhere, seal, notify, now, newId } =
    deps;
  const lockouts = createLockouts(deps);

  /** Whether the code is one of this user's and was not used before. */
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

  const tryOtp = (realm: string, user: KnownUser, code: string, by: By): Promise<OtpVerdict> =>
    lockouts.guess(realm, user, by, () => matchOtp(realm, user.id, code));

  /** Whether the password is one of the user's last `most` passwords. It computes up to `most` hashes. */
  async function wasTheirs(realm: string, userId: string, plain: string, most: number): Promise<boolean> {
    for (const { phc } of await store.lastPasswords(sql, realm, userId, most))
      if ((await passwords.verify(phc, plain)).ok) return true;
    return false;
  }

  return {
    checkPassword: createPasswordCheck({ ...deps, lockouts, nobody: createNobody(deps) }),

    tryOtp,
    guess: lockouts.guess,

    /** The user with this name; undefined: no enabled user has it. */
    async named(realm: string, name: string): Promise<{ user: KnownUser; standing: PersonStanding } | undefined> {
      const row = await store.findForPassword(batchedReads, realm, name);
      return row?.enabled ? { user: { id: row.id, username: row.username }, standing: standingOf(row) } : undefined;
    },

    lockout: lockouts.of,
    /** Forgets the user's failures, after the user has proven everything that the sign-in asked for. */
    forgetFailures: (atLast: Tx['atLast'], realm: string, userId: string): void =>
      store.forgetAtLast(atLast, realm, userId),
    unlock: lockouts.unlock,

    /** undefined: no such user. */
    async standing(realm: string, userId: string, on: Sql = sql): Promise<PersonStanding | undefined> {
      const row = await store.credentialStanding(on, realm, userId);
      return row && standingOf(row);
    },
    /** Why the realm refuses a new password; empty: the realm accepts it. */
    async newPasswordFaults(realm: string, typed: string, user: PasswordOwner & { id?: string }): Promise<Phrase[]> {
      const plain = passwordForm(typed);
      const keeper = user.id === undefined ? undefined : await elsewhere.keeperOf(realm, user.id);
      if (keeper !== undefined) return [phrase('inDirectory', { directory: keeper })];
      const policy = (await settings.of(realm)) ?? freshSettings(realm);
      const faults = passwordFaults(plain, policy, user);
      // A password that is refused already needs no slower check.
      if (faults.length > 0) return faults;
      if (policy.guessablePasswordCheck && (await common.has(plain, user, [realm, policy.displayName])))
        return [IS_COMMON];
      const most = policy.passwordHistory;
      if (user.id !== undefined && most > 0 && (await wasTheirs(realm, user.id, plain, most)))
        return [most === 1 ? phrase('notOld') : phrase('notLast', { most })];
      if (!policy.breachedPasswordCheck || !(await breached(plain))) return [];
      return [phrase('notBreached')];
    },
    /** The values that a new password is compared with. */
    async passwordContext(
      realm: string,
      userId: string,
      plain: string,
    ): Promise<Omit<PasswordOwner, 'username'> & { same: boolean; credentialId: string | undefined }> {
      const row = await store.findById(sql, realm, userId);
      const same = row?.phc ? (await passwords.verify(row.phc, plain)).ok : false;
      const email = row?.email ?? null;
      const { first_name: firstName, last_name: lastName } = row ?? {};
      return { email, firstName, lastName, same, credentialId: row?.credential_id ?? undefined };
    },
    hashPassword: (plain: string): Promise<string> => passwords.hash(plain),
    /**
     * Stores a hash that was computed before, so that no transaction waits for hashing, and ends the user's sessions and
     * tokens. `keep`: the session in which the user sets it. `newAccount`: the user gets no mail. @returns the new
     * credential's id
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
      await passwordsChanged(tx, by, realm, [{ ...user, temporary }], { at: now(), keep });
      return credentialId;
    },

    /** The user's credentials: types and dates, never the secrets. */
    list: async (realm: string, userId: string, on: Sql = sql): Promise<Credential[]> =>
      (await store.list(on, realm, userId)).map(credentialView),
    /**
     * Removes a credential and ends the sessions in which it was used. `keep`: the session in which the user removes it.
     * @returns whether the credential existed
     */
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
    /** Removes the user's other credentials of a type, which the credential `id` replaces. */
    async removeOthers(tx: Tx, by: By, realm: string, user: KnownUser, { type, id }: { type: string; id: string }) {
      const gone = await store.removeOthers(tx.sql, realm, user.id, { type, id });
      const subject = userParty(user.id, user.username);
      for (const one of gone) tx.record({ type: 'CREDENTIAL_DELETED', realm, by, subject, data: { type, id: one } });
      if (gone.length === 0) return;
      await notify(tx, { realm, by, userId: user.id, what: 'credential-removed' });
      await endAccess(tx, realm, { people: [user.id], cause: 'credential-removed', by, at: now() });
    },

    newOtpSecret,
    /**
     * Stores the secret of a one-time-code app. The user has just entered its first code, which is used up thereby.
     * @returns the credential's id; undefined: the code is wrong
     */
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
