// The audit log's rows once they are there: what is forgotten of them, and with their realm. Writing them is the outbox's,
// how long they are kept the janitor's.
import type { Sql } from '../db/sql.ts';

/** All of a realm's. */
export const forgetRealm = (sql: Sql, realm: string) => sql`delete from event where realm_id = ${realm}`;

/**
 * Puts a name in the place of whatever `found` (a regular expression) matches. Of what the subject did themselves the address
 * goes, too.
 */
export const erasePerson = (
  sql: Sql,
  realm: string,
  { id, found, instead }: { id: string; found: string; instead: string },
) => sql`
  update event set
    actor = regexp_replace(actor::text, ${found}, ${instead}, 'gi')::jsonb,
    subject = regexp_replace(subject::text, ${found}, ${instead}, 'gi')::jsonb,
    data = regexp_replace(data::text, ${found}, ${instead}, 'gi')::jsonb,
    ip_address = case when coalesce(actor, subject) ->> 'id' = ${id} then null else ip_address end
  where realm_id = ${realm} and (actor ->> 'id' = ${id} or subject ->> 'id' = ${id}
    or actor::text ~* ${found} or subject::text ~* ${found} or data::text ~* ${found})`;
