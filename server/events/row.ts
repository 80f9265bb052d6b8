// Converts an event to its row, and a row to the API's form.
import type { Event } from '../contract/events.ts';

export interface EventRow {
  realm_id: string;
  id: string;
  type: Event['type'];
  occurred_at: Date;
  actor: Event['actor'];
  subject: Event['subject'];
  client_id: string | null;
  ip_address: string | null;
  outcome: Event['outcome'];
  data: Record<string, unknown>;
}

export const eventOf = (row: EventRow): Event => ({
  id: row.id,
  type: row.type,
  occurredAt: row.occurred_at.getTime(),
  realmId: row.realm_id,
  actor: row.actor,
  subject: row.subject,
  clientId: row.client_id,
  ipAddress: row.ip_address,
  outcome: row.outcome,
  data: row.data,
});
