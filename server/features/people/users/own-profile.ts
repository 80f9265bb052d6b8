// Changes that users make to their own profile: names and the attributes that the realm's profile lets them edit. Pages of
// the sign-in and the account ask for the values.

import type { By } from '../../../contract/events.ts';
import { text as textOf } from '../../../contract/names.ts';
import { inEnglish, phrase, type Words } from '../../../contract/phrases.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
import { constraintOf } from '../../../db/error-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { SUBJECT_TAKEN } from '../../../domain/subjects.ts';
import { profileFaults, readProfile } from '../../../domain/user-profile.ts';
import { changedFields } from '../../../http/changed-fields.ts';
import { type ProfileInput, profileInputs, shownAttributes, withValues } from '../../../http/profile-fields.ts';
import * as store from './store.ts';

const Name = textOf(255);
const Value = textOf(4096);

export interface OwnProfile {
  username: string;
  email: string | null;
  emailVerified: boolean;
  firstName: string | null;
  lastName: string | null;
  attributes: Readonly<Record<string, readonly string[]>>;
}
export type ProfileChange = { ok: true; fields: string[] } | ({ ok: false; others?: readonly OwnFault[] } & OwnFault);

export interface OwnFault {
  path: string;
  /** The label of the field with the error. */
  label: string;
  fault: Words;
}

export interface ProfileWrite {
  by: By;
  userId: string;
  /** Checks preconditions and writes more, in the same transaction. */
  beside?(tx: Tx, fields: readonly string[]): Promise<void>;
}

type Values = Readonly<Record<string, readonly string[]>>;
type Person = Omit<OwnProfile, 'emailVerified'>;

/** The errors of a user's own values, at most one of each field. @param before undefined: a new user */
export function ownFaults(
  profile: UserProfile,
  inputs: readonly ProfileInput[],
  { before, after }: { before: Person | undefined; after: Person },
): OwnFault[] {
  const paths = new Map(inputs.map(({ path, label }) => [path, label]));
  const tooLong = inputs.filter(({ path }) => {
    const name = path.slice('attributes.'.length);
    const values = path === 'firstName' || path === 'lastName' ? [after[path] ?? ''] : (after.attributes[name] ?? []);
    const form = path.startsWith('attributes.') ? Value : Name;
    return values.some((value) => !form.safeParse(value).success);
  });
  const missing = inputs.filter(({ required, path }) => {
    if (!required) return false;
    if (path === 'firstName' || path === 'lastName') return !after[path];
    return (after.attributes[path.slice('attributes.'.length)] ?? []).length === 0;
  });
  const faults = profileFaults(profile, { by: 'user', before, after }).filter(({ path }) => paths.has(path));
  const all = [
    ...tooLong.map(({ path }) => ({ path, fault: phrase('tooLong') })),
    ...missing.map(({ path }) => ({ path, fault: phrase('required') })),
    ...faults,
  ];
  return all
    .filter(({ path }, i) => all.findIndex((one) => one.path === path) === i)
    .map(({ path, fault }) => ({ path, label: paths.get(path) ?? path, fault }));
}

export type Fault = Exclude<ProfileChange, { ok: true }>;
class Unfit extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(inEnglish(fault.fault));
    this.fault = fault;
  }
}

export function createOwnProfiles({ sql, transact }: { sql: Sql; transact: Transact }) {
  async function read(realm: string, userId: string, on: Sql = sql): Promise<OwnProfile | undefined> {
    const row = await store.find(on, realm, userId);
    if (!row) return undefined;
    const { username, email, email_verified: emailVerified, attributes } = row;
    return { username, email, emailVerified, firstName: row.first_name, lastName: row.last_name, attributes };
  }
  /** The user as they would become, with the first error; undefined: there is no such user. */
  async function wanted(on: Sql, realm: string, userId: string, values: Values) {
    const before = await read(realm, userId, on);
    if (!before) return undefined;
    const profile = await readProfile(on, realm);
    const inputs = profileInputs(profile);
    const after = withValues(inputs, values, before);
    const [first, ...others] = ownFaults(profile, inputs, { before, after });
    const fault: Fault | undefined = first && { ok: false, ...first, others };
    if (fault) return { before, after, fault };
    const taken = await store.subjectTaken(on, realm, { id: userId, attributes: mutable(after.attributes) });
    return { before, after, fault: taken === undefined ? undefined : takenIn(inputs, taken) };
  }

  return {
    read,
    inputs: async (realm: string): Promise<ProfileInput[]> => profileInputs(await readProfile(sql, realm)),
    /** The attributes that users see, and the fields that they can edit. */
    async fields(realm: string) {
      const profile = await readProfile(sql, realm);
      return { shown: shownAttributes(profile), inputs: profileInputs(profile) };
    },

    /** @param values by the inputs' fields; missing fields keep their value */
    async change(realm: string, { by, userId, beside }: ProfileWrite, values: Values): Promise<ProfileChange> {
      // Validated before anything is locked: invalid values write nothing.
      const unlocked = await wanted(sql, realm, userId, values);
      if (!unlocked || unlocked.fault) return unlocked?.fault ?? { ok: true, fields: [] };
      const work = async (tx: Tx): Promise<ProfileChange> => {
        await store.lock(tx.sql, realm, userId);
        const change = await wanted(tx.sql, realm, userId, values);
        if (!change) return { ok: true, fields: [] };
        if (change.fault) throw new Unfit(change.fault);
        const { before, after } = change;
        const fields = changedFields(before, after);
        if (fields.length > 0) await store.updateOwn(tx.sql, realm, userId, after);
        const done = await store.dropAction(tx.sql, realm, userId, 'UPDATE_PROFILE');
        const all = done ? [...fields, 'requiredActions'] : fields;
        const subject = userParty(userId, before.username);
        if (all.length > 0) tx.record({ type: 'USER_UPDATED', realm, by, subject, data: { fields: all } });
        await beside?.(tx, fields);
        return { ok: true, fields };
      };
      // Bookkeeping: a lock counts as a write, and it is the only one if nothing changes.
      return transact(realm, work, { bookkeeping: true }).catch((error: unknown) => {
        if (error instanceof Unfit) return error.fault;
        if (constraintOf(error) !== SUBJECT_TAKEN) throw error;
        return takenIn([], 'attributes');
      });
    },
  };
}
export type OwnProfiles = ReturnType<typeof createOwnProfiles>;

const mutable = (attributes: OwnProfile['attributes']) =>
  Object.fromEntries(Object.entries(attributes).map(([name, values]) => [name, [...values]]));

function takenIn(inputs: readonly ProfileInput[], name: string): Fault {
  const path = `attributes.${name}`;
  const label = inputs.find((input) => input.path === path)?.label ?? name;
  return { ok: false, path, label, fault: phrase('taken') };
}
