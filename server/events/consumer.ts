// The interface of durable consumers of events: webhooks and other features that forward events. Their work is written in the events' own
// transaction, in one statement for all consumers, and becomes jobs of the durable queue. A realm without subscribers has no cost for any
// consumer (subscriptions.ts).
import type { Fragment } from '../db/statement.ts';

export interface EventConsumer {
  /** The job that does the rest (jobs/job.ts); its payloads are what `take` gives. */
  job: string;
  /**
   * Condition: the realm of this name has a subscription. If its tables change without a configuration event of that realm, the change
   * is noticed a little later.
   */
  wanted(realm: Fragment): Fragment;
  /**
   * A query over `happened`, the events of these realms: it writes what is to be done, and gives a job's `payload` (jsonb) for
   * each. `receiver`, where an event has one, is the id of the only one that it is for; `type_group` is ADMIN_WRITE for what that
   * stands for.
   */
  take(occurredAt: Date): Fragment;
}

/** The columns of `happened`. */
export const HAPPENED = `realm_id text, id uuid, type text, actor jsonb, subject jsonb, client_id text, ip_address text,
  outcome text, data jsonb, receiver uuid, type_group text`;
