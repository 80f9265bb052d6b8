// Checks the chain over a realm's log: what was sealed against what is there. PostgreSQL reads and hashes; nothing is held here.
import type { EventVerification } from '../../contract/events.ts';
import { fragment, type Sql } from '../../db/sql.ts';
import { amended, digest, hash, ofBlock } from '../../events/chain.ts';

/** Of one request. */
const MOST_EVENTS = 20_000;

interface Range {
  /** A block's number. */
  after: number;
  /** Blocks. */
  limit: number;
}
interface Checked {
  number: number;
  hash: string;
  events: number;
  forgotten: boolean;
  erased: boolean;
  preceded: boolean;
  linked: boolean;
  intact: boolean;
  more: boolean;
}

/** A block that an erasure has just rewritten is believed: the chain is about to say what it holds. */
const checkBlocks = (sql: Sql, realm: string, { after, limit }: Range) => sql<Checked>`
  with found as (
    select * from event_block where realm_id = ${realm} and number > ${after} order by number limit ${limit + 1}
  ), sized as (
    select *, sum(events) over (order by number) - events as before, row_number() over (order by number) as nth, count(*) over () as total
    from found
  ), b as (
    select * from sized where (before < ${MOST_EVENTS} or nth = 1) and nth <= ${limit}
  )
  select b.number, encode(b.hash, 'hex') as hash, b.events, b.forgotten_at is not null as forgotten, said.digest is not null as erased,
    b.number = 1 or p.number is not null as preceded,
    b.hash = ${hash(fragment`p.hash`, fragment`b.number`, fragment`b.events`, fragment`b.digest`)} as linked,
    case
      when b.first_position is null then b.digest = (
        select ${amended} from event_amendment a where a.realm_id = b.realm_id and a.number = b.number)
      when b.forgotten_at is not null or b.rewritten then true
      else (select count(*) = b.events and ${digest} = coalesce(said.digest, b.digest) from event e where ${ofBlock})
    end as intact,
    b.total > (select count(*) from b) as more
  from b
  left join event_block p on p.realm_id = b.realm_id and p.number = b.number - 1
  left join lateral (
    select digest from event_amendment a where a.realm_id = b.realm_id and a.block = b.number order by a.number desc limit 1
  ) said on true
  order by b.number`;

/** Events that no block has, and those that have only just come. Up to the last block that is forgotten, what is left of it is going. */
const outsideBlocks = (sql: Sql, realm: string) => sql<{ unsealed: boolean; waiting: number }>`
  with since as (
    select coalesce(max(last_position), 0) as position from event_block where realm_id = ${realm} and forgotten_at is not null
  ), sealed as (
    select coalesce(sum(events), 0) as events from event_block
    where realm_id = ${realm} and last_position > (select position from since)
  ), there as (
    select count(*) filter (where position <= (select position from event_log)) as up_to,
      count(*) filter (where position > (select position from event_log)) as waiting
    from event where realm_id = ${realm} and position > (select position from since)
  )
  select there.up_to > sealed.events as unsealed, there.waiting::int from there, sealed`;

export async function verifyEvents(sql: Sql, realm: string, range: Range): Promise<EventVerification> {
  const blocks = await checkBlocks(sql, realm, range);
  const last = blocks.at(-1);
  const [end] = last?.more ? [] : await outsideBlocks(sql, realm);
  const sum = (some: readonly Checked[]) => some.reduce((total, { events }) => total + events, 0);
  const faults: EventVerification['faults'] = blocks.flatMap((block) => [
    ...(block.preceded ? [] : [{ block: block.number, problem: 'missing' as const }]),
    ...(block.linked || !block.preceded ? [] : [{ block: block.number, problem: 'link' as const }]),
    ...(block.intact ? [] : [{ block: block.number, problem: 'events' as const }]),
  ]);
  return {
    blocks: blocks.length,
    events: sum(blocks),
    forgotten: sum(blocks.filter(({ forgotten }) => forgotten)),
    erased: blocks.filter(({ erased }) => erased).length,
    last: last ? { number: last.number, hash: last.hash } : null,
    faults: end?.unsealed ? [...faults, { block: null, problem: 'unsealed' }] : faults,
    waiting: end?.waiting ?? null,
    next: last?.more ? last.number : null,
  };
}
