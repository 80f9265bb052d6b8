// Deliveries outlive the person whom they tell of, who stands in them by a pseudonym. Specification 4.6, 6.1.
import { fragment, type Sql } from '../../db/sql.ts';
import { erasureOf } from '../../events/erasure.ts';
import type { DataSubject } from './personal-data.ts';

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
    from (select id, body::jsonb as body from webhook_delivery where realm_id = ${realm}) e
    where d.realm_id = ${realm} and d.id = e.id and ${tells}`;
}
