// Owns: the chain of hashes over the audit log: each realm's events, in the log's order, in blocks whose hash covers that of the block
// before. It is made after the events are committed, off every request's path, by one process at a time.
// Does not own: writing events (outbox.ts), checking the chain (features/events/verify.ts).
// Implements: specification 6.1; docs/audit.md says what the chain proves.
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import type { Transact } from '../db/transact.ts';
import { complete } from './position.ts';

/** Events of a pass, and with them all others of the last one's transaction. */
const MOST = 5_000;
const MOST_REWRITTEN = 500;

/**
 * What is hashed of `e`, as text that says which value is where. Times are numbers, so that no setting of a session changes it.
 */
const line = fragment`row(e.realm_id, e.id, e.type, extract(epoch from e.occurred_at), e.actor, e.subject, e.client_id, e.ip_address,
  e.outcome, e.data)::text`;
/** Over rows of `e`. */
export const digest: Fragment = fragment`
  sha256(convert_to(coalesce(string_agg(${line}, e'\\n' order by e.position, e.id), ''), 'UTF8'))`;
/** What block `b` holds now, as rows of `e`: its key finds them. */
export const ofBlock: Fragment = fragment`e.realm_id = b.realm_id and e.id between b.first_id and b.last_id
  and e.position between b.first_position and b.last_position`;
/** What a block says of others, from rows `a` of event_amendment. */
export const amended: Fragment = fragment`
  sha256(convert_to(coalesce(string_agg(a.block || ' ' || encode(a.digest, 'hex'), e'\\n' order by a.block), ''), 'UTF8'))`;

/** A block's hash; each part has a fixed length. */
export const hash = (before: Fragment, number: Fragment, events: Fragment, of: Fragment): Fragment => fragment`
  sha256(coalesce(${before}, ''::bytea) || int8send((${number})::bigint) || int4send((${events})::int) || ${of})`;

const next = fragment`coalesce(l.number, 0) + 1`;
const last = fragment`lateral (
  select number, hash from event_block where realm_id = s.realm_id order by number desc limit 1) l on true`;

/** @returns how many events it sealed */
async function sealSome(sql: Sql, at: Date): Promise<number> {
  const [row] = await sql<{ sealed: number }>`
    with e as materialized (
      select e.* from event e where e.position > (select position from event_log) and e.position < ${complete}
      order by e.position fetch first ${MOST} rows with ties
    ), s as (
      select e.realm_id, min(e.position) as first_position, max(e.position) as last_position, min(e.id::text)::uuid as first_id,
        max(e.id::text)::uuid as last_id, max(e.occurred_at) as newest_at, count(*)::int as events, ${digest} as digest
      from e group by e.realm_id
    ), block as (
      insert into event_block (realm_id, number, first_position, last_position, first_id, last_id, newest_at, events, digest, hash, sealed_at)
      select s.realm_id, ${next}, s.first_position, s.last_position, s.first_id, s.last_id, s.newest_at, s.events, s.digest,
        ${hash(fragment`l.hash`, next, fragment`s.events`, fragment`s.digest`)}, ${at}
      from s left join ${last}
    ), reached as (
      update event_log set position = (select max(position) from e) where exists (select from e)
    ) select count(*)::int as sealed from e`;
  return row?.sealed ?? 0;
}

/** Says in each realm's chain what its blocks hold that an erasure rewrote. */
const sealRewritten = (sql: Sql, at: Date) => sql`
  with b as (
    select * from event_block where rewritten order by realm_id, number limit ${MOST_REWRITTEN}
  ), a as (
    select b.realm_id, b.number as block, held.digest from b cross join lateral (
      select ${digest} as digest from event e where ${ofBlock}) held
    where b.forgotten_at is null
  ), done as (
    update event_block x set rewritten = false from b where x.realm_id = b.realm_id and x.number = b.number
  ), s as (
    select a.realm_id, ${amended} as digest from a group by a.realm_id
  ), block as (
    insert into event_block (realm_id, number, events, digest, hash, sealed_at)
    select s.realm_id, ${next}, 0, s.digest, ${hash(fragment`l.hash`, next, fragment`0`, fragment`s.digest`)}, ${at}
    from s left join ${last}
    returning realm_id, number
  ) insert into event_amendment (realm_id, number, block, digest)
    select a.realm_id, block.number, a.block, a.digest from a join block on block.realm_id = a.realm_id`;

/** Whether there is something to do, which takes no lock and writes nothing. */
const waiting = async (sql: Sql): Promise<boolean> => {
  const [row] = await sql<{ waiting: boolean }>`
    select exists (select from event where position > (select position from event_log))
      or exists (select from event_block where rewritten) as waiting`;
  return row?.waiting ?? false;
};

/**
 * Seals what is committed. What began before a transaction that still goes on waits for its end.
 * @returns whether more is waiting: a backlog, or what can be sealed a little later
 */
export async function sealEvents({ sql, transact, now }: SealDeps): Promise<'again' | 'soon' | 'idle'> {
  if (!(await waiting(sql))) return 'idle';
  return transact(
    undefined,
    async (tx) => {
      // Another process is at it, or an erasure rewrites events.
      const [mine] = await tx.sql`select from event_log for update skip locked`;
      if (!mine) return 'soon';
      const sealed = await sealSome(tx.sql, now());
      await sealRewritten(tx.sql, now());
      if (sealed >= MOST) return 'again';
      return (await waiting(tx.sql)) ? 'soon' : 'idle';
    },
    { bookkeeping: true },
  );
}

export interface SealDeps {
  sql: Sql;
  transact: Transact;
  now: () => Date;
}
