// Owns: the chain of hashes over the audit log: each realm's events, in the log's order, in blocks whose hash covers that of the block
// before. It is made after the events are committed, off every request's path, by one process at a time.
// Does not own: writing events (outbox.ts), the hash (block.ts), the records of rewritten and deleted events (amendments.ts),
// checking it (features/operations/events/verify.ts).
// Implements: specification 6.1; docs/audit.md says what the chain proves.
import type { Seal } from '../crypto/seal.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import type { Transact } from '../db/transact.ts';
import { appendBlocks, lastBlock, type NextBlock } from './block.ts';
import { completeUpTo } from './position.ts';

/** The number of events in a pass; all events of the last one's transaction are added. */
const MOST = 5_000;

/**
 * The hashed text of the event `e`, which separates the values unambiguously. Times are numbers, so that no session setting changes
 * the text.
 */
const line = fragment`row(e.realm_id, e.id, e.type, extract(epoch from e.occurred_at), e.actor, e.subject, e.client_id, e.ip_address,
  e.outcome, e.data)::text`;
/** The digest of rows `e`. */
export const eventsDigest: Fragment = fragment`
  sha256(convert_to(coalesce(string_agg(${line}, e'\\n' order by e.position, e.id), ''), 'UTF8'))`;
/** Condition: the events `e` that block `b` holds now, found by the primary key. */
export const ofBlock: Fragment = fragment`e.realm_id = b.realm_id and e.id between b.first_id and b.last_id
  and e.position between b.first_position and b.last_position`;

/** @returns the number of sealed events */
async function sealSome(sql: Sql, seal: Seal, at: Date): Promise<number> {
  const blocks = await sql<NextBlock & { last: number }>`
    with e as materialized (
      select e.* from event e where e.position > (select position from event_log) and e.position < ${completeUpTo}
      order by e.position fetch first ${MOST} rows with ties
    ), s as (
      select e.realm_id, min(e.position) as first, max(e.position) as last, min(e.id::text)::uuid as first_id,
        max(e.id::text)::uuid as last_id, max(e.occurred_at)::text as newest_at, count(*)::int as events, encode(${eventsDigest}, 'hex') as digest
      from e group by e.realm_id
    ) select s.realm_id as realm, coalesce(l.number, 0) + 1 as number, l.hash as before, s.first, s.last, s.events, s.digest, s.first_id,
      s.last_id, s.newest_at
    from s left join ${lastBlock}`;
  if (blocks.length === 0) return 0;
  await appendBlocks(sql, seal, at, blocks);
  await sql`update event_log set position = ${Math.max(...blocks.map(({ last }) => last))}`;
  return blocks.reduce((sum, { events }) => sum + events, 0);
}

/** Whether events wait to be sealed. The query takes no lock; it finds the last position by its index. */
const waiting = async (sql: Sql): Promise<boolean> => {
  const [row] = await sql<{ waiting: boolean }>`
    select coalesce((select max(position) from event) > position, false) as waiting from event_log`;
  return row?.waiting ?? false;
};

/**
 * Seals committed events. Events behind a transaction that is still open wait for its end.
 * @returns `again`: a backlog remains; `soon`: events can be sealed a little later
 */
export async function sealEvents({ sql, transact, seal, now }: SealDeps): Promise<'again' | 'soon' | 'idle'> {
  if (!(await waiting(sql))) return 'idle';
  return transact(
    undefined,
    async (tx) => {
      // Locked: another process seals events, or an erasure writes amendments.
      const [mine] = await tx.sql`select from event_log for update skip locked`;
      if (!mine) return 'soon';
      const sealed = await sealSome(tx.sql, seal, now());
      if (sealed >= MOST) return 'again';
      return (await waiting(tx.sql)) ? 'soon' : 'idle';
    },
    { bookkeeping: true },
  );
}

export interface SealDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  now: () => Date;
}
