// The audit log's rows once they are there: what is forgotten of them, and with their realm. Writing them is the outbox's,
// how long they are kept the janitor's.
import { fragment, type Sql } from '../db/sql.ts';
import { type Erased, erasureOf } from './erasure.ts';

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

/** A pseudonym in the person's place. Of what they did themselves the address goes, too. The chain will say what the blocks hold since. */
export async function erasePerson(sql: Sql, realm: string, person: Erased): Promise<void> {
  const { tells, actor, subject, data } = erasureOf(person, {
    actor: fragment`actor`,
    subject: fragment`subject`,
    data: fragment`data`,
  });
  // Nothing is sealed meanwhile: each row is rewritten either before that, or in a block that this sees.
  await sql`select from event_log for share`;
  await sql`
    with erased as (
      update event set actor = ${actor}, subject = ${subject}, data = ${data},
        ip_address = case when coalesce(actor, subject) ->> 'id' = ${person.id} then null else ip_address end
      where realm_id = ${realm} and ${tells}
      returning position
    ) update event_block set rewritten = true where realm_id = ${realm} and number in (
      select distinct b.number from erased cross join lateral (
        select number, first_position from event_block
        where realm_id = ${realm} and last_position >= erased.position order by last_position limit 1
      ) b where b.first_position <= erased.position)`;
}
