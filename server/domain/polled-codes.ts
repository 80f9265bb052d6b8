// SQL of codes that a client polls until a user has decided elsewhere: of a device (device-codes.ts), of a backchannel request
// (backchannel-requests.ts). Once the user agrees, the code is locked and redeemed like any other (grants.ts).
import type { Fragment, Sql } from '../db/sql.ts';

/** The state of a polled code. */
export interface Poll {
  expires_at: Date;
  denied_at: Date | null;
  allowed: boolean;
  /** The client polled again before its interval had passed. */
  too_soon: boolean;
}
/**
 * Notes the poll. A client that polls too often gets a longer interval from then on (RFC 8628 §3.5, CIBA Core §11).
 * @param table one of `codeTables`
 */
export async function pollCode(
  sql: Sql,
  realm: string,
  { table, hash, client, now }: { table: Fragment; hash: Buffer; client: string; now: Date },
): Promise<Poll | undefined> {
  const [row] = await sql<Poll>`
    with asked as (
      select realm_id, code_hash, coalesce(polled_at + interval_seconds * interval '1 second' > ${now}, false) as too_soon
      from ${table}
      where realm_id = ${realm} and code_hash = ${hash} and (client = ${client}) is true for no key update
    )
    update ${table} d set polled_at = ${now},
      interval_seconds = case when a.too_soon then least(d.interval_seconds + 5, 60) else d.interval_seconds end
    from asked a where d.realm_id = a.realm_id and d.code_hash = a.code_hash
    returning d.expires_at, d.denied_at, d.session_id is not null as allowed, a.too_soon`;
  return row;
}
