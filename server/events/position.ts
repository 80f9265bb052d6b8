// An event's position in the log is the number of its transaction; PostgreSQL's numbers ascend. The log is complete below the oldest open
// transaction: no event can be added there any more.
import type { Sql } from '../db/sql.ts';
import { Fragment, fragment } from '../db/statement.ts';
import type { Transact } from '../db/transact.ts';

/** The position below which the log is complete, in the snapshot of the surrounding statement. */
export const completeUpTo = fragment`
  (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + (select added from event_log))`;

/**
 * After a restored dump, the database counts its transactions from the beginning: new events would come before sealed
 * ones. So the count is continued before any event is written.
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
