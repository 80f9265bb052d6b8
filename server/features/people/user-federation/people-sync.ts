// Owns: the people of a sync: their entries read and written page by page, those that wait for names, those that are gone.
// Does not own: syncs as work (sync.ts), how people are written (features/people/users/from-directory.ts), groups.
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

/** Entries that wait for names are held, by their stable ids; beyond so many they are told at once, and come by the next sync. */
const MOST_WAITING = 200_000;
const AT_ONCE = 500;
/** People that a sync has made: below, any plan is as good as another. */
const FEW = 500;

/** When a first sync has made so many that PostgreSQL's statistics are of another table: at its first page, and at ten times as many. */
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
  /** Null: everything is read. */
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

  /** @returns how many entries there were, and those that claim names of others */
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

  /** By now every entry is written that this sync reads, and those that are gone are known. */
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
      // a filter or a right that was lost would disable everybody
      if (since === null && count === 0 && (await store.hasPeople(sql, directory.realm, directory.id)))
        throw new DirectoryFault('it has nobody any more, by this base and filter: nobody was disabled', {
          forGood: true,
        });
      if (since === null && directory.removed === 'disable') await disableGone(run);
      if (waiting.size > 0) await claimAgain(run, waiting);
    },
  };
}
