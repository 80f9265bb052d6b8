// An event's position in the log is the number of its transaction; PostgreSQL's numbers ascend. The log is complete below the oldest open
// transaction: no event can be added there any more.
import type { Sql } from '../db/sql.ts';
import { Fragment, fragment } from '../db/statement.ts';
import type { Transact } from '../db/transact.ts';

/** Below it the log is complete, in the snapshot of the statement that this stands in. */
export const completeUpTo = fragment`
  (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + (select added from event_log))`;

/**
 * A database that a dump was restored into counts its transactions anew: what is written there would stand before what is sealed.
 * Before anything is written, the count goes on where it was.
 */
export const continuePositions = (transact: Transact): Promise<void> =>
  transact(
    undefined,
    async ({ sql }) => {
      if ((await behind(sql)) === undefined) return;
      await sql`select from event_log for update`;
      const added = await behind(sql);
      if (added === undefined) return;
      await sql`update event_log set added = ${added}`;
      const counted = Fragment.once(`pg_current_xact_id()::text::bigint + ${added}`);
      await sql`alter table event alter column position set default ${counted}`;
    },
    { bookkeeping: true },
  );

/** The number to add to transaction numbers; undefined if the present one is right. */
async function behind(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ added: number }>`
    select reached - next + 1 as added from (
      select greatest(position, coalesce((select max(position) from event), 0)) as reached, added,
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next
      from event_log) counted where reached >= next + added`;
  return row?.added;
}
