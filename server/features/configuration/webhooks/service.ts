// Owns: a subscription's deliveries: their list, sending one again, testing one.
// Does not own: the subscription itself (resource.ts), writing deliveries (events/outbox.ts), sending them (delivery.ts).
// Implements: specification 2.7, 4.5, 5 rule 6; decisions "Webhooks".
import type { By, DomainEvent, EventType } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Delivery } from '../../../contract/webhooks.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { DeliveryJob } from './delivery.ts';
import * as store from './store.ts';

export interface WebhooksDeps {
  sql: Sql;
  transact: Transact;
  newId(): string;
  /** Enqueues deliveries in the caller's transaction. */
  enqueue(sql: Sql, deliveries: readonly DeliveryJob[]): Promise<void>;
}

const toDelivery = (row: store.DeliveryRow): Delivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  eventType: row.event_type,
  status: row.status,
  attempts: row.attempts,
  responseStatus: row.response_status,
  error: row.error,
  createdAt: row.created_at.getTime(),
  lastAttemptAt: row.last_attempt_at?.getTime() ?? null,
});

const missing = () => new Problem('not-found', 'There is no such webhook');

export function createWebhooks({ sql, transact, newId, enqueue }: WebhooksDeps) {
  const happened = (
    type: EventType,
    by: By,
    realm: string,
    { id, name }: store.WebhookName,
    data = {},
  ): DomainEvent => ({
    type,
    realm,
    by,
    subject: { type: 'object', id, name },
    data,
  });

  return {
    async deliveries(
      realm: string,
      id: string,
      after: string | undefined,
      limit: number,
      status?: Delivery['status'],
    ): Promise<Delivery[]> {
      if (!(await store.webhookName(sql, realm, id))) throw missing();
      return (await store.deliveries(sql, realm, id, after, limit, status)).map(toDelivery);
    },

    allDeliveries: async (realm: string, asked: Parameters<typeof store.allDeliveries>[2]): Promise<Delivery[]> =>
      (await store.allDeliveries(sql, realm, asked)).map(toDelivery),

    /** Sends the delivery again, with the same id and body and a new schedule of tries. */
    redeliver: (by: By, realm: string, id: string, deliveryId: string): Promise<Delivery> =>
      transact(realm, async (tx) => {
        const webhook = await store.webhookName(tx.sql, realm, id);
        const row = webhook && (await store.reopen(tx.sql, realm, id, deliveryId));
        if (!row) throw new Problem('not-found', 'There is no such delivery');
        const done = row.attempts;
        await enqueue(tx.sql, [{ realm, webhookId: id, id: deliveryId, attempt: done + 1, done }]);
        tx.record(happened('WEBHOOK_REDELIVERED', by, realm, webhook, { deliveryId, eventId: row.event_id }));
        return toDelivery(row);
      }),

    /** Sends a WEBHOOK_TEST event to this subscription alone, even while it is disabled. */
    async test(by: By, realm: string, id: string): Promise<Delivery> {
      const eventId = newId();
      await transact(realm, async (tx) => {
        const row = await store.webhookName(tx.sql, realm, id);
        if (!row) throw missing();
        tx.record({ ...happened('WEBHOOK_TEST', by, realm, row), id: eventId, receiver: id });
      });
      const row = await store.deliveryOf(sql, realm, id, eventId);
      if (!row) throw missing();
      return toDelivery(row);
    },
  };
}
export type Webhooks = ReturnType<typeof createWebhooks>;
