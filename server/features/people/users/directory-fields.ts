// Reads a user from a directory's entry field by field: the user as it should become, and the fields that are left out.
// Pure. Decisions "User federation", "User profile".

import { withoutOldConfirmation } from '../../../contract/phone.ts';
import { inEnglish } from '../../../contract/phrases.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
import type { FieldFault } from '../../../domain/directories.ts';
import { hasNoRules, profileFaults } from '../../../domain/user-profile.ts';
import type { LostName } from './directory-names.ts';
import type { DirectoryPerson, FromDirectory } from './from-directory.ts';
import type { KnownRow, Row } from './from-directory-store.ts';

/**
 * A user as the directory's entry describes it. Usernames and addresses are settled later, together with those of the other
 * users.
 */
export interface Draft {
  person: DirectoryPerson;
  was: KnownRow | undefined;
  row: Omit<Row, 'username'> & { username: string | null };
  faults: FieldFault[];
}

/** The user as it should become. Fields that the directory doesn't provide keep their value. */
function wanted(from: FromDirectory, person: DirectoryPerson, was: KnownRow | undefined, id: string): Draft['row'] {
  const { fields } = from;
  const said = <T>(field: string, there: T, here: T): T => (fields.has(field) || !was ? there : here);
  const kept = Object.entries(was?.attributes ?? {}).filter(([name]) => !from.attributes.includes(name));
  // An account that was disabled here stays disabled: only a change in the directory is followed.
  const followed = was ? was.enabled_there !== person.enabled : true;
  return {
    id,
    username: person.username ?? was?.username ?? null,
    email: said('email', person.email, was?.email ?? null),
    emailVerified: false,
    firstName: said('firstName', person.firstName, was?.firstName ?? null),
    lastName: said('lastName', person.lastName, was?.lastName ?? null),
    attributes: { ...Object.fromEntries(kept), ...person.attributes },
    enabled: followed ? person.enabled : (was?.enabled ?? true),
  };
}

/** An address stays verified as long as it is the same. */
export const isVerified = (from: FromDirectory, was: KnownRow | undefined, email: string | null): boolean =>
  email !== null && (from.trustEmail || (was !== undefined && email === was.email && was.emailVerified));

/**
 * Leaves out each field that the realm's user profile refuses; the other fields are written. A username can't be left out:
 * an existing user keeps the present one.
 */
export function draftOf(
  from: FromDirectory,
  profile: UserProfile,
  { person, was, id }: { person: DirectoryPerson; was: KnownRow | undefined; id: string },
): Draft {
  const row = wanted(from, person, was, id);
  // The profile's edit permissions don't apply to a directory.
  const refusals = hasNoRules(profile)
    ? []
    : profileFaults(profile, { by: 'document', before: was, after: { ...row, username: row.username ?? '' } });
  const refused = new Set(refusals.map(({ path }) => path));
  const unlessRefused = <T>(path: string, value: T): T | null => (refused.has(path) ? null : value);
  const attributes = Object.fromEntries(
    Object.entries(row.attributes).filter(([name]) => !refused.has(`attributes.${name}`)),
  );
  return {
    person,
    was,
    row: {
      ...row,
      username: unlessRefused('username', row.username) ?? was?.username ?? null,
      email: unlessRefused('email', row.email),
      firstName: unlessRefused('firstName', row.firstName),
      lastName: unlessRefused('lastName', row.lastName),
      attributes: withoutOldConfirmation(was?.attributes ?? {}, attributes, person.attributes),
    },
    // A field that the entry has wrong is reported once.
    faults: [
      ...person.faults,
      ...refusals
        .filter(({ path }) => !person.faults.some(({ field }) => field === path))
        .map(({ path, fault }) => ({ field: path, message: inEnglish(fault) })),
    ],
  };
}

export const lostFault = ({ field, to }: Pick<LostName, 'field' | 'to'>): FieldFault => ({
  field,
  message: to === 'entry' ? 'another entry of the directory has it' : 'somebody else has it here',
});
