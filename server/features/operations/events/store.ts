// SQL of the query for audit events: each filter is answered by an index in the log's order (migration event_filters).
import { DAY_MS } from '../../../contract/durations.ts';
import { isUuid, leastIdAt } from '../../../crypto/ids.ts';
import { Fragment, fragment, type Sql } from '../../../db/sql.ts';
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

/** Literal text in the statement: the partial index of refused and failed events serves no statement with a parameter here. */
const outcomes: Record<string, Fragment> = {
  success: fragment`outcome = 'success'`,
  failure: fragment`outcome = 'failure'`,
  denied: fragment`outcome = 'denied'`,
};

/** The index holds the beginning of the text, because PostgreSQL limits the size of an index entry; a shorter text is all of it. */
const BEGINNING = 255;
const is = (column: Fragment, text: string): Fragment =>
  text.length < BEGINNING
    ? fragment`left(${column}, 255) = ${text}`
    : fragment`left(${column}, 255) = left(${text}, 255) and ${column} = ${text}`;
const actorId = fragment`actor ->> 'id'`;
const actorName = fragment`actor ->> 'name'`;
const subjectId = fragment`subject ->> 'id'`;
const subjectName = fragment`subject ->> 'name'`;

// Each condition has an index; the union of a list's conditions finds an event once or more often.
const byUser = (id: string) => fragment`actor ->> 'type' = 'user' and actor ->> 'id' = ${id}`;
const toUser = (id: string) => fragment`subject ->> 'type' = 'user' and subject ->> 'id' = ${id}`;
/** Not the events of a client on its own behalf: these are found by client_id. */
const namedOnce = fragment`(client_id is null or actor ->> 'type' <> 'client' or client_id <> actor ->> 'name')`;
const byClientItself = (clientId: string) =>
  fragment`${is(fragment`client_id`, clientId)} and actor ->> 'type' = 'client' and actor ->> 'name' = client_id`;
const doneBy = (word: string, clientIds: readonly string[]): Fragment[] => [
  byUser(word),
  fragment`actor ->> 'type' = 'agent' and actor ->> 'id' = ${word}`,
  fragment`actor ->> 'type' <> 'user' and actor ->> 'type' <> 'agent' and ${namedOnce} and ${is(actorId, word)}`,
  fragment`${namedOnce} and ${is(actorName, word)}`,
  byClientItself(word),
  ...clientIds.map((clientId) => fragment`${byClientItself(clientId)} and actor ->> 'id' = ${word}`),
];
const doneTo = (word: string): Fragment[] => [
  toUser(word),
  fragment`subject ->> 'type' <> 'user' and ${is(subjectId, word)}`,
  is(subjectName, word),
];
const aboutUser = (id: string): Fragment[] => [byUser(id), toUser(id)];

/**
 * The id has the time of the event's creation. The server writes the event later than that, after a long outage of the
 * database much later; and clocks differ a little.
 */
const LATEST_MS = DAY_MS;
const CLOCKS_MS = 60_000;
const later = (at: Date, ms: number) => new Date(at.getTime() + ms);

/** The clientIds that the client with this UUID has, or had by events about it. */
async function clientIdsOf(sql: Sql, realm: string, id: string): Promise<string[]> {
  if (!isUuid(id)) return [];
  const rows = await sql<{ name: string }>`
    select client_id as name from client where realm_id = ${realm} and id = ${id}::uuid
    union select distinct subject ->> 'name' from event
      where realm_id = ${realm} and subject ->> 'type' <> 'user' and ${is(subjectId, id)}
        and subject ->> 'type' = 'client' and subject ->> 'name' is not null`;
  return rows.map(({ name }) => name);
}

/** The events, newest first; `before`: the last id of the previous page. */
export async function listEvents(
  sql: Sql,
  realm: string,
  filter: EventFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<EventRow[]> {
  const { userId, actor, subject, types, clientId, ipAddress, outcome } = filter;
  const asked = [userId, actor, subject, types, clientId, ipAddress, outcome].filter((one) => one !== undefined);
  /** Which of several indexes serves best depends on the values, so such a statement is planned with them. */
  const planned = asked.length > 1 ? Fragment.once('') : fragment``;
  // Alternatives are read index by index, for PostgreSQL joins no indexes in the log's order. Of two filters, each pair of alternatives is
  // one of both: with one filter's index alone it would read all that its value has, however rare the other's is.
  const alternatives = [
    ...(userId === undefined ? [] : [aboutUser(userId)]),
    ...(actor === undefined ? [] : [doneBy(actor, await clientIdsOf(sql, realm, actor))]),
    ...(subject === undefined ? [] : [doneTo(subject)]),
  ].reduce((all, more) => all.flatMap((one) => more.map((other) => fragment`${one} and ${other}`)), [fragment`true`]);
  const conditions = fragment`${when(before, (id) => fragment`id < ${id}::uuid`)}
    and ${when(filter.types, (types) => fragment`type = any(${types}::text[])`)}
    and ${when(filter.clientId, (id) => is(fragment`client_id`, id))}
    and ${when(filter.ipAddress, (address) => fragment`left(ip_address, 64) = ${address}`)}
    and ${when(filter.outcome, (outcome) => outcomes[outcome] ?? fragment`false`)}
    and ${when(filter.from, (at) => fragment`occurred_at >= ${at} and id >= ${leastIdAt(later(at, -LATEST_MS))}::uuid`)}
    and ${when(filter.to, (at) => fragment`occurred_at < ${at} and id < ${leastIdAt(later(at, CLOCKS_MS))}::uuid`)}`;
  const page = fragment`order by id desc limit ${limit}`;
  const columns = fragment`realm_id, id, type, occurred_at, actor, subject, client_id, ip_address, outcome, data`;
  const [whole, ...more] = alternatives;
  if (whole && more.length === 0)
    return sql<EventRow>`select ${columns} from event where realm_id = ${realm} and ${conditions} and ${whole} ${page}${planned}`;
  const found = alternatives
    .map((one) => fragment`(select id from event where realm_id = ${realm} and ${conditions} and ${one} ${page})`)
    .reduce((all, one) => fragment`${all} union ${one}`);
  return sql<EventRow>`
    select ${columns} from event
    where realm_id = ${realm} and id = any(array(select id from (${found}) found ${page}))
    order by id desc${planned}`;
}
