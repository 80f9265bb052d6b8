// Self-registered accounts: validates the values that new users enter, and creates the account with everything that belongs
// to it. features/authentication/self-registration asks for the values and verifies the address.

import { asciiEmail, isEmail } from '../../../contract/email.ts';
import type { By } from '../../../contract/events.ts';
import { phrase, type Words } from '../../../contract/phrases.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
import { Username } from '../../../contract/users.ts';
import { NIL_ID } from '../../../crypto/ids.ts';
import { constraintOf } from '../../../db/error-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { giveDefaults, newUser } from '../../../domain/new-users.ts';
import { userParty } from '../../../domain/party.ts';
import { SUBJECT_TAKEN } from '../../../domain/subjects.ts';
import { profileFaults, readProfile } from '../../../domain/user-profile.ts';
import { type ProfileInput, profileInputs } from '../../../http/profile-fields.ts';
import { text } from '../../../http/texts.ts';
import type { Credentials, KnownUser } from '../credentials/service.ts';
import { type OwnFault, ownFaults } from './own-profile.ts';
import * as store from './store.ts';

export interface NewPerson {
  username: string;
  email: string;
  firstName: string | null;
  lastName: string | null;
  attributes: Readonly<Record<string, readonly string[]>>;
}
export interface NewAccount {
  /** The account's id, if it was chosen before; absent: a new one. */
  id?: string;
  person: NewPerson;
  /** The hash of the password; undefined: the account has none. */
  phc: string | undefined;
  emailVerified: boolean;
  /** The version of the terms that the user accepted; undefined: the realm has no terms. */
  terms: { url: string | null; version: string | null } | undefined;
  /** How the user registered, for the audit log. */
  registered?: Record<string, unknown>;
  /** Writes what belongs to the account, in the same transaction. */
  beside?(tx: Tx, by: By, user: KnownUser): Promise<void>;
}

export interface OwnAccountsDeps {
  sql: Sql;
  transact: Transact;
  setPassword: Credentials['setPassword'];
  now: () => Date;
  newId: () => string;
}
class Taken extends Error {}

export function createOwnAccounts({ sql, transact, setPassword, now, newId }: OwnAccountsDeps) {
  /** New users choose their names, even if the profile doesn't let users edit them later. */
  const forNew = (profile: UserProfile): UserProfile => ({
    ...profile,
    attributes: profile.attributes.map((one) =>
      one.name === 'username' || one.name === 'email' ? { ...one, edit: ['admin', 'user'] } : one,
    ),
  });

  return {
    inputs: async (realm: string): Promise<ProfileInput[]> => profileInputs(await readProfile(sql, realm)),

    /** The errors of the entered values, at most one of each field, apart from taken names. */
    async faults(realm: string, person: NewPerson): Promise<OwnFault[]> {
      const faultOf = (path: string, fault: Words): OwnFault => {
        const label = text(path === 'email' ? 'account.email' : 'account.username');
        return { path, label, fault };
      };
      const { email, username } = person;
      const named = [
        ...(isEmail(email) ? [] : [faultOf('email', phrase(email.trim() === '' ? 'required' : 'email'))]),
        ...(Username.safeParse(username).success
          ? []
          : [faultOf('username', phrase(username.trim() === '' ? 'required' : 'form'))]),
      ];
      const profile = forNew(await readProfile(sql, realm));
      const own = ownFaults(profile, profileInputs(profile), { before: undefined, after: person });
      const others = profileFaults(profile, { by: 'user', before: undefined, after: person }).filter(
        ({ path }) => (path === 'username' || path === 'email') && !named.some((one) => one.path === path),
      );
      return [...named, ...own, ...others.map(({ path, fault }) => faultOf(path, fault))];
    },

    ownerOf: (realm: string, email: string) => store.owner(sql, realm, asciiEmail(email), null),
    /**
     * Whether the username is taken. A username with an `@` counts as taken unless it is the user's own address: otherwise
     * the page would tell whether another person's address has an account.
     * @param given the username that an inviter chose: it may contain an `@`
     */
    async usernameTaken(realm: string, { username, email }: NewPerson, given?: string): Promise<boolean> {
      if (username.toLowerCase() === email.toLowerCase()) return false;
      if (username !== given && username.normalize('NFKC').includes('@')) return true;
      return (await store.takenName(sql, realm, { id: NIL_ID, username, email: null })) !== undefined;
    },

    /** @returns undefined: another user took one of the names in the meantime */
    async create(
      realm: string,
      ipAddress: string,
      { id = newId(), person, phc, emailVerified, terms, registered, beside }: NewAccount,
    ): Promise<{ user: KnownUser; credentialId?: string } | undefined> {
      const user = { id, username: person.username };
      const by: By = { actor: userParty(user.id, user.username), ipAddress };
      const attributes = Object.fromEntries(Object.entries(person.attributes).map(([name, list]) => [name, [...list]]));
      const { username, firstName: first_name, lastName: last_name } = person;
      const email = asciiEmail(person.email);
      const names = { id: user.id, username, email };
      const row = { ...names, email_verified: emailVerified, first_name, last_name, enabled: true, attributes };
      const write = async (tx: Tx) => {
        if ((await store.takenName(tx.sql, realm, names)) || (await store.subjectTaken(tx.sql, realm, row)))
          throw new Taken();
        if (!(await store.insert(tx.sql, realm, { ...row, required_actions: [], created_at: now() })))
          throw new Taken();
        await giveDefaults(tx.sql, realm, newUser(user.id));
        tx.record({ type: 'USER_CREATED', realm, by, subject: by.actor, data: { registered: true, ...registered } });
        if (terms) {
          const { url: termsUrl, version: termsVersion } = terms;
          await store.setTerms(tx.sql, realm, user.id, termsVersion);
          tx.record({ type: 'TERMS_ACCEPTED', realm, by, subject: by.actor, data: { termsUrl, termsVersion } });
        }
        await beside?.(tx, by, user);
        if (phc === undefined) return { user };
        return {
          user,
          credentialId: await setPassword(tx, by, realm, user, { phc, temporary: false, newAccount: true }),
        };
      };
      return transact(realm, write).catch((error: unknown) => {
        if (error instanceof Taken || constraintOf(error) === SUBJECT_TAKEN) return undefined;
        throw error;
      });
    },
  };
}
export type OwnAccounts = ReturnType<typeof createOwnAccounts>;
