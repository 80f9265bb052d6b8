// Owns: the users of a sync: reading and writing their entries page by page, entries that wait for names, entries that are gone.
// Does not own: syncs as work (sync.ts), how users are written (features/people/users/from-directory.ts), groups.
// Implements: decisions "User federation".
import type { Filter } from 'ldapts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import { KEPT_ADMINISTRATOR } from '../../../domain/administrators.ts';
import type { DirectoryPerson, Faulty, FromDirectoryWriter } from '../users/from-directory.ts';
import { DirectoryFault, type Session } from './connection.ts';
import { personAttributes, personOf, stableId, writtenAttributes } from './entry.ts';
import { claimNamesAgain } from './names-again.ts';
import * as store from './store.ts';

/**
 * Entries that wait for a name are held by their stable ids. Beyond this many, an entry is reported as failed at once, and
 * the next sync reads it again.
 */
const MOST_WAITING = 200_000;
const AT_ONCE = 500;
/** Below this many new users, PostgreSQL's statistics don't matter. */
const FEW = 500;

/**
 * Decides when a first sync should refresh PostgreSQL's statistics: after its first page, then each time the number of
 * users has grown tenfold.
 */
function createStatistics() {
  let [made, next] = [0, FEW];
  return {
    due(added: number): boolean {
      made += added;
      if (made < next) return false;
      next = made * 10;
      return true;
    },
  };
}

export interface SyncRun {
  directory: store.Directory;
  session: Session;
  sync: store.SyncRow;
  /** null: everything is read. */
  since: string | null;
  mine(): store.Mine;
  signal: AbortSignal;
}

const failureOf = ({ person, message }: Faulty) => ({ entry: person.dn, message });
const noProgress = { read: 0, added: 0, updated: 0, disabled: 0, failures: [] };

export function createPeopleSync({
  sql,
  realmSql,
  people,
}: {
  sql: Sql;
  realmSql: RealmSql;
  people: FromDirectoryWriter;
}) {
  function writerOf({ directory, sync, mine }: SyncRun) {
    const { realm, users } = directory;
    const from = {
      realm,
      directoryId: directory.id,
      alias: directory.alias,
      fields: new Set(Object.keys(users.attributes)),
      attributes: writtenAttributes(directory),
      trustEmail: users.trustEmail,
      syncId: sync.id,
      knownAlone: directory.mode === 'live',
    };
    return (of: readonly DirectoryPerson[], seen: readonly string[], counted = true) =>
      people.write({
        ...from,
        people: of,
        seen,
        before: (tx) => store.stillMine(tx.sql, mine()),
        behind: async (tx, { added, updated, disabled }, count) =>
          void (await store.progress(tx.sql, mine(), {
            read: counted ? count : 0,
            added,
            updated,
            disabled,
            failures: [],
          })),
      });
  }

  const tell = ({ directory, mine }: SyncRun, progress: Partial<store.SyncProgress>) =>
    store.progress(realmSql(directory.realm), mine(), { ...noProgress, ...progress });

  /** @returns the number of read entries, and the entries whose name another entry's user still has */
  async function readPages(run: SyncRun, filter: Filter): Promise<{ count: number; waiting: Map<string, Faulty> }> {
    const { directory, session, signal } = run;
    const { base, scope } = directory.users;
    const write = writerOf(run);
    const search = { base, scope, filter, attributes: personAttributes(directory) };
    const waiting = new Map<string, Faulty>();
    const statistics = createStatistics();
    let count = 0;
    for await (const entries of session.pages(search, directory.pageSize)) {
      signal.throwIfAborted();
      count += entries.length;
      const read = entries.map((entry) => ({ entry: entry.dn, ...personOf(directory, entry) }));
      const failures = read.flatMap(({ entry, fault }) => (fault === undefined ? [] : [{ entry, message: fault }]));
      const unread = failures.length;
      const seen = entries.flatMap((entry) => stableId(directory, entry) ?? []);
      const { added, faulty } = await write(
        read.flatMap(({ person }) => person ?? []),
        seen,
      );
      if (statistics.due(added)) await store.analyze(sql);
      for (const one of faulty)
        if (one.waitsFor !== undefined && waiting.size < MOST_WAITING) waiting.set(one.person.external, one);
        else failures.push(failureOf(one));
      if (failures.length > 0) await tell(run, { failures, read: unread });
    }
    return { count, waiting };
  }

  async function disableGone(run: SyncRun): Promise<void> {
    const { directory, sync, mine, signal } = run;
    const { realm, id: directoryId, alias } = directory;
    const kept = new Map<string, string>();
    let some = AT_ONCE;
    while (some > 0) {
      signal.throwIfAborted();
      some = await people.disableUnseen(
        { realm, directoryId, alias, syncId: sync.id },
        {
          before: (tx) => store.stillMine(tx.sql, mine()),
          behind: async (tx, disabled) => void (await store.progress(tx.sql, mine(), { ...noProgress, disabled })),
          most: AT_ONCE,
          kept,
        },
      );
    }
    await tellKept(run, kept);
  }

  async function tellKept(run: SyncRun, kept: ReadonlyMap<string, string>): Promise<void> {
    const failures = [...kept.values()].map((entry) => ({ entry, message: KEPT_ADMINISTRATOR }));
    if (failures.length > 0) await tell(run, { failures });
  }

  /** By now the sync has written every entry that it reads, and knows which entries are gone. */
  async function claimAgain(run: SyncRun, waiting: ReadonlyMap<string, Faulty>): Promise<void> {
    const { directory, session, since, mine, signal } = run;
    const { realm, id: directoryId, alias } = directory;
    const write = writerOf(run);
    const left = await claimNamesAgain({
      directory,
      session,
      waiting,
      readsHolders: since !== null,
      write: (some) => {
        signal.throwIfAborted();
        return write(some, [], false);
      },
      async disableAbsent(externals) {
        if (directory.removed !== 'disable') return;
        const kept = new Map<string, string>();
        await people.disableAbsent(
          { realm, directoryId, alias, externals },
          {
            before: (tx) => store.stillMine(tx.sql, mine()),
            behind: async (tx, disabled) => void (await store.progress(tx.sql, mine(), { ...noProgress, disabled })),
            kept,
          },
        );
        await tellKept(run, kept);
      },
    });
    const updated = left.filter((one) => one.updated && one.waitsFor !== undefined).length;
    const failures = left.slice(0, store.MOST_ERRORS).map(failureOf);
    if (left.length > 0) await tell(run, { updated, failures, failed: left.length });
  }

  return {
    async read(run: SyncRun, filter: Filter): Promise<void> {
      const { directory, since } = run;
      const { count, waiting } = await readPages(run, filter);
      // A wrong filter or a lost permission would otherwise disable all users.
      if (since === null && count === 0 && (await store.hasPeople(sql, directory.realm, directory.id)))
        throw new DirectoryFault(
          'the directory has no entry any more for users.base and users.filter: check both; no user was disabled',
          {
            forGood: true,
          },
        );
      if (since === null && directory.removed === 'disable') await disableGone(run);
      if (waiting.size > 0) await claimAgain(run, waiting);
    },
  };
}
