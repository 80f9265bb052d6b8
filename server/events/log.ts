// The audit log's rows once they are there: what is forgotten of them, and with their realm. Writing them is the outbox's,
// how long they are kept the janitor's.
import type { Sql } from '../db/sql.ts';

/** All of a realm's, and the chain over them; what is still to be forwarded waits elsewhere. */
export async function forgetRealm(sql: Sql, realm: string): Promise<void> {
  await sql`
    insert into departed_event (realm_id, id, position, type, occurred_at, actor, subject, client_id, ip_address, outcome, data)
    select e.realm_id, e.id, e.position, e.type, e.occurred_at, e.actor, e.subject, e.client_id, e.ip_address, e.outcome, e.data
    from event e, event_forwarding f
    where e.realm_id = ${realm} and e.position >= f.position and (e.position > f.position or e.id > f.id)
    on conflict do nothing`;
  await sql`delete from event where realm_id = ${realm}`;
  await sql`delete from event_block where realm_id = ${realm}`;
}

/** What was forwarded of realms that are gone. */
export const forgetDeparted = (sql: Sql) => sql`
  delete from departed_event where position < (select position from event_forwarding)`;

/**
 * Puts a name in the place of whatever `found` (a regular expression) matches. Of what the subject did themselves the address
 * goes, too. The chain will say what the blocks hold since then.
 */
export async function erasePerson(
  sql: Sql,
  realm: string,
  { id, found, instead }: { id: string; found: string; instead: string },
): Promise<void> {
  // Nothing is sealed meanwhile: each row is rewritten either before that, or in a block that this sees.
  await sql`select from event_log for share`;
  await sql`
    with erased as (
      update event set
        actor = regexp_replace(actor::text, ${found}, ${instead}, 'gi')::jsonb,
        subject = regexp_replace(subject::text, ${found}, ${instead}, 'gi')::jsonb,
        data = regexp_replace(data::text, ${found}, ${instead}, 'gi')::jsonb,
        ip_address = case when coalesce(actor, subject) ->> 'id' = ${id} then null else ip_address end
      where realm_id = ${realm} and (actor ->> 'id' = ${id} or subject ->> 'id' = ${id}
        or actor::text ~* ${found} or subject::text ~* ${found} or data::text ~* ${found})
      returning position
    ) update event_block set rewritten = true where realm_id = ${realm} and number in (
      select distinct b.number from erased cross join lateral (
        select number, first_position from event_block
        where realm_id = ${realm} and last_position >= erased.position order by last_position limit 1
      ) b where b.first_position <= erased.position)`;
}
