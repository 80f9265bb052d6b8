// Folds the beginning of a realm's chain whose events were deleted by age: one row replaces its blocks. The row is
// keyed as a block is, and the first remaining block covers the hash of the last folded one, so the chain can still be
// verified.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Seal } from '../crypto/seal.ts';
import type { Sql } from '../db/sql.ts';
import { amendmentsHash, lastSaid } from './amendments.ts';
import { chainKeys, type Hashed, hashOf } from './block.ts';

export interface Fold {
  /** The number of the last folded block. */
  number: number;
  /** The hash of the last folded block, in hex. */
  hash: string;
  /** The number of events in all folded blocks. */
  events: number;
  proof: string;
}

const proofOf = (key: Buffer, realm: string, { number, hash, events }: Omit<Fold, 'proof'>): string =>
  createHmac('sha256', key)
    .update(JSON.stringify(['folded', realm, number, hash, events]))
    .digest('hex');

const same = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

export const isProven = (key: Buffer, realm: string, fold: Fold): boolean =>
  same(proofOf(key, realm, fold), fold.proof);

export async function foldsOf(sql: Sql, realms: readonly string[]): Promise<Map<string, Fold>> {
  const rows = await sql<Fold & { realm: string }>`
    select realm_id as realm, number, encode(hash, 'hex') as hash, events, encode(proof_hash, 'hex') as proof
    from event_fold where realm_id = any(${realms}::text[])`;
  return new Map(rows.map(({ realm, ...fold }) => [realm, fold]));
}

export interface Place {
  realm: string;
  number: number;
}
interface Link extends Hashed {
  hash: string;
  /** An amendment says that the block's events were deleted by age. */
  forgotten: boolean;
  /** False: a block of amendments differs from its sealed form. */
  intact: boolean;
}
/** The most blocks of a realm that one call reads. */
const MOST = 1_000;

/**
 * The blocks after the folded ones, up to those in `to`. A chain's last block is left out, because the next one follows
 * it.
 */
const linksTo = (sql: Sql, realms: readonly string[], to: readonly number[]) => sql<Link>`
  select b.realm_id as realm, b.number, null as before, b.first_position as first, b.last_position as last, b.events,
    encode(b.digest, 'hex') as digest, encode(b.hash, 'hex') as hash, said.deleted is true as forgotten,
    case when b.first_position is null then b.digest = (
      select ${amendmentsHash} from event_amendment a where a.realm_id = b.realm_id and a.number = b.number) else true end as intact
  from unnest(${realms}::text[], ${to}::bigint[]) as asked (realm_id, number)
  left join event_fold f on f.realm_id = asked.realm_id
  cross join lateral (
    select * from event_block where realm_id = asked.realm_id and number > coalesce(f.number, 0) and number <= asked.number
    order by number limit ${MOST}
  ) b
  left join ${lastSaid}
  where exists (select from event_block later where later.realm_id = b.realm_id and later.number > b.number)
  order by b.realm_id, b.number`;

/**
 * How far a chain can be folded: over blocks whose events are deleted, and blocks that only amend such blocks. It ends
 * before a block that was tampered with, so that the check still finds it.
 */
function extended(
  key: Buffer,
  realm: string,
  { from, links, isGone }: { from: Fold | undefined; links: readonly Link[]; isGone(link: Link): boolean },
): Fold | undefined {
  if (from && !isProven(key, realm, from)) return undefined;
  let { number, hash, events }: { number: number; hash: string | null; events: number } = from ?? {
    number: 0,
    hash: null,
    events: 0,
  };
  const start = number;
  for (const link of links) {
    const follows = link.number === number + 1 && same(hashOf(key, { ...link, before: hash }), link.hash);
    if (!follows || !link.intact || !(link.first === null || isGone(link))) break;
    number = link.number;
    hash = link.hash;
    events += link.events;
  }
  if (hash === null || number === start) return undefined;
  return { number, hash, events, proof: proofOf(key, realm, { number, hash, events }) };
}

/**
 * Replaces the deleted blocks at the beginning of each chain by one row. The caller holds the chain (holdChain).
 * @param gone blocks whose events this transaction deleted
 * @returns how far each realm's chain is folded now; realms without folded blocks are left out
 */
export async function foldBlocks(sql: Sql, seal: Seal, gone: readonly Place[]): Promise<Map<string, number>> {
  const last = new Map<string, number>();
  for (const { realm, number } of gone) last.set(realm, Math.max(last.get(realm) ?? 0, number));
  const realms = [...last.keys()];
  const [folds, keys] = [await foldsOf(sql, realms), await chainKeys(sql, seal, realms)];
  const links = Map.groupBy(await linksTo(sql, realms, [...last.values()]), ({ realm }) => realm);
  const deleted = new Set(gone.map(({ realm, number }) => JSON.stringify([realm, number])));
  const isGone = ({ realm, number, forgotten }: Link) => forgotten || deleted.has(JSON.stringify([realm, number]));
  const made = realms.flatMap((realm) => {
    const key = keys.get(realm);
    const fold = key && extended(key, realm, { from: folds.get(realm), links: links.get(realm) ?? [], isGone });
    return fold ? [{ realm_id: realm, ...fold }] : [];
  });
  if (made.length > 0) await write(sql, made);
  return new Map(made.map(({ realm_id, number }) => [realm_id, number]));
}

async function write(sql: Sql, folds: readonly (Fold & { realm_id: string })[]): Promise<void> {
  await sql`
    insert into event_fold (realm_id, number, hash, events, proof_hash)
    select realm_id, number, decode(hash, 'hex'), events, decode(proof, 'hex')
    from jsonb_to_recordset(${JSON.stringify(folds)}::jsonb) as f (realm_id text, number bigint, hash text, events bigint, proof text)
    on conflict (realm_id) do update
    set number = excluded.number, hash = excluded.hash, events = excluded.events, proof_hash = excluded.proof_hash`;
  await sql`
    delete from event_block b using unnest(${folds.map(({ realm_id }) => realm_id)}::text[], ${folds.map(({ number }) => number)}::bigint[])
      as f (realm_id, number)
    where b.realm_id = f.realm_id and b.number <= f.number`;
}
