// A block of the chain over the audit log: its hash, by the realm's key, and how it follows the block before. chain.ts
// decides which events it contains, and when; amendments.ts has later explanations of blocks.
import { createHmac, randomBytes } from 'node:crypto';
import type { Seal } from '../crypto/seal.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

/** The hashed fields of a block; bytes in hex. */
export interface Hashed {
  realm: string;
  number: number;
  /** The hash of the previous block. */
  before: string | null;
  /** Null if the block contains no events, but only amendments of other blocks. */
  first: number | null;
  last: number | null;
  events: number;
  digest: string;
}
/** The content of a realm's next block, and the hash of the block before it. */
export interface NextBlock extends Hashed {
  first_id: string | null;
  last_id: string | null;
  newest_at: string | null;
}

/** The last block of the realm `s.realm_id`, as `l`. */
export const lastBlock: Fragment = fragment`lateral (
  select number, encode(hash, 'hex') as hash from event_block where realm_id = s.realm_id order by number desc limit 1) l on true`;

export const hashOf = (key: Buffer, { realm, number, before, first, last, events, digest }: Hashed): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([realm, number, before, first, last, events, digest]))
    .digest('hex');

const KEY_BYTES = 32;
/** Binds a realm's sealed key to it. */
export const chainContext = (realm: string): string => `event-chain:${realm}`;

/** The keys of the realms' chains. An attacker with only the database can't make blocks without them. */
export async function chainKeys(sql: Sql, seal: Seal, realms: readonly string[]): Promise<Map<string, Buffer>> {
  const rows = await sql<{ realm: string; key: Buffer }>`
    select realm_id as realm, key from event_chain where realm_id = any(${realms}::text[])`;
  return new Map(rows.map(({ realm, key }) => [realm, seal.open(key, chainContext(realm))]));
}

async function newKeys(sql: Sql, seal: Seal, realms: readonly string[]): Promise<Map<string, Buffer>> {
  const made = new Map(realms.map((realm) => [realm, randomBytes(KEY_BYTES)]));
  const sealed = [...made].map(([realm, key]) => seal.seal(key, chainContext(realm)).toString('hex'));
  if (realms.length > 0)
    await sql`
      insert into event_chain (realm_id, key)
      select realm, decode(key, 'hex') from unnest(${realms}::text[], ${sealed}::text[]) as made (realm, key)`;
  return made;
}

/** Writes blocks. The caller must hold the lock on the row of event_log. */
export async function appendBlocks(sql: Sql, seal: Seal, at: Date, blocks: readonly NextBlock[]): Promise<void> {
  const realms = blocks.map(({ realm }) => realm);
  const known = await chainKeys(sql, seal, realms);
  const made = await newKeys(
    sql,
    seal,
    realms.filter((realm) => !known.has(realm)),
  );
  const rows = blocks.map((block) => {
    const key = known.get(block.realm) ?? made.get(block.realm);
    if (!key) throw new Error(`the chain of ${block.realm} has no key`);
    return { ...block, hash: hashOf(key, block) };
  });
  await sql`
    insert into event_block (realm_id, number, first_position, last_position, first_id, last_id, newest_at, events, digest, hash, sealed_at)
    select realm, number, first, last, first_id, last_id, newest_at, events, decode(digest, 'hex'), decode(hash, 'hex'), ${at}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as made (realm text, number bigint, first bigint, last bigint, first_id uuid,
      last_id uuid, newest_at timestamptz, events int, digest text, hash text)`;
}
