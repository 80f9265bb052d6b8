// Owns: webhook subscriptions, the list of their deliveries, sending one again, testing one.
// Does not own: writing deliveries (events/outbox.ts), sending them (delivery.ts).
// Implements: specification 2.7, 4.5, 5 rule 6; decisions "Webhooks".
import type { By, DomainEvent, EventType, Party } from '../../contract/events.ts';
import { Problem } from '../../contract/problem.ts';
import {
  type Delivery,
  parseEventTypes,
  type Webhook,
  type WebhookInput,
  type WebhookUpdate,
} from '../../contract/webhooks.ts';
import type { Seal } from '../../crypto/seal.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { Expect } from '../../http/etag.ts';
import type { DeliveryJob } from './delivery.ts';
import * as store from './store.ts';

export interface WebhooksDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  now(): Date;
  newId(): string;
  /** Puts deliveries into the durable queue, on the caller's transaction. */
  enqueue(sql: Sql, deliveries: readonly DeliveryJob[]): Promise<void>;
}

/** What binds a sealed secret to its row. */
export const secretContext = (realm: string, id: string): string => `webhook:${realm}:${id}`;

export const toWire = (realm: string, row: store.WebhookRow): Webhook => ({
  id: row.id,
  realmId: realm,
  name: row.name,
  url: row.url,
  eventTypes: row.event_types.join(','),
  secret: null,
  secretSet: row.secret !== null,
  enabled: row.enabled,
  createdAt: row.created_at.getTime(),
});

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

const party = ({ id, name }: { id: string; name: string }): Party => ({ type: 'object', id, name });
const missing = () => new Problem('not-found', 'There is no such webhook');
const taken = (name: string) => new Problem('name-taken', `There is a webhook named ${name}`);

export function createWebhooks({ sql, transact, seal, now, newId, enqueue }: WebhooksDeps) {
  // The address stays out of the audit log: receivers put secrets into it.
  const happened = (
    type: EventType,
    by: By,
    realm: string,
    row: store.WebhookRow,
    data: DomainEvent['data'] = {},
  ): DomainEvent => ({
    type,
    realm,
    by,
    subject: party(row),
    data: { eventTypes: row.event_types, enabled: row.enabled, ...data },
  });

  return {
    async list(realm: string, after: string | undefined, limit: number): Promise<Webhook[]> {
      return (await store.list(sql, realm, after, limit)).map((row) => toWire(realm, row));
    },

    async get(realm: string, id: string): Promise<Webhook> {
      const row = await store.find(sql, realm, id);
      if (!row) throw missing();
      return toWire(realm, row);
    },

    create: (by: By, realm: string, input: WebhookInput): Promise<Webhook> =>
      transact(realm, async (tx) => {
        const id = newId();
        const row: store.WebhookRow = {
          id,
          name: input.name,
          url: input.url,
          event_types: parseEventTypes(input.eventTypes),
          secret: input.secret ? seal.seal(input.secret, secretContext(realm, id)) : null,
          enabled: input.enabled,
          created_at: now(),
        };
        if (!(await store.insert(tx.sql, realm, row))) throw taken(input.name);
        tx.record(happened('WEBHOOK_CREATED', by, realm, row, { secretSet: row.secret !== null }));
        return toWire(realm, row);
      }),

    update: (by: By, realm: string, id: string, input: WebhookUpdate, expect: Expect): Promise<Webhook> =>
      transact(realm, async (tx) => {
        const before = await store.lock(tx.sql, realm, id);
        if (!before) throw missing();
        expect(toWire(realm, before));
        const row: store.WebhookRow = {
          ...before,
          name: input.name,
          url: input.url,
          event_types: parseEventTypes(input.eventTypes),
          // Left out, or null as it is read: what is stored stays.
          secret: input.secret ? seal.seal(input.secret, secretContext(realm, id)) : before.secret,
          enabled: input.enabled,
        };
        if (!(await store.update(tx.sql, realm, row))) throw taken(input.name);
        tx.record(
          happened('WEBHOOK_UPDATED', by, realm, row, {
            urlChanged: row.url !== before.url,
            secretChanged: Boolean(input.secret),
          }),
        );
        return toWire(realm, row);
      }),

    remove: (by: By, realm: string, id: string, expect: Expect): Promise<void> =>
      transact(realm, async (tx) => {
        const row = await store.lock(tx.sql, realm, id);
        if (!row) throw missing();
        expect(toWire(realm, row));
        await store.remove(tx.sql, realm, id);
        tx.record(happened('WEBHOOK_DELETED', by, realm, row));
      }),

    async deliveries(realm: string, id: string, after: string | undefined, limit: number): Promise<Delivery[]> {
      if (!(await store.find(sql, realm, id))) throw missing();
      return (await store.deliveries(sql, realm, id, after, limit)).map(toDelivery);
    },

    /** The same delivery, with the same id and body, and all of its tries anew. */
    redeliver: (by: By, realm: string, id: string, deliveryId: string): Promise<Delivery> =>
      transact(realm, async (tx) => {
        const webhook = await store.find(tx.sql, realm, id);
        const row = webhook && (await store.reopen(tx.sql, realm, id, deliveryId));
        if (!row) throw new Problem('not-found', 'There is no such delivery');
        const done = row.attempts;
        await enqueue(tx.sql, [{ realm, webhookId: id, id: deliveryId, attempt: done + 1, done }]);
        tx.record(happened('WEBHOOK_REDELIVERED', by, realm, webhook, { deliveryId, eventId: row.event_id }));
        return toDelivery(row);
      }),

    /** A WEBHOOK_TEST event goes to this subscription alone, even while it is disabled. */
    async test(by: By, realm: string, id: string): Promise<Delivery> {
      const eventId = newId();
      await transact(realm, async (tx) => {
        const row = await store.find(tx.sql, realm, id);
        if (!row) throw missing();
        tx.record({ ...happened('WEBHOOK_TEST', by, realm, row), id: eventId, webhookId: id });
      });
      const row = await store.deliveryOf(sql, realm, id, eventId);
      if (!row) throw missing();
      return toDelivery(row);
    },
  };
}
export type Webhooks = ReturnType<typeof createWebhooks>;
