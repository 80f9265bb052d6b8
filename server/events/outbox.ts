// Writes events into the audit log and, for each enabled subscription, a delivery, in the caller's transaction.
// Sending is features/webhooks'. Specification 6.1, 6.2; design "One transaction".

import { type DomainEvent, isAdminWrite } from '../contract/events.ts';
import { copyRow } from '../db/copy.ts';
import { jsonText } from '../db/json.ts';
import type { Sql } from '../db/sql.ts';
import { fragment, statement } from '../db/statement.ts';
import type { Outbox } from '../db/transact.ts';
import { createSubscriptions } from './subscriptions.ts';

export interface OutboxOptions {
  now(): Date;
  newId(): string;
  /** Puts the deliveries into the durable queue, on the same transaction. */
  enqueue(sql: Sql, deliveries: { realm: string; webhookId: string; id: string }[]): Promise<void>;
}

const COPIED = 'event (realm_id, id, type, actor, subject, client_id, ip_address, outcome, data, occurred_at)';

/** One statement for all: audit rows from one JSON text, deliveries by joining the enabled subscriptions. */
export function createOutbox({ now, newId, enqueue }: OutboxOptions): Outbox {
  const subscriptions = createSubscriptions({ now });
  const rowOf = ({ realm, id, type, by, subject, clientId, outcome, data, webhookId }: DomainEvent) => ({
    realm_id: realm,
    id: id ?? newId(),
    type,
    actor: by.actor,
    subject,
    client_id: clientId,
    ip_address: by.ipAddress,
    outcome: outcome ?? 'success',
    data: data ?? {},
    only_webhook: webhookId,
    kin: isAdminWrite(type) ? 'ADMIN_WRITE' : undefined,
  });
  // One text for all rows: an array for each column takes longer to write.
  const happened = (events: readonly DomainEvent[]) => fragment`
    select * from jsonb_to_recordset(${jsonText(events.map(rowOf))}::jsonb) as e (realm_id text, id uuid, type text,
      actor jsonb, subject jsonb, client_id text, ip_address text, outcome text, data jsonb, only_webhook uuid, kin text)`;
  /** A client's own doing has one text for both. */
  const copied = (event: DomainEvent, occurredAt: string): string => {
    const { realm_id, id, type, actor, subject, client_id, ip_address, outcome, data } = rowOf(event);
    const who = actor && jsonText(actor);
    const whom = subject === actor ? who : subject && jsonText(subject);
    return copyRow([realm_id, id, type, who, whom, client_id, ip_address, outcome, jsonText(data), occurredAt]);
  };
  /**
   * PostgreSQL puts the webhook's body together, `{id, type, realmId, occurredAt, actor, subject, data}` (decisions
   * "Webhooks"), so that it costs nothing where no webhook wants the event.
   */
  async function writeSome(sql: Sql, events: readonly DomainEvent[], occurredAt: Date): Promise<void> {
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
  }
  return {
    subscribed: subscriptions.among,
    drop: subscriptions.drop,
    log: (events) =>
      chunksOf(events).map(
        (some) => statement`
      insert into event (realm_id, id, type, actor, subject, client_id, ip_address, outcome, data, occurred_at)
      select realm_id, id, type, actor, subject, client_id, ip_address, outcome, data, ${now()} from (${happened(some)}) happened`,
      ),

    rows(events) {
      const occurredAt = now().toISOString();
      return {
        target: COPIED,
        text: events.map((event) => copied(event, occurredAt)).join(''),
      };
    },

    async write(sql, events) {
      const occurredAt = now();
      for (const some of chunksOf(events)) await writeSome(sql, some, occurredAt);
    },
  };
}

/** Of one statement, which is one text: PostgreSQL takes no more than 256 MB of it. */
const MOST = 10_000;
const chunksOf = (events: readonly DomainEvent[]): (readonly DomainEvent[])[] =>
  events.length <= MOST
    ? [events]
    : Array.from({ length: Math.ceil(events.length / MOST) }, (_, i) => events.slice(i * MOST, (i + 1) * MOST));
