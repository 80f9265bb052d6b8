// Owns: writing people as a directory has them, a batch at a time in a constant number of statements: who is new, who has changed,
// who is not to sign in any more, and what follows from that. Somebody is found again by the directory's stable id alone.
// Does not own: reading directories (features/people/user-federation), who asks for it.
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
import type { Credentials } from '../credentials/service.ts';
import { type Draft, draftOf, isVerified, lostFault } from './directory-fields.ts';
import { type LostName, type NamesGot, settleNames } from './directory-names.ts';
import * as store from './from-directory-store.ts';

export interface DirectoryPerson {
  /** What stays when everything else of somebody changes. */
  external: string;
  dn: string;
  dnKey: string;
  /** Null: the entry has none that a user can have. */
  username: string | null;
  /** The username as groups name their members by it, in lower case; empty: none do. */
  login: string;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  attributes: Record<string, string[]>;
  enabled: boolean;
  /** As the directory writes it; null: it doesn't say. */
  passwordChanged: string | null;
  /** What of the entry can't be taken. */
  faults: FieldFault[];
}
/** Whose people they are, and what of them is the directory's to say. */
export interface FromDirectory {
  realm: string;
  directoryId: string;
  alias: string;
  /** Of a person's fields; others stay as they are here. */
  fields: ReadonlySet<string>;
  attributes: readonly string[];
  trustEmail: boolean;
}
export interface Batch extends FromDirectory {
  people: readonly DirectoryPerson[];
  /** Stable ids of all that were read with them, also of those who can't be written: they are not gone. */
  seen?: readonly string[];
  /** The sync that sees them; absent: one of them signs in. */
  syncId?: string;
  /** Only who is known here already. */
  knownAlone?: boolean;
  /** No user gets a new name: another request took one at the same moment. */
  keepsNames?: boolean;
  /** The last administrator of master stays enabled: the same write was refused, as it would have left none. */
  keepsAdministrator?: boolean;
  /** In the same transaction, before anything else; false: somebody else goes on with it, and nothing is written. */
  before?(tx: Tx): Promise<boolean>;
  /** In the same transaction, behind what was written. */
  behind?(tx: Tx, written: Written, count: number): Promise<void>;
}
export interface Written {
  added: number;
  updated: number;
  disabled: number;
  faulty: Faulty[];
}
/** An entry that was not taken, or not whole. */
export interface Faulty {
  person: DirectoryPerson;
  message: string;
  /** Whether its user was changed. */
  updated: boolean;
  /** Stable ids of entries that may give up a name that it claims, once they are written; undefined: nothing changes by waiting. */
  waitsFor: readonly string[] | undefined;
}

/** How entries that are gone are worked off. */
export interface Disabling {
  before: NonNullable<Batch['before']>;
  behind(tx: Tx, count: number): Promise<void>;
  most: number;
  /** By id the distinguished names of administrators who stay enabled: the caller passes the same map until there are no more. */
  kept: Map<string, string>;
}

interface Taken {
  person: DirectoryPerson;
  was: store.KnownRow | undefined;
  row: store.Row;
  leftOut: string[];
}

type Names = Pick<NamesGot, 'username' | 'email'>;
/** The present username, and the present address where the directory says the same. */
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
  passwordsChanged,
  now,
  newId,
}: {
  transact: Transact;
  passwordsChanged: Credentials['passwordsChanged'];
  now: () => Date;
  newId: () => string;
}) {
  /** Drafts of entries that have their stable id alone, each user as it is to be but for its names. */
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
   * Leaves the last administrator of master enabled. What the directory says is not marked as followed, so each sync
   * tries again until there is another administrator.
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
      // a lost username says more than that there is none
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

  /** A new password over there ends what the old one was used for. */
  async function renewPasswords(tx: Tx, by: By, { realm }: Batch, present: readonly Taken[]): Promise<void> {
    const people = present.flatMap(({ person, row: { id, username }, was }) =>
      was && was.password_changed !== null && was.password_changed !== person.passwordChanged
        ? [{ id, username, temporary: false, actionsSet: true, credentialId: newId() }]
        : [],
    );
    if (people.length === 0) return;
    await store.renewPasswords(tx.sql, realm, people, now());
    await passwordsChanged(tx, by, realm, people);
  }

  const sum = (a: Written, b: Written): Written => ({
    added: a.added + b.added,
    updated: a.updated + b.updated,
    disabled: a.disabled + b.disabled,
    faulty: [...a.faulty, ...b.faulty],
  });

  /**
   * Writes them in one transaction. Where another request got a name at the same moment, the others are written without that entry, and
   * the entry's user with the names that it has. @throws Superseded
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

  /** Disables users whose entries are gone, so many at a time. @returns how many were found; 0: there are no more */
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
    /** Of a directory's people exactly those are in these groups who are named; who came otherwise stays. */
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
    /** Users that a full sync has not seen. */
    disableUnseen: (from: Parameters<typeof disableGone>[0] & { syncId: string }, how: Disabling) =>
      disableGone(from, store.notSeenIn(from.syncId), how),
    /** Users whose entries were looked for by their stable ids and not found. */
    disableAbsent: (
      from: Parameters<typeof disableGone>[0] & { externals: readonly string[] },
      how: Omit<Disabling, 'most'>,
    ) => disableGone(from, store.withStableIds(from.externals), { ...how, most: from.externals.length }),
  };
}
export type FromDirectoryWriter = ReturnType<typeof createFromDirectory>;
