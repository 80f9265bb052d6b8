// Verifies the hash chain of a realm's log: PostgreSQL compares the sealed digests with the rows, and no rows are
// loaded.
import { timingSafeEqual } from 'node:crypto';
import type { EventVerification } from '../../../contract/events.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import { amendmentsHash, isRetained, lastSaid } from '../../../events/amendments.ts';
import { chainKeys, type Hashed, hashOf } from '../../../events/block.ts';
import { eventsDigest, ofBlock } from '../../../events/chain.ts';
import { foldsOf, isProven } from '../../../events/fold.ts';

/** The most events of one request. */
const MOST_EVENTS = 20_000;

interface Range {
  /** A block's number. */
  after: number;
  /** Blocks. */
  limit: number;
}
interface Checked extends Hashed {
  hash: string;
  forgotten: boolean;
  erased: boolean;
  preceded: boolean;
  intact: boolean;
  more: boolean;
}

/**
 * A later block may record that a block's events were deleted or erased. This check trusts it: the later block is
 * checked too.
 */
const checkBlocks = (sql: Sql, realm: string, { after, limit }: Range) => sql<Checked>`
  with found as (
    select * from event_block where realm_id = ${realm} and number > ${after} order by number limit ${limit + 1}
  ), sized as (
    select *, sum(events) over (order by number) - events as held_before, row_number() over (order by number) as nth, count(*) over () as total
    from found
  ), b as (
    select * from sized where (held_before < ${MOST_EVENTS} or nth = 1) and nth <= ${limit}
  )
  select b.realm_id as realm, b.number, encode(case when b.number = f.number + 1 then f.hash else p.hash end, 'hex') as before,
    b.first_position as first, b.last_position as last, b.events, encode(b.digest, 'hex') as digest, encode(b.hash, 'hex') as hash, said.deleted is true as forgotten, said.digest is not null as erased,
    b.number = coalesce(f.number, 0) + 1 or coalesce(p.number > coalesce(f.number, 0), false) as preceded,
    case
      when b.first_position is null then b.digest = (
        select ${amendmentsHash} from event_amendment a where a.realm_id = b.realm_id and a.number = b.number)
      when said.deleted then not exists (select from event e where ${ofBlock})
      else (select count(*) = b.events and ${eventsDigest} = coalesce(said.digest, b.digest) from event e where ${ofBlock})
    end as intact,
    b.total > (select count(*) from b) as more
  from b
  left join event_block p on p.realm_id = b.realm_id and p.number = b.number - 1
  left join event_fold f on f.realm_id = b.realm_id
  left join ${lastSaid}
  order by b.number`;

/**
 * Counts events outside of every block. `unsealed`: more than the blocks account for, whatever position the rows claim;
 * `waiting`: events too recent to be sealed.
 */
const outsideBlocks = (sql: Sql, realm: string) => sql<{ unsealed: boolean; waiting: number }>`
  with sealed as (
    select coalesce(sum(b.events), 0) as events from event_block b where b.realm_id = ${realm} and ${isRetained}
  ), there as (
    select count(*) as events, count(*) filter (where e.position > l.position and e.position < l.added
      + pg_snapshot_xmax(pg_current_snapshot())::text::bigint) as waiting
    from event e, event_log l where e.realm_id = ${realm}
  )
  select there.events - there.waiting > sealed.events as unsealed, there.waiting::int from there, sealed`;

/** undefined: the stored key is not one that the server created. */
async function keyOf(sql: Sql, seal: Seal, realm: string): Promise<Buffer | undefined> {
  try {
    return (await chainKeys(sql, seal, [realm])).get(realm);
  } catch {
    return undefined;
  }
}
const same = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

export async function verifyEvents(sql: Sql, seal: Seal, realm: string, range: Range): Promise<EventVerification> {
  const key = await keyOf(sql, seal, realm);
  const fold = (await foldsOf(sql, [realm])).get(realm);
  const folded = fold && range.after < fold.number ? fold : undefined;
  const blocks = await checkBlocks(sql, realm, range);
  const last = blocks.at(-1);
  const [end] = last?.more ? [] : await outsideBlocks(sql, realm);
  const sum = (some: readonly Checked[]) => some.reduce((total, { events }) => total + events, 0);
  const unproven = folded && !(key && isProven(key, realm, folded));
  const ofBlocks: EventVerification['faults'] = blocks.flatMap((block) => [
    ...(block.preceded ? [] : [{ block: block.number, problem: 'missing' as const }]),
    ...(!block.preceded || (key && same(hashOf(key, block), block.hash))
      ? []
      : [{ block: block.number, problem: 'link' as const }]),
    ...(block.intact ? [] : [{ block: block.number, problem: 'events' as const }]),
  ]);
  const faults = unproven ? [{ block: folded.number, problem: 'link' as const }, ...ofBlocks] : ofBlocks;
  return {
    folded: folded ? { number: folded.number, hash: folded.hash } : null,
    blocks: blocks.length,
    events: sum(blocks),
    forgotten: sum(blocks.filter(({ forgotten }) => forgotten)) + (folded?.events ?? 0),
    erased: blocks.filter(({ erased }) => erased).length,
    last: last ? { number: last.number, hash: last.hash } : null,
    faults: end?.unsealed ? [...faults, { block: null, problem: 'unsealed' }] : faults,
    waiting: end?.waiting ?? null,
    next: last?.more ? last.number : null,
  };
}
