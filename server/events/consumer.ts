// The interface of durable consumers of events: webhooks and other features that forward events. Their work is written in the events' own
// transaction, in one statement for all consumers, and becomes jobs of the durable queue. A realm without subscribers has no cost for any
// consumer (subscriptions.ts).
import type { Fragment } from '../db/statement.ts';

export interface EventConsumer {
  /** The job that continues the work (jobs/job.ts); `take` returns its payloads. */
  job: string;
  /**
   * Condition: the realm of this name has a subscription. If its tables change without a configuration event of that realm, the change
   * is noticed a little later.
   */
  wanted(realm: Fragment): Fragment;
  /**
   * A query over `happened`, the events of these realms: it writes the consumer's rows, and returns a job's `payload`
   * (jsonb) for each. A payload with `eventId` is linked to the trace of that event. `receiver`: the id of the only subscription that gets the event, if it has one; `type_group`:
   * ADMIN_WRITE for the types that it includes.
   */
  take(occurredAt: Date): Fragment;
}

/** The columns of `happened`. */
export const HAPPENED = `realm_id text, id uuid, type text, actor jsonb, subject jsonb, client_id text, ip_address text,
  outcome text, data jsonb, receiver uuid, type_group text`;
