// SQL of deliveries; resource.ts has subscriptions.
import type { Delivery } from '../../../contract/webhooks.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';

export interface WebhookName {
  id: string;
  name: string;
}
export interface DeliveryRow {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  status: 'pending' | 'succeeded' | 'retrying' | 'dead';
  attempts: number;
  response_status: number | null;
  error: string | null;
  created_at: Date;
  last_attempt_at: Date | null;
}

export async function webhookName(sql: Sql, realm: string, id: string): Promise<WebhookName | undefined> {
  const [row] = await sql<WebhookName>`select id, name from webhook where realm_id = ${realm} and id = ${id}`;
  return row;
}

/** Literal text in the statement: the partial index of deliveries that did not arrive serves no statement with a parameter here. */
const withStatus: Record<Delivery['status'], Fragment> = {
  pending: fragment`and status = 'pending'`,
  retrying: fragment`and status = 'retrying'`,
  dead: fragment`and status = 'dead'`,
  succeeded: fragment`and status = 'succeeded'`,
};

/** Newest first; `after` is the event id of the last delivery on the previous page. */
export const deliveries = (
  sql: Sql,
  realm: string,
  webhookId: string,
  after: string | undefined,
  limit: number,
  status?: Delivery['status'],
) => sql<DeliveryRow>`
  select id, webhook_id, event_id, event_type, status, attempts, response_status, error, created_at, last_attempt_at
  from webhook_delivery
  where realm_id = ${realm} and webhook_id = ${webhookId} and (${after ?? null}::uuid is null or event_id < ${after ?? null})
    ${status === undefined ? fragment`` : withStatus[status]}
  order by event_id desc limit ${limit}`;

/** The last delivery on the previous page: several webhooks have a delivery of an event. */
export interface DeliveryPlace {
  eventId: string;
  webhookId: string;
}
/** Of all webhooks, newest first. */
export const allDeliveries = (
  sql: Sql,
  realm: string,
  { after, limit, status }: { after: DeliveryPlace | undefined; limit: number; status: Delivery['status'] | undefined },
) => sql<DeliveryRow>`
  select id, webhook_id, event_id, event_type, status, attempts, response_status, error, created_at, last_attempt_at
  from webhook_delivery
  where realm_id = ${realm}
    ${after === undefined ? fragment`` : fragment`and (event_id, webhook_id) < (${after.eventId}::uuid, ${after.webhookId}::uuid)`}
    ${status === undefined ? fragment`` : withStatus[status]}
  order by event_id desc, webhook_id desc limit ${limit}`;

export async function deliveryOf(sql: Sql, realm: string, webhookId: string, eventId: string) {
  const [row] = await sql<DeliveryRow>`
    select id, webhook_id, event_id, event_type, status, attempts, response_status, error, created_at, last_attempt_at
    from webhook_delivery where realm_id = ${realm} and webhook_id = ${webhookId} and event_id = ${eventId}`;
  return row;
}

/** Sets a delivery back to pending, whatever its status. */
export async function reopen(sql: Sql, realm: string, webhookId: string, id: string) {
  const [row] = await sql<DeliveryRow>`
    update webhook_delivery set status = 'pending'
    where realm_id = ${realm} and webhook_id = ${webhookId} and id = ${id}
    returning id, webhook_id, event_id, event_type, status, attempts, response_status, error, created_at, last_attempt_at`;
  return row;
}

/** A delivery to send, with its present subscription. */
export interface Sendable {
  body: string;
  event_type: string;
  attempts: number;
  webhook_id: string;
  url: string;
  secret: Buffer | null;
  enabled: boolean;
}
export async function sendableDelivery(sql: Sql, realm: string, id: string): Promise<Sendable | undefined> {
  const [row] = await sql<Sendable>`
    select d.body, d.event_type, d.attempts, d.webhook_id, w.url, w.secret, w.enabled
    from webhook_delivery d join webhook w on w.realm_id = d.realm_id and w.id = d.webhook_id
    where d.realm_id = ${realm} and d.id = ${id}`;
  return row;
}

export interface Outcome {
  status: 'succeeded' | 'retrying' | 'dead';
  attempt: number;
  responseStatus: number | null;
  error: string | null;
  at: Date;
}
/** A try that ends late never overwrites the result of a later one. */
export const recordOutcome = (
  sql: Sql,
  realm: string,
  id: string,
  { status, attempt, responseStatus, error, at }: Outcome,
) => sql`
  update webhook_delivery set status = ${status}, attempts = ${attempt}, response_status = ${responseStatus},
    error = ${error}, last_attempt_at = ${at}
  where realm_id = ${realm} and id = ${id} and attempts < ${attempt}`;
