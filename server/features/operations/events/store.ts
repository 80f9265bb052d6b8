import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { EventRow } from '../../../events/row.ts';

export interface EventFilter {
  types: readonly string[] | undefined;
  clientId: string | undefined;
  userId: string | undefined;
  outcome: string | undefined;
  actor: string | undefined;
  subject: string | undefined;
  ipAddress: string | undefined;
  from: Date | undefined;
  to: Date | undefined;
}

/** `true` if the filter is not set: the statement holds only the set filters, so its plan fits. */
const when = <T>(value: T | undefined, condition: (value: T) => Fragment): Fragment =>
  value === undefined ? fragment`true` : condition(value);

/** The events, newest first; `before`: the last id of the previous page. */
export const listEvents = (
  sql: Sql,
  realm: string,
  filter: EventFilter,
  { before, limit }: { before: string | undefined; limit: number },
) => sql<EventRow>`
  select realm_id, id, type, occurred_at, actor, subject, client_id, ip_address, outcome, data
  from event
  where realm_id = ${realm}
    and ${when(before, (id) => fragment`id < ${id}::uuid`)}
    and ${when(filter.types, (types) => fragment`type = any(${types}::text[])`)}
    and ${when(filter.clientId, (id) => fragment`client_id = ${id}`)}
    and ${when(
      filter.userId,
      (id) => fragment`((actor ->> 'type' = 'user' and actor ->> 'id' = ${id})
        or (subject ->> 'type' = 'user' and subject ->> 'id' = ${id}))`,
    )}
    and ${when(filter.actor, (who) => fragment`(actor ->> 'id' = ${who} or actor ->> 'name' = ${who})`)}
    and ${when(filter.subject, (what) => fragment`(subject ->> 'id' = ${what} or subject ->> 'name' = ${what})`)}
    and ${when(filter.ipAddress, (address) => fragment`ip_address = ${address}`)}
    and ${when(filter.outcome, (outcome) => fragment`outcome = ${outcome}`)}
    and ${when(filter.from, (from) => fragment`occurred_at >= ${from}`)}
    and ${when(filter.to, (to) => fragment`occurred_at < ${to}`)}
  order by id desc limit ${limit}`;
