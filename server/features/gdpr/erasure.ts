// A person's identifiers in JSON texts, and the pseudonym in their place: audit rows and deliveries outlive the person.
// Pure but for the two statements. Specification 4.6, 6.1.
import type { Sql } from '../../db/sql.ts';
import type { DataSubject } from './personal-data.ts';

/** The subject's identifiers as whole JSON strings, whatever their case; never a field's name. */
export function identifiersIn({ id, username, email }: DataSubject): string {
  const texts = [id, username, email]
    .filter((text) => text !== null)
    .map((text) =>
      JSON.stringify(text)
        .slice(1, -1)
        .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`),
    );
  return `"(${texts.join('|')})"(?!\\s*:)`;
}

/** Of what the subject did themselves the address goes, too. */
export const eraseFromEvents = (sql: Sql, realm: string, subject: DataSubject) => {
  const found = identifiersIn(subject);
  const instead = JSON.stringify(subject.pseudonym);
  return sql`
    update event set
      actor = regexp_replace(actor::text, ${found}, ${instead}, 'gi')::jsonb,
      subject = regexp_replace(subject::text, ${found}, ${instead}, 'gi')::jsonb,
      data = regexp_replace(data::text, ${found}, ${instead}, 'gi')::jsonb,
      ip_address = case when coalesce(actor, subject) ->> 'id' = ${subject.id} then null else ip_address end
    where realm_id = ${realm} and (actor ->> 'id' = ${subject.id} or subject ->> 'id' = ${subject.id}
      or actor::text ~* ${found} or subject::text ~* ${found} or data::text ~* ${found})`;
};

export const eraseFromDeliveries = (sql: Sql, realm: string, subject: DataSubject) => sql`
  update webhook_delivery set
    body = regexp_replace(body, ${identifiersIn(subject)}, ${JSON.stringify(subject.pseudonym)}, 'gi')
  where realm_id = ${realm} and body ~* ${identifiersIn(subject)}`;
