// The e-mail address that users set for themselves: whether another user has it, whether the realm's profile allows it, and
// its confirmation. The caller verifies that the user owns it.

import { isEmail } from '../../../contract/email.ts';
import type { By } from '../../../contract/events.ts';
import { phrase, type Words } from '../../../contract/phrases.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { profileFaults, readProfile } from '../../../domain/user-profile.ts';
import * as store from './store.ts';

export interface OwnEmail {
  email: string | null;
  verified: boolean;
  /** Whether the realm lets users change their address. */
  mayChange: boolean;
}

class EmailTaken extends Error {}

export function createOwnEmails({ sql }: { sql: Sql }) {
  const find = (realm: string, userId: string, on: Sql = sql) => store.find(on, realm, userId);
  return {
    isTaken: (error: unknown): boolean => error instanceof EmailTaken,

    async of(realm: string, userId: string): Promise<OwnEmail> {
      const [row, profile] = await Promise.all([find(realm, userId), readProfile(sql, realm)]);
      const declared = profile.attributes.find(({ name }) => name === 'email');
      const mayChange = declared?.edit.includes('user') ?? true;
      return { email: row?.email ?? null, verified: row?.email_verified ?? false, mayChange };
    },

    /** The error of an address; undefined: it is valid. */
    async fault(realm: string, userId: string, email: string): Promise<Words | undefined> {
      if (email.trim() === '') return phrase('required');
      if (!isEmail(email)) return phrase('email');
      const [row, profile] = await Promise.all([find(realm, userId), readProfile(sql, realm)]);
      if (!row) return undefined;
      const before = { ...row, firstName: row.first_name, lastName: row.last_name };
      const faults = profileFaults(profile, { by: 'user', before, after: { ...before, email } });
      return faults.find(({ path }) => path === 'email')?.fault;
    },

    /** The other user with this address, as username or as address; undefined: no other user has it. */
    ownerOf: (
      realm: string,
      email: string,
      userId: string | null,
    ): Promise<{ id: string; email: string | null } | undefined> => store.owner(sql, realm, email, userId),

    /**
     * Stores an address that the user has proven to own.
     * @returns the former address
     * @throws an error for which `isTaken` is true: another user got the address in the meantime
     */
    async confirm(
      tx: Tx,
      by: By,
      realm: string,
      { userId, email }: { userId: string; email: string },
    ): Promise<string | null> {
      await store.lock(tx.sql, realm, userId);
      const row = await find(realm, userId, tx.sql);
      if (!row || (await store.owner(tx.sql, realm, email, userId))) throw new EmailTaken();
      const { email: before, username } = row;
      const changed = before?.toLowerCase() !== email.toLowerCase();
      // Users who sign in with their address as username continue with the new address.
      const name = changed && before !== null && username.toLowerCase() === before.toLowerCase() ? email : username;
      await store.setEmail(tx.sql, realm, userId, { email, username: name });
      const fields = [
        ...(changed ? ['email'] : []),
        ...(row.email_verified && !changed ? [] : ['emailVerified']),
        ...(name === username ? [] : ['username']),
        ...(row.required_actions.includes('VERIFY_EMAIL') ? ['requiredActions'] : []),
      ];
      tx.record({ type: 'USER_UPDATED', realm, by, subject: userParty(userId, name), data: { fields } });
      return changed ? before : null;
    },
  };
}
export type OwnEmails = ReturnType<typeof createOwnEmails>;
