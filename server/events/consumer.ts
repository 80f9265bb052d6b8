// Who wants events for good, as a record: webhooks, and whatever else sends events on. What a consumer has to do about events is
// written in the transaction that they are of, all consumers' in one statement, and becomes jobs of the durable queue. Realms
// that no consumer has a subscriber in pay nothing for any of them (subscriptions.ts).
import type { Fragment } from '../db/statement.ts';

export interface EventConsumer {
  /** The job that does the rest (jobs/job.ts); its payloads are what `take` gives. */
  job: string;
  /**
   * A condition: somebody in the realm of this name wants events. What it reads changes with a configuration event of that
   * realm, or is noticed a little later.
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
