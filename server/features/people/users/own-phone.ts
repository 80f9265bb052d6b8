// The phone number that users set for themselves: whether the realm's profile allows it, and its confirmation, after which
// codes are sent to it. The caller verifies that the user owns it.

import type { By } from '../../../contract/events.ts';
import { PHONE_CONFIRMED, PHONE_NUMBER, withoutConfirmation } from '../../../contract/phone.ts';
import { phrase, type Words } from '../../../contract/phrases.ts';
import { constraintOf } from '../../../db/error-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { SUBJECT_TAKEN } from '../../../domain/subjects.ts';
import { profileFaults, readProfile } from '../../../domain/user-profile.ts';
import { changedFields } from '../../../http/changed-fields.ts';
import * as store from './store.ts';

/** ITU-T E.164. */
const FORM = /^\+[1-9]\d{6,14}$/;

export interface OwnPhone {
  number: string | null;
  verified: boolean;
  /** Whether the realm lets users change their number. */
  mayChange: boolean;
}

class NumberTaken extends Error {}

/** Removes the separators that users write: `+49 (170) 123-45 67`. */
const plain = (written: string): string => written.replace(/[\s()./-]/g, '');

export function createOwnPhones({ sql }: { sql: Sql }) {
  const rowOf = async (on: Sql, realm: string, userId: string) => {
    const row = await store.find(on, realm, userId);
    return row && { ...row, firstName: row.first_name, lastName: row.last_name };
  };
  const withNumber = <T extends { attributes: Record<string, string[]> }>(before: T, number: string) => ({
    ...before,
    attributes: { ...before.attributes, [PHONE_NUMBER]: [number] },
  });

  return {
    plain,

    isTaken: (error: unknown): boolean => error instanceof NumberTaken || constraintOf(error) === SUBJECT_TAKEN,

    async of(realm: string, userId: string): Promise<OwnPhone> {
      const [row, profile] = await Promise.all([rowOf(sql, realm, userId), readProfile(sql, realm)]);
      const declared = profile.attributes.find(({ name }) => name === PHONE_NUMBER);
      return {
        number: row?.attributes[PHONE_NUMBER]?.[0] ?? null,
        verified: row?.attributes[PHONE_CONFIRMED]?.[0] === 'true' && row.attributes[PHONE_NUMBER]?.[0] !== undefined,
        mayChange: declared ? declared.edit.includes('user') : profile.unmanagedAttributes === 'enabled',
      };
    },

    /** The error of a number; undefined: it is valid. */
    async fault(realm: string, userId: string, number: string): Promise<Words | undefined> {
      if (!FORM.test(number)) return phrase('phone');
      const [before, profile] = await Promise.all([rowOf(sql, realm, userId), readProfile(sql, realm)]);
      if (!before) return undefined;
      const faults = profileFaults(profile, { by: 'user', before, after: withNumber(before, number) });
      return faults.find(({ path }) => path === `attributes.${PHONE_NUMBER}`)?.fault;
    },

    /**
     * Stores a number that the user has proven to own.
     * @returns the former number, if it was confirmed
     * @throws an error for which `isTaken` is true
     */
    async confirm(
      tx: Tx,
      by: By,
      realm: string,
      { userId, number }: { userId: string; number: string },
    ): Promise<string | null> {
      await store.lock(tx.sql, realm, userId);
      const before = await rowOf(tx.sql, realm, userId);
      if (!before) throw new NumberTaken();
      const after = withNumber(before, number);
      after.attributes[PHONE_CONFIRMED] = ['true'];
      if ((await store.subjectTaken(tx.sql, realm, { id: userId, attributes: after.attributes })) !== undefined)
        throw new NumberTaken();
      await store.updateOwn(tx.sql, realm, userId, after);
      const done = await store.dropAction(tx.sql, realm, userId, 'VERIFY_PHONE');
      const fields = [...changedFields(before, after), ...(done ? ['requiredActions'] : [])];
      const subject = userParty(userId, before.username);
      if (fields.length > 0) tx.record({ type: 'USER_UPDATED', realm, by, subject, data: { fields } });
      return before.attributes[PHONE_CONFIRMED]?.[0] === 'true' ? (before.attributes[PHONE_NUMBER]?.[0] ?? null) : null;
    },

    /**
     * Removes the confirmation, so that no codes are sent to the number. The profile keeps the number. @returns whether it
     * was confirmed
     */
    async forget(tx: Tx, by: By, realm: string, userId: string): Promise<boolean> {
      await store.lock(tx.sql, realm, userId);
      const before = await rowOf(tx.sql, realm, userId);
      if (!before || before.attributes[PHONE_CONFIRMED] === undefined) return false;
      const after = { ...before, attributes: withoutConfirmation(before.attributes) };
      await store.updateOwn(tx.sql, realm, userId, after);
      const subject = userParty(userId, before.username);
      tx.record({ type: 'USER_UPDATED', realm, by, subject, data: { fields: changedFields(before, after) } });
      return true;
    },
  };
}
export type OwnPhones = ReturnType<typeof createOwnPhones>;
