// Webhook deliveries outlive the erased user: a pseudonym replaces the user in them. A delivery is found by its event in
// the audit log, so it must be rewritten before the event is. Specification 4.6, 6.1.
import { fragment, type Sql } from '../../../db/sql.ts';
import type { DataSubject } from '../../../domain/personal-data.ts';
import { erasureOf, maybeTelling } from '../../../events/erasure.ts';

export function eraseFromDeliveries(sql: Sql, realm: string, person: DataSubject) {
  const { tells, actor, subject, data } = erasureOf(person, {
    actor: fragment`nullif(e.body -> 'actor', 'null')`,
    subject: fragment`nullif(e.body -> 'subject', 'null')`,
    data: fragment`(e.body -> 'data')`,
  });
  return sql`
    update webhook_delivery d set
      body = json_build_object('id', e.body -> 'id', 'type', e.body -> 'type', 'realmId', e.body -> 'realmId',
        'occurredAt', e.body -> 'occurredAt', 'actor', ${actor}, 'subject', ${subject}, 'data', ${data})::text
    from (
      select d.realm_id, d.id, d.body::jsonb as body from (${maybeTelling(realm, person)}) told
      join webhook w on w.realm_id = told.realm_id
      join webhook_delivery d on d.realm_id = w.realm_id and d.webhook_id = w.id and d.event_id = told.id) e
    where d.realm_id = e.realm_id and d.id = e.id and ${tells}`;
}
