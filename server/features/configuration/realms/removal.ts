// Owns: removing what a deleted realm held, in batches: within the request if it is little, otherwise by a job.
// Does not own: the decision to delete, and when the realm stops answering (service.ts).
// Implements: decisions "Realms"; however much a realm holds, no transaction of its removal is long.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { forgetEvents } from '../../../events/log.ts';
import { job } from '../../../jobs/job.ts';
import { RUN_MS, removalTerms } from './removal-job.ts';
import * as store from './removal-store.ts';

/** Rows of one transaction. */
const BATCH = 2_000;
/** The time limit of one of the job's statements, waiting for locks included. */
const LONGEST_MS = 300_000;
const BUSY_MS = 200;

/** Where the next batch begins: the table, and the last event that was removed. */
interface Place {
  table: number;
  event: string | undefined;
  eventsLeft: boolean;
}
type Outcome = Place | 'gone' | 'busy';

export function createRemoval({ sql, transact }: { sql: Sql; transact: Transact }) {
  /** One batch: rows of as many tables as fit into it. Every batch may run twice, so `from` stays as it is. */
  async function batch(tx: Tx, realm: string, tables: readonly store.Table[], from: Place): Promise<Outcome> {
    if (!(await store.claim(tx.sql, realm))) return 'busy';
    const place = { ...from };
    let room = BATCH;
    while (place.eventsLeft && room > 0) {
      const { last, deleted } = await forgetEvents(tx.sql, realm, { after: place.event, most: room });
      place.event = last;
      place.eventsLeft = deleted === room;
      room -= deleted;
    }
    for (let table = tables[place.table]; table && room > 0; table = tables[place.table]) {
      const deleted = await store.removeRows(tx.sql, realm, table, room);
      if (deleted < room) place.table += 1;
      room -= deleted;
    }
    if (room === 0) return place;
    await store.removeRest(tx.sql, realm);
    return 'gone';
  }

  /**
   * Removes until nothing is left or the time is up. Where another server does the same, the two take turns.
   * @returns whether the realm is gone
   */
  async function remove(
    realm: string,
    { until, longestMs, signal }: { until: number; longestMs: number; signal?: AbortSignal },
  ): Promise<boolean> {
    const tables = await store.tablesInOrder(sql);
    let place: Place = { table: 0, event: undefined, eventsLeft: true };
    while (performance.now() < until && !signal?.aborted) {
      const from = place;
      const work = (tx: Tx) => batch(tx, realm, tables, from);
      const outcome = await transact(realm, work, { bookkeeping: true, longestMs });
      if (outcome === 'gone') return true;
      if (outcome !== 'busy') place = outcome;
      else if (await store.isBeingDeleted(sql, realm)) await sleep(BUSY_MS);
      else return true;
    }
    return false;
  }

  return {
    /**
     * @returns whether the realm is gone after this time; otherwise the job goes on
     * @throws if something holds rows of the realm for as long
     */
    within: (realm: string, ms: number): Promise<boolean> =>
      remove(realm, { until: performance.now() + ms, longestMs: ms }),

    job: job({
      ...removalTerms,
      async run(_, { signal }) {
        const until = performance.now() + RUN_MS;
        for (const realm of await store.beingDeleted(sql))
          await remove(realm, { until, longestMs: LONGEST_MS, signal });
      },
    }),
  };
}
export type Removal = ReturnType<typeof createRemoval>;
