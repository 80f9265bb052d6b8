// Owns: a sync with a directory as a durable job: it writes page by page, so that an interrupted sync keeps what it has written; groups; retries, schedules, syncs whose process died.
// Does not own: the users of a sync (people-sync.ts), requests (routes.ts).
// Implements: specification 4.2; decisions "User federation".

import type { Filter } from 'ldapts';
import { type By, bySystem } from '../../../contract/events.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { Superseded } from '../../../domain/directories.ts';
import { type Job, type JobContext, job } from '../../../jobs/job.ts';
import type { Queue } from '../../../jobs/queue.ts';
import type { FromDirectoryWriter } from '../users/from-directory.ts';
import { DirectoryFault, type DirectoryOutbound, ldapts, withDirectory } from './connection.ts';
import { changedAttribute } from './entry.ts';
import { type DirectoryGroups, type Failure, type FoundGroup, groupAttributes, groupOf } from './groups.ts';
import { flattened } from './nested.ts';
import { createPeopleSync, type SyncRun } from './people-sync.ts';
import * as store from './store.ts';
import { SYNC_JOB, type SyncJob, scheduleTerms, syncTerms } from './sync-jobs.ts';

/** The time limit for one answer of the directory. */
const TIMEOUT_MS = 60_000;
const TRIES = 3;
/** Tries after faults of this server: the database may be unreachable for a while. */
const MOST_TRIES = 20;
const RETRY_SECONDS = 5;
/** Longer than any page takes. */
const LOST_AFTER_MS = 180_000;
const LONGEST_COUNT_MS = 10_000;
/** RFC 4511 §4.5.1.8: asks for entries without attributes. */
const NO_ATTRIBUTES = '1.1';
/** How far the directory's clock may be behind the server's. */
const SKEW_MS = 300_000;

export interface SyncDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  outbound: DirectoryOutbound;
  people: FromDirectoryWriter;
  groups: DirectoryGroups;
  enqueue: Queue['enqueue'];
  now: () => Date;
  newId: () => string;
}

/** The form that Active Directory needs and OpenLDAP accepts. */
const generalizedTime = (at: Date): string => `${at.toISOString().replaceAll(/[-:T]|\.\d+Z/g, '')}.0Z`;

export function createSyncs({
  sql,
  realmSql,
  transact,
  seal,
  outbound,
  people,
  groups,
  enqueue,
  now,
  newId,
}: SyncDeps) {
  const party = ({ id, alias }: Pick<store.Directory, 'id' | 'alias'>) =>
    ({ type: 'object', id, name: `directory ${alias}` }) as const;
  const peopleSync = createPeopleSync({ sql, realmSql, people });

  /** @returns the new sync, or the one that is in progress */
  async function begin(
    tx: Tx,
    by: By,
    directory: Pick<store.Directory, 'realm' | 'id' | 'alias'>,
    kind: store.SyncKind,
  ): Promise<store.SyncRow | undefined> {
    const { realm } = directory;
    const begun = await store.begin(tx.sql, realm, { id: newId(), directoryId: directory.id, kind, at: now() });
    if (!begun) return store.current(tx.sql, realm, directory.id);
    tx.record({
      type: 'DIRECTORY_SYNC_STARTED',
      realm,
      by,
      subject: party(directory),
      data: { syncId: begun.id, kind },
    });
    await enqueue(tx.sql, SYNC_JOB, [{ realm, id: begun.id, count: by.actor?.type !== 'system' }]);
    return begun;
  }

  /** Everything that changed since the mark; without a mark, everything. */
  async function filterOf(directory: store.Directory, filter: string, since: string | null): Promise<Filter> {
    const { AndFilter, FilterParser, GreaterThanEqualsFilter } = await ldapts();
    const all = FilterParser.parseString(filter);
    if (since === null) return all;
    const changed = new GreaterThanEqualsFilter({ attribute: changedAttribute(directory), value: since });
    return new AndFilter({ filters: [all, changed] });
  }

  async function* groupPages(
    { directory, session, since, signal }: SyncRun,
    tell: (failures: Failure[]) => Promise<unknown>,
  ): AsyncGenerator<FoundGroup[]> {
    const { groups: of } = directory;
    if (!of) return;
    const search = {
      base: of.base,
      scope: 'sub' as const,
      // A group that contains a changed group is not changed itself.
      filter: await filterOf(directory, of.filter, of.nested ? null : since),
      attributes: groupAttributes(directory),
    };
    for await (const entries of session.pages(search, directory.pageSize)) {
      signal.throwIfAborted();
      // LDAP can request further ranges of members only for one group at a time.
      const found = await Promise.all(entries.map((entry) => groupOf(directory, session, entry)));
      const faults = found.flatMap((one) => ('entry' in one ? [one] : []));
      if (faults.length > 0) await tell(faults);
      yield found.flatMap((one) => ('entry' in one ? [] : [one]));
    }
  }

  async function readGroups(run: SyncRun): Promise<void> {
    const { directory, sync, since, mine } = run;
    const { realm, groups: of, pageSize } = directory;
    if (!of) return;
    const names = new Set<string>();
    const progress = { read: 0, added: 0, updated: 0, disabled: 0 };
    const pages = groupPages(run, (failures) => store.progress(realmSql(realm), mine(), { ...progress, failures }));
    for await (const found of of.nested ? flattened(pages, pageSize) : pages) {
      run.signal.throwIfAborted();
      await written(realm, mine, async (tx) => {
        const failures = await groups.write(tx, directory, found, { sync: sync.id, names });
        await store.progress(tx.sql, mine(), { ...progress, failures });
      });
    }
    if (since === null) await written(realm, mine, (tx) => groups.forget(tx, directory, sync.id));
  }

  const written = (realm: string, mine: SyncRun['mine'], work: (tx: Tx) => Promise<void>): Promise<void> =>
    transact(
      realm,
      async (tx) => {
        if (!(await store.stillMine(tx.sql, mine()))) throw new Superseded();
        await work(tx);
      },
      { bookkeeping: true },
    );

  /** Reads the names of the entries alone. A directory that takes long to count is synced without a percentage. */
  async function countPeople({ directory, session, mine, signal }: SyncRun, filter: Filter): Promise<void> {
    const { base, scope } = directory.users;
    const began = performance.now();
    let total = 0;
    for await (const entries of session.pages(
      { base, scope, filter, attributes: [NO_ATTRIBUTES] },
      directory.pageSize,
    )) {
      signal.throwIfAborted();
      if (performance.now() - began > LONGEST_COUNT_MS) return;
      total += entries.length;
    }
    await store.setTotal(realmSql(directory.realm), mine(), total);
  }

  async function readAll(run: Omit<SyncRun, 'session'>, count: boolean): Promise<void> {
    const { directory, since } = run;
    await withDirectory(directory, { outbound, timeoutMs: TIMEOUT_MS }, async (session) => {
      const filter = await filterOf(directory, directory.users.filter, since);
      if (count) await countPeople({ ...run, session }, filter);
      await peopleSync.read({ ...run, session }, filter);
      await readGroups({ ...run, session });
    });
  }

  async function finish(
    directory: Pick<store.Directory, 'realm' | 'id' | 'alias'>,
    mine: store.Mine,
    ended: Parameters<typeof store.endSync>[2],
  ): Promise<void> {
    await transact(directory.realm, async (tx) => {
      const row = await store.endSync(tx.sql, mine, ended);
      if (!row) return;
      const { id: syncId, kind, read, added, updated, disabled, failed, error } = row;
      tx.record({
        type: 'DIRECTORY_SYNCED',
        realm: directory.realm,
        by: bySystem,
        subject: party(directory),
        outcome: ended.state === 'done' ? 'success' : 'failure',
        data: { syncId, kind, read, added, updated, disabled, failed, ...(error !== null && { error }) },
      });
    });
  }

  async function run({ realm, id, count }: SyncJob, { signal }: JobContext): Promise<void> {
    const runner = newId();
    const mine = (): store.Mine => ({ realm, id, runner, at: now() });
    const begun = now();
    const lostBefore = new Date(begun.getTime() - LOST_AFTER_MS);
    const sync = await store.claimSync(realmSql(realm), realm, { id, runner, at: begun, lostBefore });
    if (!sync) return;
    const [directory] = await store.directories(sql, seal, realm, fragment`id = ${sync.directory_id}`);
    if (!directory) return;
    const since = sync.kind === 'changed' ? await store.lastMark(sql, realm, directory.id) : null;
    try {
      if (!directory.enabled) throw new DirectoryFault('the directory is disabled', { forGood: true });
      await readAll({ directory, sync, since, mine, signal }, count);
      const mark = generalizedTime(new Date(begun.getTime() - SKEW_MS));
      await finish(directory, mine(), { state: 'done', error: null, mark });
    } catch (error) {
      if (error instanceof Superseded) return;
      const ofDirectory = error instanceof DirectoryFault;
      if (signal.aborted || (!ofDirectory && sync.tries < MOST_TRIES)) {
        await store.release(realmSql(realm), mine(), null);
        throw error;
      }
      const message = ofDirectory ? error.message : 'something went wrong here; the log of the server says what';
      if (!ofDirectory || error.forGood || sync.tries >= TRIES) {
        await finish(directory, mine(), { state: 'failed', error: message, mark: null });
        if (ofDirectory) return;
        throw error;
      }
      await transact(
        realm,
        async (tx) => {
          await store.release(tx.sql, mine(), message);
          await enqueue(tx.sql, SYNC_JOB, [{ realm, id }], { startAfterSeconds: RETRY_SECONDS * sync.tries });
        },
        { bookkeeping: true },
      );
    }
  }

  const jobs: Job[] = [
    job({
      ...syncTerms,
      run,
    }),
    job({
      ...scheduleTerms,
      async run() {
        const at = now();
        const lost = await store.abandonedSyncs(sql, new Date(at.getTime() - LOST_AFTER_MS));
        if (lost.length > 0) await enqueue(sql, SYNC_JOB, lost);
        // One transaction for each realm, because each realm has its own audit log.
        for (const { full, ...directory } of await store.dueSyncs(sql, at))
          await transact(directory.realm, (tx) => begin(tx, bySystem, directory, full ? 'full' : 'changed'));
      },
    }),
  ];

  return { begin, jobs };
}
export type Syncs = ReturnType<typeof createSyncs>;
