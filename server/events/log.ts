// Changes rows of the audit log after they were written: the deletion of a realm, and an erasure. The outbox writes
// them; retention.ts deletes them by age.
import type { Seal } from '../crypto/seal.ts';
import { fragment, type Sql } from '../db/sql.ts';
import { type Amendment, holdChain, isRetained, lastSaid, recordAmendments } from './amendments.ts';
import { eventsDigest, ofBlock } from './chain.ts';
import { type Erased, erasureOf, maybeTelling } from './erasure.ts';

/** Deletes all events of a realm, and their chain. Events that are not forwarded yet move to a table of their own. */
export async function forgetRealm(sql: Sql, realm: string): Promise<void> {
  await forgetEvents(sql, realm);
  await sql`delete from event_block where realm_id = ${realm}`;
  await sql`delete from event_fold where realm_id = ${realm}`;
  await sql`delete from event_chain where realm_id = ${realm}`;
}

/**
 * A realm's events behind the id `after`, at most `most`, without the chain over them.
 * @returns their number, and the last one's id
 */
export async function forgetEvents(
  sql: Sql,
  realm: string,
  { after, most }: { after?: string | undefined; most?: number | undefined } = {},
): Promise<{ last: string | undefined; deleted: number }> {
  const behind = after === undefined ? fragment`true` : fragment`id > ${after}::uuid`;
  const limit = most === undefined ? fragment`` : fragment`order by id limit ${most}`;
  const [row] = await sql<{ last: string | null; deleted: number }>`
    with doomed as materialized (
      select ctid as at, id from event where realm_id = ${realm} and ${behind} ${limit}
    ), departed as (
      insert into departed_event (realm_id, id, position, type, occurred_at, actor, subject, client_id, ip_address, outcome, data)
      select e.realm_id, e.id, e.position, e.type, e.occurred_at, e.actor, e.subject, e.client_id, e.ip_address, e.outcome, e.data
      from event e, event_forwarding f
      where e.realm_id = ${realm} and e.ctid = any(array(select at from doomed)) and (e.position, e.id) > (f.position, f.id)
      on conflict do nothing
    ), gone as (
      delete from event where realm_id = ${realm} and ctid = any(array(select at from doomed)) returning 1
    )
    select (select count(*)::int from gone) as deleted, (select id from doomed order by id desc limit 1) as last`;
  return { last: row?.last ?? undefined, deleted: row?.deleted ?? 0 };
}

/** Deletes forwarded events of deleted realms. */
export const forgetDeparted = (sql: Sql) => sql`
  delete from departed_event where position < (select position from event_forwarding)`;

/**
 * Replaces the user by a pseudonym, also in other realms' logs if they may have administered those. Events of their own also lose the IP
 * address. The chain gets amendments for the changed blocks. A block that was tampered with before gets none, so that the check still
 * finds it.
 */
export async function erasePerson(
  sql: Sql,
  realm: string,
  person: Erased,
  { seal, at }: { seal: Seal; at: Date },
): Promise<void> {
  const { tells, actor, subject, data } = erasureOf(person, {
    actor: fragment`actor`,
    subject: fragment`subject`,
    data: fragment`data`,
  });
  // Within one statement the blocks are read in their state before it.
  const found = await sql<{ realm: string; whole: number[]; unsealed: number[] }>`
    with erased as (
      update event set actor = ${actor}, subject = ${subject}, data = ${data},
        ip_address = case when coalesce(actor, subject) ->> 'id' = ${person.id} then null else ip_address end
      where (realm_id, id) in (${maybeTelling(realm, person)}) and ${tells}
      returning realm_id, position
    ), places as (select distinct realm_id, position from erased), b as (
      select distinct on (b.realm_id, b.number) b.* from places cross join lateral (
        select * from event_block where realm_id = places.realm_id and last_position >= places.position order by last_position limit 1
      ) b where b.first_position <= places.position and ${isRetained}
    ) select r.realm_id as realm,
      array(select b.number from b left join ${lastSaid} where b.realm_id = r.realm_id and coalesce(said.digest, b.digest) = (
        select ${eventsDigest} from event e where ${ofBlock})) as whole,
      array(select position from places where realm_id = r.realm_id and position > (select position from event_log)) as unsealed
    from (select distinct realm_id from places) r`;
  await holdChain(sql);
  const blocks = await sql<Amendment>`
    select b.realm_id as realm, b.number as block, (select encode(${eventsDigest}, 'hex') from event e where ${ofBlock}) as digest
    from jsonb_to_recordset(${JSON.stringify(found)}::jsonb) as f (realm text, whole bigint[], unsealed bigint[])
    join event_block b on b.realm_id = f.realm and ${isRetained} and (b.number = any(f.whole)
      or exists (select from unnest(f.unsealed) p where p between b.first_position and b.last_position))`;
  await recordAmendments(sql, seal, at, blocks);
}
