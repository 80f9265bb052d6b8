// SQL of the query for audit events: each filter is answered by an index in the log's order (migration event_filters);
// search.ts joins them.
import { DAY_MS } from '../../../contract/durations.ts';
import { isUuid, leastIdAt } from '../../../crypto/ids.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { EventRow } from '../../../events/row.ts';
import { type Filter, indexed, isBefore, type Scan, search } from './search.ts';

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

const byUser = (id: string) => fragment`actor ->> 'type' = 'user' and actor ->> 'id' = ${id}`;
const toUser = (id: string) => fragment`subject ->> 'type' = 'user' and subject ->> 'id' = ${id}`;
/** Not the events of a client on its own behalf: these are found by client_id. */
const namedOnce = fragment`(client_id is null or actor ->> 'type' <> 'client' or client_id <> actor ->> 'name')`;
const itself = fragment`actor ->> 'type' = 'client' and actor ->> 'name' = client_id`;
const byClientItself = (clientId: string, also: Fragment = itself): Scan => ({
  by: is(fragment`client_id`, clientId),
  also,
});
const doneBy = (word: string, clientIds: readonly string[]): Scan[] => [
  { by: byUser(word) },
  { by: fragment`actor ->> 'type' = 'agent' and actor ->> 'id' = ${word}` },
  {
    by: fragment`actor ->> 'type' <> 'user' and actor ->> 'type' <> 'agent' and ${namedOnce} and ${is(actorId, word)}`,
  },
  { by: fragment`${namedOnce} and ${is(actorName, word)}` },
  byClientItself(word),
  ...clientIds.map((clientId) => byClientItself(clientId, fragment`${itself} and actor ->> 'id' = ${word}`)),
];
const doneTo = (word: string): Scan[] => [
  { by: toUser(word) },
  { by: fragment`subject ->> 'type' <> 'user' and ${is(subjectId, word)}` },
  { by: is(subjectName, word) },
];
const aboutUser = (id: string): Scan[] => [{ by: byUser(id) }, { by: toUser(id) }];
const anyOf = (scans: readonly Scan[]): Filter => ({ scans });
const ofTypes = (types: readonly string[]): Filter => {
  const [type, ...more] = types;
  if (more.length === 0) return anyOf([{ by: fragment`type = ${type ?? ''}` }]);
  // One scan of the index for each type: PostgreSQL has no order over several.
  const rows = fragment`(select distinct type from unnest(${types}::text[]) as t (type)) asked`;
  const over = { rows, count: types.length };
  return { scans: [{ over, by: fragment`type = asked.type` }], is: fragment`type = any(${types}::text[])` };
};
const ofOutcome = (outcome: string): Filter => {
  const is = outcomes[outcome] ?? fragment`false`;
  return outcome === 'success' ? { scans: [], is } : anyOf([{ by: is }]);
};

/**
 * The id has the time of the event's creation. The server writes the event later than that, after a long outage of the
 * database much later; and clocks differ a little.
 */
const LATEST_MS = DAY_MS;
const CLOCKS_MS = 60_000;
const later = (at: Date, ms: number) => new Date(at.getTime() + ms);

/** The clientIds that the client with this UUID has, or had by the newest events about it. */
async function clientIdsOf(sql: Sql, realm: string, id: string): Promise<string[]> {
  if (!isUuid(id)) return [];
  const rows = await sql<{ name: string }>`
    select client_id as name from client where realm_id = ${realm} and id = ${id}::uuid
    union select distinct name from (
      select subject ->> 'type' as type, subject ->> 'name' as name from event
      where realm_id = ${realm} and subject ->> 'type' <> 'user' and ${is(subjectId, id)} order by id desc limit 1000
    ) about where type = 'client' and name is not null`;
  return rows.map(({ name }) => name);
}

/** The set filters; the statement holds only these, so its plan fits. */
async function filtersOf(sql: Sql, realm: string, filter: EventFilter): Promise<Filter[]> {
  const { userId, actor, subject, types, clientId, ipAddress, outcome, from, to } = filter;
  return [
    ...(userId === undefined ? [] : [anyOf(aboutUser(userId))]),
    ...(actor === undefined ? [] : [anyOf(doneBy(actor, await clientIdsOf(sql, realm, actor)))]),
    ...(subject === undefined ? [] : [anyOf(doneTo(subject))]),
    ...(types === undefined ? [] : [ofTypes(types)]),
    ...(clientId === undefined ? [] : [anyOf([{ by: is(fragment`client_id`, clientId) }])]),
    ...(ipAddress === undefined ? [] : [anyOf([{ by: fragment`left(ip_address, 64) = ${ipAddress}` }])]),
    ...(outcome === undefined ? [] : [ofOutcome(outcome)]),
    ...(from === undefined ? [] : [{ scans: [], is: fragment`occurred_at >= ${from}` }]),
    ...(to === undefined ? [] : [{ scans: [], is: fragment`occurred_at < ${to}` }]),
  ];
}

const columns = fragment`realm_id, id, type, occurred_at, actor, subject, client_id, ip_address, outcome, data`;

export async function event(sql: Sql, realm: string, id: string): Promise<EventRow | undefined> {
  const [row] = await sql<EventRow>`select ${columns} from event where realm_id = ${realm} and id = ${id}`;
  return row;
}

/**
 * The events, newest first; `before`: the last id of the previous page.
 * @returns with `until` if the search stopped before it had a page: there may be older events than this id
 */
export async function listEvents(
  sql: Sql,
  realm: string,
  filter: EventFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<{ rows: EventRow[]; until: string | undefined }> {
  const { from, to } = filter;
  const lowest = from && leastIdAt(later(from, -LATEST_MS));
  const range = fragment`${lowest === undefined ? fragment`true` : fragment`id >= ${lowest}::uuid`}
    and ${to === undefined ? fragment`true` : fragment`id < ${leastIdAt(later(to, CLOCKS_MS))}::uuid`}`;
  const filters = await filtersOf(sql, realm, filter);
  const only = filters.length === 0 ? fragment`true` : filters.length === 1 ? indexed(filters[0]) : undefined;
  if (only) {
    const rows = await sql<EventRow>`
      select ${columns} from event where realm_id = ${realm} and ${only} and ${isBefore(before)}
      order by id desc limit ${limit}`;
    return { rows, until: undefined };
  }
  const { ids, until } = await search(sql, { realm, range, filters, before, limit });
  const rows = await sql<EventRow>`
    select ${columns} from event where realm_id = ${realm} and id = any(${ids}::uuid[]) order by id desc`;
  return { rows, until };
}
