// Creates a delivery for each subscription that wants an event, in the event's transaction. Decisions "Webhooks".
import { fragment } from '../../../db/statement.ts';
import type { EventConsumer } from '../../../events/consumer.ts';
import { DELIVERY_JOB } from './delivery.ts';

export const webhookConsumer: EventConsumer = {
  job: DELIVERY_JOB,
  wanted: (realm) => fragment`exists (select from webhook where realm_id = ${realm})`,
  /**
   * PostgreSQL composes the body, `{id, type, realmId, occurredAt, actor, subject, data}`, only for events to which a
   * webhook subscribes.
   */
  take: (occurredAt) => fragment`
    insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, created_at)
    select h.realm_id, gen_random_uuid(), w.id, h.id, h.type, json_build_object('id', h.id, 'type', h.type, 'realmId', h.realm_id,
        'occurredAt', ${occurredAt.getTime()}::bigint, 'actor', h.actor, 'subject', h.subject, 'data',
        h.data || jsonb_strip_nulls(jsonb_build_object('clientId', h.client_id, 'outcome', h.outcome)))::text, ${occurredAt}
    from happened h join webhook w on w.realm_id = h.realm_id
      and case when h.receiver is null then w.enabled and w.event_types && array['*', h.type, h.type_group] else w.id = h.receiver end
    returning jsonb_build_object('realm', realm_id, 'webhookId', webhook_id, 'id', id, 'eventId', event_id) as payload`,
};
