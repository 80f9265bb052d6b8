// Writes events into the audit log and calls consumers, in the caller's transaction (consumer.ts). Each consumer
// decides how to use them. Specification 6.1, 6.2; design "One transaction".

import { type DomainEvent, isAdminWrite } from '../contract/events.ts';
import { copyRow } from '../db/copy.ts';
import { jsonText } from '../db/json.ts';
import type { Sql } from '../db/sql.ts';
import { Fragment, fragment, statement } from '../db/statement.ts';
import type { Outbox } from '../db/transact.ts';
import { isTraced } from '../telemetry/spans.ts';
import { type EventConsumer, HAPPENED } from './consumer.ts';
import { createSubscriptions } from './subscriptions.ts';

export interface OutboxOptions {
  now(): Date;
  newId(): string;
  consumers: readonly EventConsumer[];
  /** Enqueues jobs in the same transaction. */
  enqueue(sql: Sql, job: string, payloads: readonly object[]): Promise<void>;
}

const COPIED = 'event (realm_id, id, type, actor, subject, client_id, ip_address, outcome, data, occurred_at)';

const raw = (text: string): Fragment => new Fragment([text], []);
const columns = raw(HAPPENED);

/** One statement for all: the audit rows from one JSON text, and each consumer's rows. */
export function createOutbox({ now, newId, consumers, enqueue }: OutboxOptions): Outbox {
  const subscriptions = createSubscriptions({ now, consumers });
  // Composed once, so that the statement's text stays the same.
  const parts = consumers.map(({ job, take }, n) => ({ take, taken: raw(`taken_${n}`), job: raw(`'${job}'`) }));
  const rowOf = ({ realm, id, type, by, subject, clientId, outcome, data, receiver }: DomainEvent) => ({
    realm_id: realm,
    id: id ?? newId(),
    type,
    actor: by.actor,
    subject,
    client_id: clientId,
    ip_address: by.ipAddress,
    outcome: outcome ?? 'success',
    data: data ?? {},
    receiver,
    type_group: isAdminWrite(type) ? 'ADMIN_WRITE' : undefined,
  });
  // One text for all rows: an array for each column takes longer to write.
  const happened = (events: readonly DomainEvent[]) => fragment`
    select * from jsonb_to_recordset(${jsonText(events.map(rowOf))}::jsonb) as e (${columns})`;
  /** If actor and subject are the same object, its text is composed once. */
  const copied = (event: DomainEvent, occurredAt: string): string => {
    const { realm_id, id, type, actor, subject, client_id, ip_address, outcome, data } = rowOf(event);
    const who = actor && jsonText(actor);
    const whom = subject === actor ? who : subject && jsonText(subject);
    return copyRow([realm_id, id, type, who, whom, client_id, ip_address, outcome, jsonText(data), occurredAt]);
  };
  async function writeSome(sql: Sql, given: readonly DomainEvent[], occurredAt: Date): Promise<void> {
    const events = isTraced() ? given.map((event) => ({ ...event, id: event.id ?? newId() })) : given;
    const causes = new Map(events.flatMap(({ id, cause }) => (id && cause ? [[id, cause]] : [])));
    const each = parts.reduce(
      (all, { taken, take }) => fragment`${all}, ${taken} as (${take(occurredAt)})`,
      fragment``,
    );
    const jobs = parts.reduce(
      (all, { taken, job }) => fragment`${all} union all select ${job}, payload from ${taken}`,
      fragment`select null as job, null::jsonb as payload where false`,
    );
    const rows = await sql<{ job: string; payload: { eventId?: string } }>`
      with happened as (${happened(events)}), logged as (
        insert into event (realm_id, id, type, occurred_at, actor, subject, client_id, ip_address, outcome, data)
        select realm_id, id, type, ${occurredAt}, actor, subject, client_id, ip_address, outcome, data from happened
      )${each} ${jobs}`;
    for (const [job, taken] of Map.groupBy(rows, (row) => row.job))
      await enqueue(
        sql,
        job,
        taken.map(({ payload }) => ({ ...payload, cause: causes.get(payload.eventId ?? '') })),
      );
  }
  return {
    subscribed: subscriptions.among,
    nobodyIn: subscriptions.nobodyIn,
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

/** The most events in one statement, which is one text: PostgreSQL accepts at most 256 MB of it. */
const MOST = 10_000;
const chunksOf = (events: readonly DomainEvent[]): (readonly DomainEvent[])[] =>
  events.length <= MOST
    ? [events]
    : Array.from({ length: Math.ceil(events.length / MOST) }, (_, i) => events.slice(i * MOST, (i + 1) * MOST));
