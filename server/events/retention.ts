// Deletes events of the audit log by age: whole blocks, the oldest first, a bounded number of events at a time. The janitor decides
// how old events may become.
import { NIL_ID } from '../crypto/ids.ts';
import type { Seal } from '../crypto/seal.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import type { Transact } from '../db/transact.ts';
import { holdChain, lastSaid, recordAmendments } from './amendments.ts';
import { ofBlock } from './chain.ts';
import { foldBlocks, type Place } from './fold.ts';

/** The most events of one statement; a transaction exceeds it only to complete its last block. */
const MOST_EVENTS = 20_000;
/** The most blocks of one transaction. */
const MOST_BLOCKS = 500;
/**
 * The most events of a block that shares a statement with others: realms with little activity have a few in each block.
 */
const MOST_SHARED = 1_000;

interface Due extends Place {
  first_id: string;
  last_id: string;
  first_position: number;
  last_position: number;
  events: number;
}

/** @param forwarding events stay until the receiver has them */
const dueBlocks = (sql: Sql, { until, forwarding }: { until: Date; forwarding: boolean }) => sql<Due>`
  select realm_id as realm, number, first_id, last_id, first_position, last_position, events from (
    select b.*, sum(b.events) over (order by b.newest_at, b.realm_id, b.number) - b.events as before from (
      select * from event_block where newest_at < ${until} and first_position is not null
        and (${!forwarding} or last_position < (select position from event_forwarding))
      order by newest_at limit ${MOST_BLOCKS}
    ) b
  ) sized where before < ${MOST_EVENTS} order by before`;

const deleting = (doomed: Fragment, keep: Fragment | undefined): Fragment => fragment`gone as (
    delete from event e ${doomed}
    returning e.realm_id, e.type, e.occurred_at, e.actor, e.subject, e.data
  )${keep ? fragment`, ${keep}` : fragment``}`;

/** Deletes all events of these blocks. Each block is looked up by itself: a join may read the whole table. */
async function deleteWhole(sql: Sql, blocks: readonly Due[], keep: Fragment | undefined): Promise<number> {
  const of = JSON.stringify(blocks.map(({ realm, ...block }) => ({ realm_id: realm, ...block })));
  const [row] = await sql<{ deleted: number }>`
    with doomed as materialized (
      select held.* from jsonb_to_recordset(${of}::jsonb)
        as b (realm_id text, first_id uuid, last_id uuid, first_position bigint, last_position bigint)
      cross join lateral (select e.realm_id, e.id from event e where ${ofBlock} offset 0) held
    ), ${deleting(fragment`using doomed where e.realm_id = doomed.realm_id and e.id = doomed.id`, keep)}
    select count(*)::int as deleted from gone`;
  return row?.deleted ?? 0;
}

/** Deletes the events of one block in several statements: a large import's events are all in one block. */
async function deleteByParts(sql: Sql, block: Due, keep: Fragment | undefined): Promise<number> {
  const doomed = fragment`where e.realm_id = ${block.realm} and e.id = any(array(
    select id from looked_at where position between ${block.first_position}::bigint and ${block.last_position}::bigint))`;
  let total = 0;
  for (let after: string | undefined = NIL_ID; after !== undefined; ) {
    const rows: { deleted: number; found: number; last: string }[] = await sql`
      with looked_at as materialized (
        select id, position from event
        where realm_id = ${block.realm} and id > ${after}::uuid and id >= ${block.first_id}::uuid and id <= ${block.last_id}::uuid
        order by realm_id, id limit ${MOST_EVENTS}
      ), ${deleting(doomed, keep)}
      select (select count(*)::int from gone) as deleted, count(*)::int as found, max(id::text) as last from looked_at`;
    const [row] = rows;
    total += row?.deleted ?? 0;
    after = row?.found === MOST_EVENTS ? row.last : undefined;
  }
  return total;
}

async function deleteEvents(sql: Sql, due: readonly Due[], keep: Fragment | undefined): Promise<number> {
  const small = due.filter(({ events }) => events <= MOST_SHARED);
  let total = small.length > 0 ? await deleteWhole(sql, small, keep) : 0;
  for (const block of due) if (block.events > MOST_SHARED) total += await deleteByParts(sql, block, keep);
  return total;
}

/** The blocks that no other transaction has deleted meanwhile. The caller holds the chain (holdChain). */
const stillDue = (sql: Sql, blocks: readonly Place[]) => sql<Place & { forgotten: boolean }>`
  select b.realm_id as realm, b.number, said.deleted is true as forgotten
  from unnest(${blocks.map(({ realm }) => realm)}::text[], ${blocks.map(({ number }) => number)}::bigint[]) as due (realm_id, number)
  join event_block b on b.realm_id = due.realm_id and b.number = due.number
  left join ${lastSaid}
  where b.newest_at is not null`;

const noLongerDue = (sql: Sql, blocks: readonly Place[]) => sql`
  update event_block b set newest_at = null
  from unnest(${blocks.map(({ realm }) => realm)}::text[], ${blocks.map(({ number }) => number)}::bigint[]) as gone (realm_id, number)
  where b.realm_id = gone.realm_id and b.number = gone.number`;

/**
 * Deletes old events block by block, since a part of a block can't be verified. Unsealed events stay. Blocks at the beginning of their
 * chain are folded (fold.ts); other blocks get an amendment (amendments.ts).
 * @param keep a query (`name as (…)`) in the same statement that stores needed data of the rows `gone` elsewhere
 * @returns the number of deleted events; `more`: a block was due, so call it again
 */
export const forgetBlocks = (
  { transact, seal, keep }: { transact: Transact; seal: Seal; keep?: Fragment | undefined },
  { at, ...which }: { at: Date; until: Date; forwarding: boolean },
): Promise<{ deleted: number; more: boolean }> =>
  transact(
    undefined,
    async ({ sql }) => {
      const due = await dueBlocks(sql, which);
      if (due.length === 0) return { deleted: 0, more: false };
      const deleted = await deleteEvents(sql, due, keep);
      await holdChain(sql);
      const mine = await stillDue(sql, due);
      const folded = await foldBlocks(sql, seal, mine);
      const left = mine.filter(({ realm, number }) => number > (folded.get(realm) ?? 0));
      const unsaid = left.filter(({ forgotten }) => !forgotten);
      await recordAmendments(
        sql,
        seal,
        at,
        unsaid.map(({ realm, number }) => ({ realm, block: number, digest: null })),
      );
      if (left.length > 0) await noLongerDue(sql, left);
      return { deleted, more: true };
    },
    { bookkeeping: true },
  );
