// Owns: writing a directory's users in batches, in a constant number of statements: creating, updating and disabling them, and what follows from that. A user is recognized by the directory's stable id alone.
// Does not own: reading directories (features/people/user-federation), when they are read.
// Implements: decisions "User federation", "Single sign-on and freshness".
import type { By } from '../../../contract/events.ts';
import { isTaken } from '../../../db/error-code.ts';
import { type Fragment, fragment } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { administratorToKeep, isLastAdministrator, KEPT_ADMINISTRATOR } from '../../../domain/administrators.ts';
import { byDirectory, describeFaults, type FieldFault, Superseded } from '../../../domain/directories.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { giveDefaults } from '../../../domain/new-users.ts';
import { userParty } from '../../../domain/party.ts';
import { readProfile } from '../../../domain/user-profile.ts';
import { changedFields } from '../../../http/changed-fields.ts';
import { passwordsChanged } from '../credentials/passwords-changed.ts';
import { type Draft, draftOf, isVerified, lostFault } from './directory-fields.ts';
import { type LostName, type NamesGot, settleNames } from './directory-names.ts';
import * as store from './from-directory-store.ts';

export interface DirectoryPerson {
  /** The entry's stable id, which stays when everything else changes. */
  external: string;
  dn: string;
  dnKey: string;
  /** null: the entry has no valid username. */
  username: string | null;
  /** The username in lower case, by which groups name their members; empty: groups use distinguished names. */
  login: string;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  attributes: Record<string, string[]>;
  enabled: boolean;
  /** In the directory's own format; null: the directory doesn't provide it. */
  passwordChanged: string | null;
  /** The fields of the entry that are invalid. */
  faults: FieldFault[];
}
/** The directory that the users come from, and the fields that it provides. */
export interface FromDirectory {
  realm: string;
  directoryId: string;
  alias: string;
  /** The user's fields that the directory provides. Other fields keep their value here. */
  fields: ReadonlySet<string>;
  attributes: readonly string[];
  trustEmail: boolean;
}
export interface Batch extends FromDirectory {
  people: readonly DirectoryPerson[];
  /** Stable ids of all entries that were read with them, also of entries that can't be written: these are not gone. */
  seen?: readonly string[];
  /** The sync that read the entries; absent: one user signs in. */
  syncId?: string;
  /** Write only users that exist already. */
  knownAlone?: boolean;
  /** No user gets a new name, because another request took one of the names at the same moment. */
  keepsNames?: boolean;
  /** Keep the last administrator of master enabled: the same write failed, because it would have left none. */
  keepsAdministrator?: boolean;
  /**
   * Runs first in the same transaction. If it returns false, another process continues the sync, and nothing is written.
   */
  before?(tx: Tx): Promise<boolean>;
  /** Runs last in the same transaction, after the users are written. */
  behind?(tx: Tx, written: Written, count: number): Promise<void>;
}
export interface Written {
  added: number;
  updated: number;
  disabled: number;
  faulty: Faulty[];
}
/** An entry that was not written, or not completely. */
export interface Faulty {
  person: DirectoryPerson;
  message: string;
  /** Whether the entry's user was changed. */
  updated: boolean;
  /**
   * Stable ids of entries that may give up a name that this entry claims, once they are written; undefined: waiting changes
   * nothing.
   */
  waitsFor: readonly string[] | undefined;
}

/** How users whose entries are gone are disabled. */
export interface Disabling {
  before: NonNullable<Batch['before']>;
  behind(tx: Tx, count: number): Promise<void>;
  most: number;
  /**
   * Administrators who stay enabled, ids to distinguished names. The caller passes the same map until no users are left.
   */
  kept: Map<string, string>;
}

interface Taken {
  person: DirectoryPerson;
  was: store.KnownRow | undefined;
  row: store.Row;
  leftOut: string[];
}

type Names = Pick<NamesGot, 'username' | 'email'>;
/** The present username, and the present address if the directory has the same. */
const keptNames = (row: Names, was: Names | undefined): Names => ({
  username: was?.username ?? null,
  email: was?.email === row.email ? row.email : null,
});
const lostBetween = ({ row }: Pick<Draft, 'row'>, got: Names): LostName[] =>
  (['username', 'email'] as const)
    .filter((field) => row[field] !== null && row[field] !== got[field])
    .map((field) => ({ field, to: 'user', waitsFor: [] }));

export function createFromDirectory({
  transact,
  now,
  newId,
}: {
  transact: Transact;
  now: () => Date;
  newId: () => string;
}) {
  /** Reads the users as they should become from entries with a unique stable id, and decides their names. */
  async function draft(tx: Tx, batch: Batch): Promise<{ drafts: Draft[]; names: NamesGot[]; faulty: Faulty[] }> {
    const { realm, directoryId, people } = batch;
    const rows = await store.knownPeople(tx.sql, realm, directoryId, people);
    const profile = await readProfile(tx.sql, realm);
    const stableIds = new Set<string>();
    const faulty: Faulty[] = [];
    const found = people.flatMap((person, i) => {
      const { was: before, username = [], email = [] } = rows[i] ?? {};
      const was = before ?? undefined;
      if (!was && batch.knownAlone) return [];
      if (stableIds.has(person.external)) {
        const message = 'another entry has the same stable id';
        faulty.push({ person, message, updated: false, waitsFor: undefined });
        return [];
      }
      stableIds.add(person.external);
      const one = draftOf(batch, profile, { person, was, id: was?.id ?? newId() });
      return [{ one, holders: { username, email } }];
    });
    const inside = new Set(found.flatMap(({ one }) => one.was?.id ?? []));
    const holders = found.flatMap(({ holders: { username, email } }) => [...username, ...email].map(({ id }) => id));
    const outside = [...new Set(holders)].filter((id) => !inside.has(id));
    const claims = found.map(({ one: { person, was, row }, holders: of }) => ({
      id: row.id,
      external: person.external,
      was,
      wants: batch.keepsNames ? keptNames(row, was) : row,
      holders: of,
    }));
    const names = settleNames(claims, await store.usersHoldingNames(tx.sql, realm, directoryId, outside));
    return { drafts: found.map(({ one }) => one), names, faulty };
  }

  /**
   * Leaves the last administrator of master enabled. The directory's value is not marked as followed, so each sync tries
   * again until there is another administrator.
   */
  async function withAdministrator(tx: Tx, batch: Batch): Promise<{ people: Batch['people']; kept: Faulty[] }> {
    const { realm, directoryId, people } = batch;
    if (!batch.keepsAdministrator) return { people, kept: [] };
    const rows = await store.knownPeople(tx.sql, realm, directoryId, people);
    const disabled = people.flatMap((person, i) => (person.enabled ? [] : (rows[i]?.was?.id ?? [])));
    const id = await administratorToKeep(tx.sql, fragment`select unnest(${disabled}::uuid[])`);
    const stays = (i: number) => id !== undefined && rows[i]?.was?.id === id;
    return {
      people: people.map((person, i) => (stays(i) ? { ...person, enabled: true } : person)),
      kept: people
        .filter((_, i) => stays(i))
        .map((person) => ({ person, message: KEPT_ADMINISTRATOR, updated: false, waitsFor: undefined })),
    };
  }

  async function write(tx: Tx, batch: Batch): Promise<Written> {
    const { realm, directoryId, alias } = batch;
    const by = byDirectory(alias);
    if (batch.before && !(await batch.before(tx))) throw new Superseded();
    if (batch.syncId !== undefined && batch.seen && batch.seen.length > 0)
      await store.markEntriesSeen(tx.sql, realm, directoryId, batch.syncId, batch.seen);
    const { people, kept } = await withAdministrator(tx, batch);
    const { drafts, names, faulty } = await draft(tx, { ...batch, people });
    faulty.push(...kept);
    const created: Taken[] = [];
    const changed: (Taken & { was: store.KnownRow; fields: string[] })[] = [];
    const there: Taken[] = [];
    for (const [i, one] of drafts.entries()) {
      const { username = null, email = null, lost = [] } = names[i] ?? {};
      const { person, was } = one;
      const lack: LostName[] = batch.keepsNames ? lostBetween(one, { username, email }) : lost;
      // The message about a lost username replaces the one about a missing username.
      const faults = [...one.faults, ...lack.map(lostFault)];
      const waits = lack.filter(({ waitsFor }) => waitsFor !== undefined);
      const waitsFor = waits.length > 0 ? waits.flatMap((name) => name.waitsFor ?? []) : undefined;
      const fault = (updated: boolean) =>
        faulty.push({ person, message: describeFaults(faults, username !== null), updated, waitsFor });
      if (username === null) {
        fault(false);
        continue;
      }
      const row = { ...one.row, username, email, emailVerified: isVerified(batch, was, email) };
      const taken = { person, was, row, leftOut: faults.map(({ field }) => field) };
      const fields = was ? changedFields(was, row) : [];
      there.push(taken);
      if (!was) created.push(taken);
      else if (fields.length > 0) changed.push({ ...taken, was, fields });
      if (faults.length > 0) fault(fields.length > 0);
    }
    const freed = await store.freeNames(
      tx.sql,
      realm,
      names.flatMap(({ frees }) => frees),
    );
    await store.vacateNames(tx.sql, realm, changed);
    const made = await store.insertPeople(
      tx.sql,
      realm,
      created.map(({ row }) => row),
      now(),
    );
    for (const { person, row } of created)
      if (!made.has(row.id)) {
        const message = describeFaults([lostFault({ field: 'username', to: 'user' })], false);
        faulty.push({ person, message, updated: false, waitsFor: [] });
      }
    const present = there.filter(({ row, was }) => was || made.has(row.id));
    await store.updatePeople(tx.sql, realm, changed);
    const users = present.map(({ person, row: { id } }) => ({ person, id }));
    await store.link(tx.sql, realm, directoryId, batch.syncId ?? null, users);
    const keys = users.map(({ id }) => ({ id: newId(), userId: id }));
    await store.insertPasswords(tx.sql, realm, directoryId, keys, now());
    if (made.size > 0) {
      const ids = [...made];
      await giveDefaults(
        tx.sql,
        realm,
        fragment`select unnest(${ids}::uuid[]) as id, false as says_roles, false as says_client_roles, false as says_groups`,
      );
    }
    const told = (type: 'USER_CREATED' | 'USER_UPDATED', user: { id: string; username: string }, data: object) =>
      tx.record({ type, realm, by, subject: userParty(user.id, user.username), data: { directory: alias, ...data } });
    for (const { username, id, fields } of freed) told('USER_UPDATED', { id, username }, { fields, removed: true });
    const without = (leftOut: string[]) => (leftOut.length > 0 ? { leftOut } : {});
    for (const { row, leftOut } of created) if (made.has(row.id)) told('USER_CREATED', row, without(leftOut));
    for (const { row, fields, leftOut } of changed) told('USER_UPDATED', row, { fields, ...without(leftOut) });
    const disabled = changed.filter(({ row, was }) => was.enabled && !row.enabled).map(({ row }) => row.id);
    if (disabled.length > 0) await endAccess(tx, realm, { people: disabled, cause: 'disabled', by, at: now() });
    await renewPasswords(tx, by, batch, present);
    const waiting = faulty.filter((one) => one.updated && one.waitsFor !== undefined).length;
    const written = { added: made.size, updated: changed.length - waiting, disabled: disabled.length, faulty };
    await batch.behind?.(tx, written, people.length);
    return written;
  }

  /** A new password in the directory ends the sessions and tokens of the old one. */
  async function renewPasswords(tx: Tx, by: By, { realm }: Batch, present: readonly Taken[]): Promise<void> {
    const people = present.flatMap(({ person, row: { id, username }, was }) =>
      was && was.password_changed !== null && was.password_changed !== person.passwordChanged
        ? [{ id, username, temporary: false, actionsSet: true, credentialId: newId() }]
        : [],
    );
    if (people.length === 0) return;
    await store.renewPasswords(tx.sql, realm, people, now());
    await passwordsChanged(tx, by, realm, people, { at: now() });
  }

  const sum = (a: Written, b: Written): Written => ({
    added: a.added + b.added,
    updated: a.updated + b.updated,
    disabled: a.disabled + b.disabled,
    faulty: [...a.faulty, ...b.faulty],
  });

  /**
   * Writes a batch in one transaction. If another request took a name at the same moment, the entry that claims it is
   * written alone, and its user keeps its present names. @throws Superseded
   */
  async function writeBatch(batch: Batch): Promise<Written> {
    const { people } = batch;
    try {
      return await transact(batch.realm, (tx) => write(tx, batch), { bookkeeping: true });
    } catch (error) {
      if (!batch.keepsAdministrator && isLastAdministrator(error))
        return writeBatch({ ...batch, keepsAdministrator: true });
      if (!isTaken(error) || batch.keepsNames) throw error;
      if (people.length <= 1) return writeBatch({ ...batch, keepsNames: true });
      const half = people.length >> 1;
      const first = await writeBatch({ ...batch, people: people.slice(0, half) });
      return sum(first, await writeBatch({ ...batch, people: people.slice(half) }));
    }
  }

  const disable = (
    { realm, directoryId, alias }: Pick<Batch, 'realm' | 'directoryId' | 'alias'>,
    which: Fragment,
    { before, behind, most, kept }: Disabling,
    keepsAdministrator = false,
  ): Promise<number> =>
    transact(
      realm,
      async (tx) => {
        if (!(await before(tx))) throw new Superseded();
        if (keepsAdministrator) {
          const id = await administratorToKeep(tx.sql, store.presentUserIds(realm, directoryId, which));
          if (id !== undefined) kept.set(id, await store.dnOf(tx.sql, realm, id));
        }
        const gone = await store.disableGone(tx.sql, realm, directoryId, { which, most, but: [...kept.keys()] });
        const by = byDirectory(alias);
        const disabled = gone.filter(({ enabled }) => enabled);
        for (const { id, username } of disabled)
          tx.record({
            type: 'USER_UPDATED',
            realm,
            by,
            subject: userParty(id, username),
            data: { directory: alias, fields: ['enabled'], removed: true },
          });
        if (disabled.length > 0)
          await endAccess(tx, realm, { people: disabled.map(({ id }) => id), cause: 'disabled', by, at: now() });
        await behind(tx, disabled.length);
        return gone.length;
      },
      { bookkeeping: true },
    );

  /** Disables up to `most` users whose entries are gone. @returns how many were found; 0: none are left */
  async function disableGone(...of: [from: Parameters<typeof disable>[0], which: Fragment, how: Disabling]) {
    try {
      return await disable(...of);
    } catch (error) {
      if (!isLastAdministrator(error)) throw error;
      return disable(...of, true);
    }
  }

  return {
    write: writeBatch,
    /** Sets the members of these groups among the directory's users. Other members stay. */
    async setGroups(
      { sql, record }: Pick<Tx, 'sql' | 'record'>,
      { realm, id, alias }: { realm: string; id: string; alias: string },
      to: Parameters<typeof store.setGroups>[3],
    ): Promise<void> {
      for (const { id: userId, username } of await store.setGroups(sql, realm, id, to))
        record({
          type: 'USER_UPDATED',
          realm,
          by: byDirectory(alias),
          subject: userParty(userId, username),
          data: { directory: alias, fields: ['groups'] },
        });
    },
    /** Disables users that a full sync has not seen. */
    disableUnseen: (from: Parameters<typeof disableGone>[0] & { syncId: string }, how: Disabling) =>
      disableGone(from, store.notSeenIn(from.syncId), how),
    /** Disables users whose entries were not found by their stable ids. */
    disableAbsent: (
      from: Parameters<typeof disableGone>[0] & { externals: readonly string[] },
      how: Omit<Disabling, 'most'>,
    ) => disableGone(from, store.withStableIds(from.externals), { ...how, most: from.externals.length }),
  };
}
export type FromDirectoryWriter = ReturnType<typeof createFromDirectory>;
