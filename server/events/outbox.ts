// Writes events into the audit log and, for each enabled subscription, a delivery, in the caller's transaction.
// Sending is features/webhooks'. Specification 6.1, 6.2; design "Transactions, events, jobs".
import { jsonText } from '../db/json.ts';
import type { Outbox } from '../db/transact.ts';

export interface OutboxOptions {
  now(): Date;
  newId(): string;
  /** Puts the deliveries into the durable queue, on the same transaction. */
  enqueue(sql: Parameters<Outbox>[0], deliveries: { realm: string; webhookId: string; id: string }[]): Promise<void>;
}

/**
 * One statement for all: audit rows by unnest, deliveries by joining the enabled subscriptions. PostgreSQL puts the
 * webhook's body together, `{id, type, realmId, occurredAt, actor, subject, data}` (decisions "Webhooks"), so that it
 * costs nothing where nobody listens.
 */
export const createOutbox =
  ({ now, newId, enqueue }: OutboxOptions): Outbox =>
  async (sql, events) => {
    const occurredAt = now();
    const rows = events.map((event) => ({ event, id: event.id ?? newId() }));
    const deliveries = await sql<{ realm_id: string; webhook_id: string; id: string }>`
      with happened as (
        select * from unnest(
          ${rows.map((r) => r.event.realm)}::text[], ${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.event.type)}::text[],
          ${rows.map((r) => json(r.event.by.actor))}::jsonb[], ${rows.map((r) => json(r.event.subject))}::jsonb[],
          ${rows.map((r) => r.event.clientId?.toWellFormed() ?? null)}::text[], ${rows.map((r) => r.event.by.ipAddress)}::text[],
          ${rows.map((r) => r.event.outcome ?? 'success')}::text[], ${rows.map((r) => jsonText(r.event.data ?? {}))}::jsonb[],
          ${rows.map((r) => r.event.webhookId ?? null)}::uuid[]
        ) as e (realm_id, id, type, actor, subject, client_id, ip_address, outcome, data, only_webhook)
      ), logged as (
        insert into event (realm_id, id, type, occurred_at, actor, subject, client_id, ip_address, outcome, data)
        select realm_id, id, type, ${occurredAt}, actor, subject, client_id, ip_address, outcome, data from happened
      )
      insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, created_at)
      select h.realm_id, gen_random_uuid(), w.id, h.id, h.type, json_build_object('id', h.id, 'type', h.type, 'realmId', h.realm_id,
          'occurredAt', ${occurredAt.getTime()}::bigint, 'actor', h.actor, 'subject', h.subject, 'data',
          h.data || jsonb_strip_nulls(jsonb_build_object('clientId', h.client_id, 'outcome', h.outcome)))::text, ${occurredAt}
      from happened h join webhook w on w.realm_id = h.realm_id
        and case when h.only_webhook is null then w.enabled and w.event_types && array['*', h.type] else w.id = h.only_webhook end
      returning realm_id, webhook_id, id`;
    if (deliveries.length > 0)
      await enqueue(
        sql,
        deliveries.map((d) => ({ realm: d.realm_id, webhookId: d.webhook_id, id: d.id })),
      );
  };

const json = (value: object | null | undefined): string | null => (value ? jsonText(value) : null);
