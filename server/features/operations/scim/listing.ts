// A page of resources: by index (RFC 7644 §3.4.2.4), or by cursor (RFC 9865), whose cost doesn't grow with the
// position. The callers provide the SQL of the filter and the order.
import { z } from 'zod';
import { LIST, type ScimList, type ScimQuery, scimLimits } from '../../../contract/scim.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { Fragment as Piece } from '../../../db/statement.ts';
import { decodeCursor, encodeCursor } from '../../../http/paging.ts';
import type { Values } from './body.ts';
import { scimProblem } from './fault.ts';
import { type Column, type Columns, keyOf } from './filter-sql.ts';
import { comparedPlace, type Resolve } from './matches.ts';

/** Clients choose the shape of filters: prepared statements for all of them would fill the memory. */
const once = Piece.once('');

interface Order {
  /** A text, so that a cursor can contain it; undefined: the list is ordered by id alone. */
  key: Fragment | undefined;
  nullable: boolean;
  descending: boolean;
}

/** @throws Problem `invalidPath` */
export function orderOf({ sortBy, sortOrder }: ScimQuery, columns: Columns, resolve: Resolve): Order {
  const descending = sortOrder === 'descending';
  if (sortBy === undefined || sortBy === '') return { key: undefined, nullable: false, descending };
  if (!resolve(sortBy)) throw scimProblem('invalidPath', `There is no attribute ${sortBy} to sort by`);
  const place = comparedPlace(resolve, sortBy);
  const key = keyOf(place);
  const sortable: Readonly<Record<string, Column>> = { ...columns.single, ...columns.sorted };
  const column = Object.hasOwn(sortable, key) ? sortable[key] : undefined;
  if (!column) throw scimProblem('invalidPath', `Nothing can be sorted by ${sortBy}`);
  const { caseExact } = place.sub ?? place.attribute;
  return { key: textOf(column, caseExact), nullable: column.nullable ?? false, descending };
}

function textOf({ sql, kind }: Column, caseExact: boolean): Fragment {
  if (kind === 'dateTime') return fragment`to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`;
  if (kind !== 'text') return fragment`${sql}::text`;
  return caseExact ? sql : fragment`lower(${sql})`;
}

const RowCursor = z.tuple([z.enum(['0', '1']), z.string(), z.uuid()]);

function placeIn(cursor: string): z.infer<typeof RowCursor> | undefined {
  if (cursor === '') return undefined;
  try {
    return RowCursor.parse(decodeCursor(cursor, 3));
  } catch {
    throw scimProblem('invalidCursor', 'This is no cursor of this list');
  }
}

/** The condition for rows after the cursor; rows without a value come last, ordered by id. */
function behind({ key, nullable, descending }: Order, id: Fragment, [none, value, last]: z.infer<typeof RowCursor>) {
  const sign = descending ? fragment`<` : fragment`>`;
  if (!key) return fragment`${id} ${sign} ${last}::uuid`;
  if (!nullable) return fragment`(${key}, ${id}) ${sign} (${value}::text, ${last}::uuid)`;
  return fragment`((${key} is null)::int, coalesce(${key}, ''), ${id})
    ${sign} (${Number(none)}::int, ${value}::text, ${last}::uuid)`;
}

export interface Listing {
  /** The table, with its alias. */
  table: Fragment;
  /** The condition that a row of it is in the realm. */
  within: Fragment;
  select: Fragment;
  id: Fragment;
  condition: Fragment;
  order: Order;
  /** Counts all of them, or knows their number. */
  total?(count: () => Promise<number>): Promise<number>;
}
export interface Found<Row> {
  rows: Row[];
  total: number | undefined;
  nextCursor: string | undefined;
  startIndex: number | undefined;
}

export async function findPage<Row extends { id: string }>(
  sql: Sql,
  { table, within, select, id, condition, order, total = (count) => count() }: Listing,
  { count = scimLimits.page, startIndex, cursor }: ScimQuery,
): Promise<Found<Row>> {
  if (cursor !== undefined && startIndex !== undefined)
    throw scimProblem('invalidValue', 'Pages are asked for by startIndex or by cursor, not by both');
  const limit = Math.min(Math.max(count, 0), scimLimits.mostOnAPage);
  const after = cursor === undefined ? undefined : placeIn(cursor);
  const first = Math.max(startIndex ?? 1, 1);
  const direction = order.descending ? fragment`desc` : fragment`asc`;
  const { key, nullable } = order;
  const by = key
    ? nullable
      ? fragment`(${key} is null)::int ${direction}, coalesce(${key}, '') ${direction}, ${id} ${direction}`
      : fragment`${key} ${direction}, ${id} ${direction}`
    : fragment`${id} ${direction}`;
  const skipped = cursor === undefined ? first - 1 : 0;
  // Ids first: the columns of a row that is skipped, each a query of its own, are not read.
  const rows = await sql<Row & { sort_key: string | null }>`
    select ${select}, ${key ?? fragment`null::text`} as sort_key from (
      select ${id} as id from ${table} where ${within} and ${condition}
        ${after ? fragment`and ${behind(order, id, after)}` : fragment``}
      order by ${by} limit ${limit + 1} offset ${skipped}) page
    join ${table} on ${within} and ${id} = page.id
    order by ${by}${once}`;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = cursor !== undefined && rows.length > limit && last !== undefined;
  const none = order.key && last?.sort_key === null ? '1' : '0';
  // If the list ends on this page, the total is known without a second query.
  const whole = rows.length <= limit && (rows.length > 0 || skipped === 0);
  return {
    rows: shown,
    // By cursor, only the first page has the total.
    total: after
      ? undefined
      : whole
        ? skipped + rows.length
        : await total(() => totalOf(sql, fragment`${table} where ${within} and ${condition}`)),
    startIndex: cursor === undefined ? first : undefined,
    nextCursor: more ? encodeCursor([none, last.sort_key ?? '', last.id]) : undefined,
  };
}

async function totalOf(sql: Sql, rows: Fragment): Promise<number> {
  const [row] = await sql<{ n: number }>`select count(*)::int as n from ${rows}${once}`;
  return row?.n ?? 0;
}

export const listResponse = (
  resources: readonly Values[],
  { total, nextCursor, startIndex }: Omit<Found<never>, 'rows'>,
): ScimList => ({
  schemas: [LIST],
  ...(total !== undefined && { totalResults: total }),
  itemsPerPage: resources.length,
  ...(startIndex !== undefined && { startIndex }),
  ...(nextCursor !== undefined && { nextCursor }),
  Resources: [...resources] as ScimList['Resources'],
});
