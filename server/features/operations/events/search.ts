// The search of the audit log by several filters. Each filter has index scans in the log's order; no index has two filters. A round reads
// as many entries of each filter's scans, and tests the other filters on these rows. The filter that gets farthest back is the rarest:
// the round has found all that matches down to there, and the next round goes on from there by this filter. So a round costs the same
// however large the log is, and a search that finds too little stops after a while.
import { performance } from 'node:perf_hooks';
import { Fragment, fragment, type Sql } from '../../../db/sql.ts';

/** A condition that one index answers in the log's order. */
export interface Scan {
  /** Rows for each of which the index is read once, and their number. */
  over?: { rows: Fragment; count: number };
  by: Fragment;
  /** The part of the condition that the index does not answer. */
  also?: Fragment;
}
/** The events of any of the scans. A filter without scans has no index. */
export interface Filter {
  scans: readonly Scan[];
  /** The same as one condition, if it is not the scans' alternatives. */
  is?: Fragment;
}

interface Search {
  realm: string;
  /** Where the ids of all events lie that may match. */
  range: Fragment;
  filters: readonly Filter[];
  before: string | undefined;
  limit: number;
}

/** Entries that a round reads, over all its scans: first few, for most searches end with them. */
const FIRST = 500;
const MOST = 2_000;
/** How long a search goes on with too little found. */
const LONGEST_MS = 1_000;

const all = (conditions: readonly Fragment[]): Fragment =>
  conditions.reduce((before, one) => fragment`${before} and ${one}`, fragment`true`);
const conditionOf = ({ by, also }: Scan): Fragment => (also ? fragment`(${by} and ${also})` : fragment`(${by})`);
const isAny = (scans: readonly Scan[]): Fragment =>
  fragment`(${scans.map(conditionOf).reduce((before, one) => fragment`${before} or ${one}`)})`;
const conditionOfFilter = ({ scans, is }: Filter): Fragment => is ?? isAny(scans);

export const isBefore = (id: string | undefined): Fragment =>
  id === undefined ? fragment`true` : fragment`id < ${id}::uuid`;
/** The condition of a filter that one scan answers alone. */
export const indexed = (filter: Filter | undefined): Fragment | undefined => {
  const [scan, ...more] = filter?.scans ?? [];
  return scan && more.length === 0 && !scan.over && !scan.also ? scan.by : undefined;
};

/** A search by one filter's scans, which then checks the other filters. */
interface Attempt {
  scans: readonly Scan[];
  rest: Fragment;
  /** Whether each entry of the scans matches: then no more are read than asked for. */
  isExact: boolean;
}
const attemptsOf = (filters: readonly Filter[]): Attempt[] => {
  const attempts = filters
    .filter(({ scans }) => scans.length > 0)
    .map((filter) => ({
      scans: filter.scans,
      rest: all(filters.filter((other) => other !== filter).map(conditionOfFilter)),
      isExact: filters.length === 1 && filter.scans.every(({ also }) => !also),
    }));
  const whole = { scans: [{ by: fragment`true` }], rest: all(filters.map(conditionOfFilter)), isExact: false };
  return attempts.length > 0 ? attempts : [whole];
};

interface Seen {
  attempt: number;
  id: string;
  matches: boolean;
  /** The scan ended here because it had read as many as it may. */
  ends: boolean;
}
interface Reached {
  attempt: Attempt;
  ids: string[];
  /** All that matches from this id on is found; undefined: all there is. */
  until: string | undefined;
}

const seenBy = (
  search: Search,
  scan: Scan,
  { attempt, rest, most }: { attempt: number; rest: Fragment; most: number },
) => {
  const { realm, range, before } = search;
  const rows = fragment`(
    select id, (${scan.also ?? fragment`true`}) and ${rest} as matches, row_number() over (order by id desc) = ${most}::int as ends
    from event where realm_id = ${realm} and ${range} and ${isBefore(before)} and ${scan.by}
    order by id desc limit ${most}::int
  ) seen`;
  const from = scan.over ? fragment`${scan.over.rows} cross join lateral ${rows}` : rows;
  return fragment`select ${attempt}::int as attempt, id, matches is true as matches, ends from ${from} where matches or ends`;
};

const newestFirst = (one: string, other: string): number => (one < other ? 1 : one > other ? -1 : 0);

/** Reads `most` entries of each scan of each attempt. @returns the attempt that gets farthest */
async function look(sql: Sql, search: Search, attempts: readonly Attempt[], most: number): Promise<Reached> {
  const scans = attempts.flatMap(({ scans, rest }, attempt) =>
    scans.map((scan) => seenBy(search, scan, { attempt, rest, most })),
  );
  const rows =
    await sql<Seen>`${scans.reduce((before, one) => fragment`${before} union all ${one}`)}${Fragment.once('')}`;
  const reached = attempts.map((attempt, at): Reached => {
    const own = rows.filter((row) => row.attempt === at);
    const [until] = own.flatMap(({ id, ends }) => (ends ? [id] : [])).sort(newestFirst);
    const ids = own.flatMap(({ id, matches }) => (matches && (until === undefined || id >= until) ? [id] : []));
    return { attempt, ids: [...new Set(ids)].sort(newestFirst), until };
  });
  return reached.reduce((best, one) =>
    best.until !== undefined && (one.until === undefined || one.until < best.until) ? one : best,
  );
}

/** The ids of the newest events that match, and where the search stopped if it did so before it had as many. */
export async function search(sql: Sql, asked: Search): Promise<{ ids: string[]; until: string | undefined }> {
  const { limit } = asked;
  const end = performance.now() + LONGEST_MS;
  const ids: string[] = [];
  let attempts = attemptsOf(asked.filters);
  let { before } = asked;
  for (let most = FIRST; ; most = MOST) {
    const scans = attempts.flatMap((attempt) => attempt.scans).reduce((sum, { over }) => sum + (over?.count ?? 1), 0);
    const each = attempts.every(({ isExact }) => isExact) ? limit : Math.max(limit, Math.ceil(most / scans));
    const found = await look(sql, { ...asked, before }, attempts, each);
    ids.push(...found.ids);
    if (found.until === undefined || ids.length >= limit) return { ids: ids.slice(0, limit), until: undefined };
    if (performance.now() >= end) return { ids, until: found.until };
    before = found.until;
    attempts = [found.attempt];
  }
}
