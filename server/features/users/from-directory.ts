// Owns: writing people as a directory has them, a batch at a time in a constant number of statements: who is new, who has changed,
// who is not to sign in any more, and what follows from that. Somebody is found again by the directory's stable id alone.
// Does not own: reading directories (features/user-federation), who asks for it.
// Implements: decisions "User federation", "Single sign-on and freshness".
import type { By } from '../../contract/events.ts';
import { withoutOldConfirmation } from '../../contract/phone.ts';
import type { UserProfile } from '../../contract/user-profile.ts';
import { isTaken } from '../../db/error-code.ts';
import { fragment } from '../../db/sql.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import { administratorToKeep, isLastAdministrator, KEPT_ADMINISTRATOR } from '../../domain/administrators.ts';
import { byDirectory, Superseded } from '../../domain/directories.ts';
import { endAccess } from '../../domain/end-access.ts';
import { giveDefaults } from '../../domain/new-users.ts';
import { userParty } from '../../domain/party.ts';
import { hasNoRules, type ProfileData, profileFaults, readProfile } from '../../domain/user-profile.ts';
import { changedFields } from '../../http/changed-fields.ts';
import type { Credentials } from '../credentials/service.ts';
import * as store from './from-directory-store.ts';

export interface DirectoryPerson {
  /** What stays when everything else of somebody changes. */
  external: string;
  dn: string;
  dnKey: string;
  username: string;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  attributes: Record<string, string[]>;
  enabled: boolean;
  /** As the directory writes it; null: it doesn't say. */
  passwordChanged: string | null;
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
  /** In the same transaction, before anything else; false: somebody else goes on with it, and nothing is written. */
  before?(tx: Tx): Promise<boolean>;
  /** In the same transaction, behind what was written. */
  behind?(tx: Tx, written: Written, count: number): Promise<void>;
}
export interface Written {
  added: number;
  updated: number;
  disabled: number;
  failures: { person: DirectoryPerson; message: string }[];
  /** Who came, but for what the realm's user profile refuses. */
  partly: { person: DirectoryPerson; message: string }[];
}

export interface Disabling {
  before: NonNullable<Batch['before']>;
  behind(tx: Tx, count: number): Promise<void>;
  most: number;
  /** By id the distinguished names of administrators who stay enabled: the caller passes the same map until there are no more. */
  kept: Map<string, string>;
}

const fold = (name: string): string => name.normalize('NFKC').toLowerCase();

/**
 * Nobody is kept out, and nothing else that the directory says is held up, by what the realm's user profile refuses: that is left out.
 * A name can't be; who has one here keeps it.
 */
function fitting(
  profile: UserProfile,
  was: ProfileData | undefined,
  row: store.Row,
): { row: store.Row; fault: string | undefined; isNameless: boolean } {
  // who may edit what here says nothing of a directory
  const faults = hasNoRules(profile) ? [] : profileFaults(profile, { by: 'document', before: was, after: row });
  if (faults.length === 0) return { row, fault: undefined, isNameless: false };
  const refused = new Set(faults.map(({ path }) => path));
  const unlessRefused = <T>(path: string, value: T): T | null => (refused.has(path) ? null : value);
  const email = unlessRefused('email', row.email);
  const attributes = Object.entries(row.attributes).filter(([name]) => !refused.has(`attributes.${name}`));
  return {
    row: {
      ...row,
      username: unlessRefused('username', row.username) ?? was?.username ?? row.username,
      email,
      emailVerified: email !== null && row.emailVerified,
      firstName: unlessRefused('firstName', row.firstName),
      lastName: unlessRefused('lastName', row.lastName),
      attributes: Object.fromEntries(attributes),
    },
    fault: faults.map(({ path, message }) => `${path}: ${message}`).join('; '),
    isNameless: refused.has('username') && was === undefined,
  };
}

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
  /** As they are to be: what the directory doesn't say stays. */
  function wanted(from: FromDirectory, person: DirectoryPerson, was: store.KnownRow | undefined): store.Row {
    const { fields } = from;
    const said = <T>(field: string, there: T, here: T): T => (fields.has(field) || !was ? there : here);
    const kept = Object.entries(was?.attributes ?? {}).filter(([name]) => !from.attributes.includes(name));
    const email = said('email', person.email, was?.email ?? null);
    const sameAddress = was !== undefined && email === was.email;
    // who was disabled here stays so: only a change over there is followed
    const followed = was ? was.enabled_there !== person.enabled : true;
    return {
      id: was?.id ?? newId(),
      username: person.username,
      email,
      emailVerified: email !== null && (from.trustEmail || (sameAddress && was.emailVerified)),
      firstName: said('firstName', person.firstName, was?.firstName ?? null),
      lastName: said('lastName', person.lastName, was?.lastName ?? null),
      attributes: { ...Object.fromEntries(kept), ...person.attributes },
      enabled: followed ? person.enabled : (was?.enabled ?? true),
    };
  }

  /**
   * Leaves the last administrator of master enabled. What the directory says is not marked as followed, so each sync
   * tries again until there is another administrator.
   */
  async function withAdministrator(
    tx: Tx,
    people: readonly DirectoryPerson[],
    rows: Awaited<ReturnType<typeof store.known>>,
  ): Promise<{ people: readonly DirectoryPerson[]; partly: Written['partly'] }> {
    const disabled = people.flatMap((person, i) => (person.enabled ? [] : (rows[i]?.was?.id ?? [])));
    const kept = await administratorToKeep(tx.sql, fragment`select unnest(${disabled}::uuid[])`);
    const stays = (i: number) => kept !== undefined && rows[i]?.was?.id === kept;
    return {
      people: people.map((person, i) => (stays(i) ? { ...person, enabled: true } : person)),
      partly: people.flatMap((person, i) => (stays(i) ? [{ person, message: KEPT_ADMINISTRATOR }] : [])),
    };
  }

  /** @param keepsAdministrator where the same write was refused, as it would have left master with no administrator */
  async function write(tx: Tx, batch: Batch, keepsAdministrator: boolean): Promise<Written> {
    const { realm, directoryId, alias } = batch;
    const by = byDirectory(alias);
    const failures: Written['failures'] = [];
    const partly: Written['partly'] = [];
    if (batch.before && !(await batch.before(tx))) throw new Superseded();
    if (batch.syncId !== undefined && batch.seen && batch.seen.length > 0)
      await store.seen(tx.sql, realm, directoryId, batch.syncId, batch.seen);
    const rows = await store.known(tx.sql, realm, directoryId, batch.people);
    const { people, partly: kept } = keepsAdministrator
      ? await withAdministrator(tx, batch.people, rows)
      : { people: batch.people, partly: [] };
    partly.push(...kept);
    const profile = await readProfile(tx.sql, realm);
    const mine = new Set(rows.flatMap(({ was }) => was?.id ?? []));
    const names = new Set<string>();
    const created: { person: DirectoryPerson; row: store.Row }[] = [];
    const changed: { row: store.Row; was: store.KnownRow; fields: string[] }[] = [];
    const there: { person: DirectoryPerson; id: string; was: store.KnownRow | undefined }[] = [];
    for (const [i, person] of people.entries()) {
      const { was: before, taken_by: takenBy = null } = rows[i] ?? {};
      const was = before ?? undefined;
      if (!was && batch.knownAlone) continue;
      const { row, fault, isNameless } = fitting(profile, was, wanted(batch, person, was));
      row.attributes = withoutOldConfirmation(was?.attributes ?? {}, row.attributes, person.attributes);
      const fail = (message: string) => failures.push({ person, message });
      const own = [fold(row.username), ...(row.email === null ? [] : [fold(row.email)])];
      if (own.some((name) => names.has(name))) {
        fail('has a name or an address that another entry has, too');
        continue;
      }
      if (takenBy !== null && !mine.has(takenBy)) {
        fail('has a name or an address that somebody else has here');
        continue;
      }
      if (fault !== undefined && isNameless) {
        fail(fault);
        continue;
      }
      if (fault !== undefined)
        partly.push({ person, message: `came, but for what the user profile refuses: ${fault}` });
      for (const name of own) names.add(name);
      there.push({ person, id: row.id, was });
      if (!was) created.push({ person, row });
      else {
        const fields = changedFields(was, row);
        if (fields.length > 0) changed.push({ row, was, fields });
      }
    }
    const made = await store.insertPeople(
      tx.sql,
      realm,
      created.map(({ row }) => row),
      now(),
    );
    for (const { person, row } of created)
      if (!made.has(row.id)) failures.push({ person, message: 'has a name or an address that somebody else has here' });
    const present = there.filter(({ id, was }) => was || made.has(id));
    await store.updatePeople(tx.sql, realm, changed);
    await store.link(tx.sql, realm, directoryId, batch.syncId ?? null, present);
    const keys = present.map(({ id }) => ({ id: newId(), userId: id }));
    await store.insertPasswords(tx.sql, realm, directoryId, keys, now());
    if (made.size > 0) {
      const ids = [...made];
      await giveDefaults(
        tx.sql,
        realm,
        fragment`select unnest(${ids}::uuid[]) as id, false as says_roles, false as says_client_roles, false as says_groups`,
      );
    }
    const data = { directory: alias };
    for (const { row } of created)
      if (made.has(row.id))
        tx.record({ type: 'USER_CREATED', realm, by, subject: userParty(row.id, row.username), data });
    for (const { row, fields } of changed)
      tx.record({
        type: 'USER_UPDATED',
        realm,
        by,
        subject: userParty(row.id, row.username),
        data: { ...data, fields },
      });
    const disabled = changed.filter(({ row, was }) => was.enabled && !row.enabled).map(({ row }) => row.id);
    if (disabled.length > 0) await endAccess(tx, realm, { people: disabled, cause: 'disabled', by, at: now() });
    await renewPasswords(tx, by, batch, present);
    const written = { added: made.size, updated: changed.length, disabled: disabled.length, failures, partly };
    await batch.behind?.(tx, written, people.length);
    return written;
  }

  /** A new password over there ends what the old one was used for. */
  async function renewPasswords(
    tx: Tx,
    by: By,
    { realm }: Batch,
    present: readonly { person: DirectoryPerson; id: string; was: store.KnownRow | undefined }[],
  ): Promise<void> {
    const people = present.flatMap(({ person, id, was }) =>
      was && was.password_changed !== null && was.password_changed !== person.passwordChanged
        ? [{ id, username: person.username, temporary: false, actionsSet: true, credentialId: newId() }]
        : [],
    );
    if (people.length === 0) return;
    await store.renewPasswords(tx.sql, realm, people, now());
    await passwordsChanged(tx, by, realm, people);
  }

  const disableUnseen = (
    { realm, directoryId, alias, syncId }: Pick<Batch, 'realm' | 'directoryId' | 'alias'> & { syncId: string },
    { before, behind, most, kept }: Disabling,
    keepsAdministrator = false,
  ): Promise<number> =>
    transact(
      realm,
      async (tx) => {
        if (!(await before(tx))) throw new Superseded();
        if (keepsAdministrator) {
          const unseen = store.unseen(realm, directoryId, syncId);
          const id = await administratorToKeep(tx.sql, unseen);
          if (id !== undefined) kept.set(id, await store.dnOf(tx.sql, realm, id));
        }
        const but = [...kept.keys()];
        const gone = await store.disableUnseen(tx.sql, realm, directoryId, { syncId, most, but });
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

  const sum = (a: Written, b: Written): Written => ({
    added: a.added + b.added,
    updated: a.updated + b.updated,
    disabled: a.disabled + b.disabled,
    failures: [...a.failures, ...b.failures],
    partly: [...a.partly, ...b.partly],
  });

  /**
   * Writes them in one transaction. Where one of them has what somebody got at the same moment, the others are written without
   * it. @throws Superseded
   */
  async function writeBatch(batch: Batch, keepsAdministrator = false): Promise<Written> {
    const { people } = batch;
    try {
      return await transact(batch.realm, (tx) => write(tx, batch, keepsAdministrator), { bookkeeping: true });
    } catch (error) {
      if (!keepsAdministrator && isLastAdministrator(error)) return writeBatch(batch, true);
      if (!isTaken(error)) throw error;
      const [only] = people;
      if (people.length <= 1) {
        const message = 'has a name or an address that somebody else has here';
        return { added: 0, updated: 0, disabled: 0, failures: only ? [{ person: only, message }] : [], partly: [] };
      }
      const half = people.length >> 1;
      const first = await writeBatch({ ...batch, people: people.slice(0, half) });
      return sum(first, await writeBatch({ ...batch, people: people.slice(half) }));
    }
  }

  return {
    write: (batch: Batch): Promise<Written> => writeBatch(batch),
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
    /** Disables users whom a full sync has not seen, so many at a time. @returns how many there were; 0: there are no more */
    async disableUnseen(
      from: Pick<Batch, 'realm' | 'directoryId' | 'alias'> & { syncId: string },
      how: Disabling,
    ): Promise<number> {
      try {
        return await disableUnseen(from, how);
      } catch (error) {
        if (!isLastAdministrator(error)) throw error;
        return disableUnseen(from, how, true);
      }
    },
  };
}
export type FromDirectoryWriter = ReturnType<typeof createFromDirectory>;
