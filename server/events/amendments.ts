// Amendments: blocks by which the chain explains later changes of its own blocks, namely that a user's erasure rewrote events, or that
// retention deleted them. The transaction that changes events adds the amendment. It takes the chain's key, so an attacker without the
// key can't justify a change.
import type { Seal } from '../crypto/seal.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import { appendBlocks, lastBlock, type NextBlock } from './block.ts';

export interface Amendment {
  realm: string;
  /** Of which block. */
  block: number;
  /** The digest of the block's present events, in hex; null: its events are deleted. */
  digest: string | null;
}

/** The hash of the amendments in a block, from rows `a` of event_amendment. */
export const amendmentsHash: Fragment = fragment`
  sha256(convert_to(coalesce(string_agg(a.block || ' ' || coalesce(encode(a.digest, 'hex'), 'deleted'), e'\\n' order by a.block), ''), 'UTF8'))`;
/** The last amendment of block `b`, as `said`. */
export const lastSaid: Fragment = fragment`lateral (
  select a.digest, a.digest is null as deleted from event_amendment a
  join event_block saying on saying.realm_id = a.realm_id and saying.number = a.number and saying.first_position is null
  where a.realm_id = b.realm_id and a.block = b.number order by a.number desc limit 1) said on true`;
/** Block `b` has events that are not deleted by age. */
export const isRetained: Fragment = fragment`(b.first_position is not null and not exists (
  select from event_amendment a where a.realm_id = b.realm_id and a.block = b.number and a.digest is null))`;

/**
 * Locks all chains: until the transaction ends, no other one adds blocks. A transaction that needs rows of events must lock those
 * before the chain.
 */
export const holdChain = (sql: Sql) => sql`select from event_log for update`;

/** Writes amendments. The caller must hold the chain's lock. */
export async function recordAmendments(
  sql: Sql,
  seal: Seal,
  at: Date,
  amendments: readonly Amendment[],
): Promise<void> {
  if (amendments.length === 0) return;
  const said = fragment`(select realm as realm_id, block, decode(digest, 'hex') as digest
    from jsonb_to_recordset(${JSON.stringify(amendments)}::jsonb) as said (realm text, block bigint, digest text)) a`;
  const blocks = await sql<NextBlock>`
    with s as (select a.realm_id, encode(${amendmentsHash}, 'hex') as digest from ${said} group by a.realm_id)
    select s.realm_id as realm, coalesce(l.number, 0) + 1 as number, l.hash as before, null::bigint as first, null::bigint as last,
      0 as events, s.digest, null::uuid as first_id, null::uuid as last_id, null::text as newest_at
    from s left join ${lastBlock}`;
  await appendBlocks(sql, seal, at, blocks);
  await sql`
    insert into event_amendment (realm_id, number, block, digest)
    select a.realm_id, b.number, a.block, a.digest from ${said}
    join unnest(${blocks.map(({ realm }) => realm)}::text[], ${blocks.map(({ number }) => number)}::bigint[]) as b (realm_id, number)
      using (realm_id)`;
}
