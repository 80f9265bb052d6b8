// A person's identifiers in JSON texts, and the pseudonym in their place: audit rows and deliveries outlive the person.
// Pure but for the statements. Specification 4.6, 6.1.
import type { Sql } from '../../db/sql.ts';
import { erasePerson } from '../../events/log.ts';
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

export const eraseFromEvents = (sql: Sql, realm: string, subject: DataSubject) =>
  erasePerson(sql, realm, {
    id: subject.id,
    found: identifiersIn(subject),
    instead: JSON.stringify(subject.pseudonym),
  });

export const eraseFromDeliveries = (sql: Sql, realm: string, subject: DataSubject) => sql`
  update webhook_delivery set
    body = regexp_replace(body, ${identifiersIn(subject)}, ${JSON.stringify(subject.pseudonym)}, 'gi')
  where realm_id = ${realm} and body ~* ${identifiersIn(subject)}`;
