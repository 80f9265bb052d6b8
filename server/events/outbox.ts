// Writes events into the audit log and, for each enabled subscription, a delivery, in the caller's transaction.
// Sending is features/webhooks'. Specification 6.1, 6.2; design "Transactions, events, jobs".

import { type DomainEvent, isAdminWrite } from '../contract/events.ts';
import { jsonText } from '../db/json.ts';
import type { Sql } from '../db/sql.ts';
import { fragment, statement } from '../db/statement.ts';
import type { Outbox } from '../db/transact.ts';

export interface OutboxOptions {
  now(): Date;
  newId(): string;
  /** Puts the deliveries into the durable queue, on the same transaction. */
  enqueue(sql: Sql, deliveries: { realm: string; webhookId: string; id: string }[]): Promise<void>;
}

/** One statement for all: audit rows by unnest, deliveries by joining the enabled subscriptions. */
export function createOutbox({ now, newId, enqueue }: OutboxOptions): Outbox {
  const happened = (events: readonly DomainEvent[]) => fragment`
    select * from unnest(
      ${events.map((e) => e.realm)}::text[], ${events.map((e) => e.id ?? newId())}::uuid[], ${events.map((e) => e.type)}::text[],
      ${events.map((e) => json(e.by.actor))}::jsonb[], ${events.map((e) => json(e.subject))}::jsonb[],
      ${events.map((e) => e.clientId?.toWellFormed() ?? null)}::text[], ${events.map((e) => e.by.ipAddress)}::text[],
      ${events.map((e) => e.outcome ?? 'success')}::text[], ${events.map((e) => jsonText(e.data ?? {}))}::jsonb[],
      ${events.map((e) => e.webhookId ?? null)}::uuid[], ${events.map((e) => (isAdminWrite(e.type) ? 'ADMIN_WRITE' : null))}::text[]
    ) as e (realm_id, id, type, actor, subject, client_id, ip_address, outcome, data, only_webhook, kin)`;
  return {
    log: (events) => statement`
      insert into event (realm_id, id, type, actor, subject, client_id, ip_address, outcome, data, occurred_at)
      select realm_id, id, type, actor, subject, client_id, ip_address, outcome, data, ${now()} from (${happened(events)}) happened`,

    /**
     * PostgreSQL puts the webhook's body together, `{id, type, realmId, occurredAt, actor, subject, data}` (decisions
     * "Webhooks"), so that it costs nothing where nobody listens.
     */
    async write(sql, events) {
      const occurredAt = now();
      const deliveries = await sql<{ realm_id: string; webhook_id: string; id: string }>`
        with happened as (${happened(events)}), logged as (
          insert into event (realm_id, id, type, occurred_at, actor, subject, client_id, ip_address, outcome, data)
          select realm_id, id, type, ${occurredAt}, actor, subject, client_id, ip_address, outcome, data from happened
        )
        insert into webhook_delivery (realm_id, id, webhook_id, event_id, event_type, body, created_at)
        select h.realm_id, gen_random_uuid(), w.id, h.id, h.type, json_build_object('id', h.id, 'type', h.type, 'realmId', h.realm_id,
            'occurredAt', ${occurredAt.getTime()}::bigint, 'actor', h.actor, 'subject', h.subject, 'data',
            h.data || jsonb_strip_nulls(jsonb_build_object('clientId', h.client_id, 'outcome', h.outcome)))::text, ${occurredAt}
        from happened h join webhook w on w.realm_id = h.realm_id
          and case when h.only_webhook is null then w.enabled and w.event_types && array['*', h.type, h.kin] else w.id = h.only_webhook end
        returning realm_id, webhook_id, id`;
      if (deliveries.length > 0)
        await enqueue(
          sql,
          deliveries.map((d) => ({ realm: d.realm_id, webhookId: d.webhook_id, id: d.id })),
        );
    },
  };
}

const json = (value: object | null | undefined): string | null => (value ? jsonText(value) : null);
