// Compiles a filter to SQL: names become columns of this server, values become parameters, and no other part of the
// text gets into the statement. Each condition is true or false, never null, so that `not` inverts it. RFC 7644
// §3.4.2.2.

import { isUuid } from '../../../crypto/ids.ts';
import { type Fragment, fragment } from '../../../db/sql.ts';
import { likeText } from '../../../http/paging.ts';
import { type Operand, operandOf } from './compared.ts';
import { scimProblem } from './fault.ts';
import type { Comparison, Filter } from './filter.ts';
import { comparedPlace, isNull, presentPlace, type Resolve, severalOf, subAttributeOf } from './matches.ts';
import type { Attribute, AttributePlace } from './schema.ts';

export interface Column {
  sql: Fragment;
  kind: 'text' | 'uuid' | 'boolean' | 'dateTime';
  /** Whether the value can be absent: then it is null, never an empty text. */
  nullable?: boolean;
  /** The condition for `eq`, if it isn't a comparison with the column. */
  equals?(text: string): Fragment;
  /**
   * A condition that an index can answer and that is true wherever the column contains the text; it gets a `like`
   * pattern. Undefined: the index doesn't serve so short a text.
   */
  implied?(pattern: string): Fragment | undefined;
}
/** The values of a multi-valued attribute. */
export interface Rows {
  /** The condition that some row satisfies `condition`, which uses `columns`. */
  some(condition: Fragment): Fragment;
  columns: Readonly<Record<string, Column>>;
}
/** Columns by attribute name: `userName`, `name.givenName`, `urn:…:department`. */
export interface Columns {
  single: Readonly<Record<string, Column>>;
  /** The tables that can hold the values. A condition is true if it is true for a value in any of them. */
  several: Readonly<Record<string, readonly Rows[]>>;
  /**
   * That a value of the attribute equals the text, wherever it is kept, by indexes alone: for several places joined by `or`
   * PostgreSQL can prefer to walk the table.
   */
  lookups?: Readonly<Record<string, (text: string) => Fragment>>;
  /** Further columns that lists can be sorted by. */
  sorted?: Readonly<Record<string, Column>>;
}

const yes = fragment`true`;
const no = fragment`false`;

export const keyOf = ({ attribute, sub, extension }: AttributePlace): string =>
  `${extension === undefined ? '' : `${extension}:`}${attribute.name}${sub ? `.${sub.name}` : ''}`;

const own = <T>(of: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(of, key) ? of[key] : undefined;
const unfiltered = (path: string) => scimProblem('invalidFilter', `${path} can’t be asked for`);

/** Compares text; without case, both sides are folded to one case. */
function ofText(column: Column, caseExact: boolean, op: Comparison, operand: string): Fragment {
  const { sql, kind, implied, equals } = column;
  if (equals && (op === 'eq' || op === 'ne')) return equals(operand);
  const text = kind === 'uuid' ? fragment`${sql}::text` : sql;
  const folded = caseExact ? text : fragment`lower(${text})`;
  const value = caseExact ? fragment`${operand}::text` : fragment`lower(${operand}::text)`;
  if (op === 'gt') return fragment`${folded} collate "C" > ${value}`;
  if (op === 'ge') return fragment`${folded} collate "C" >= ${value}`;
  if (op === 'lt') return fragment`${folded} collate "C" < ${value}`;
  if (op === 'le') return fragment`${folded} collate "C" <= ${value}`;
  const part = {
    eq: fragment`${folded} = ${value}`,
    // The caller inverts it.
    ne: fragment`${folded} = ${value}`,
    sw: fragment`starts_with(${folded}, ${value})`,
    ew: fragment`right(${folded}, length(${value})) = ${value}`,
    co: fragment`position(${value} in ${folded}) > 0`,
  }[op];
  const found = implied?.(`%${likeText(operand)}%`);
  return found ? fragment`${part} and ${found}` : part;
}

/** Compares to the millisecond, as responses show the time, and so that an index of the column serves. */
function ofMoment({ sql }: Column, op: Comparison, operand: Date): Fragment {
  const next = fragment`(${operand}::timestamptz + interval '1 millisecond')`;
  if (op === 'gt') return fragment`${sql} >= ${next}`;
  if (op === 'ge') return fragment`${sql} >= ${operand}::timestamptz`;
  if (op === 'lt') return fragment`${sql} < ${operand}::timestamptz`;
  if (op === 'le') return fragment`${sql} < ${next}`;
  return fragment`${sql} >= ${operand}::timestamptz and ${sql} < ${next}`;
}

function condition(column: Column, caseExact: boolean, op: Comparison, operand: Operand): Fragment {
  if (operand instanceof Date) return ofMoment(column, op, operand);
  if (typeof operand === 'boolean') return fragment`${column.sql} = ${operand}`;
  if (column.kind === 'uuid' && (op === 'eq' || op === 'ne'))
    // Ids are compared as UUIDs. Text in another form matches no row: ids have a single spelling.
    return isUuid(operand) && operand === operand.toLowerCase() ? fragment`${column.sql} = ${operand}::uuid` : no;
  return ofText(column, caseExact, op, operand);
}

const known = ({ sql, nullable }: Column): Fragment => (nullable ? fragment`${sql} is not null` : yes);
const both = (a: Fragment, b: Fragment): Fragment => (a === yes ? b : fragment`(${a} and ${b})`);

/** `ne` is true if no value is equal. */
const turned = (op: Comparison, condition: Fragment): Fragment =>
  op === 'ne' ? fragment`not ${condition}` : condition;

export function sqlOf(filter: Filter, columns: Columns, resolve: Resolve): Fragment {
  switch (filter.is) {
    case 'and':
      return fragment`(${sqlOf(filter.of[0], columns, resolve)} and ${sqlOf(filter.of[1], columns, resolve)})`;
    case 'or':
      return fragment`(${sqlOf(filter.of[0], columns, resolve)} or ${sqlOf(filter.of[1], columns, resolve)})`;
    case 'not':
      return fragment`(not ${sqlOf(filter.of, columns, resolve)})`;
    case 'some': {
      const { attribute } = severalOf(resolve, filter.path);
      const places = own(columns.several, attribute.name);
      if (!places) throw unfiltered(filter.path);
      const inner = subAttributeOf(attribute);
      const such = anyOf(places, (rows) => sqlOf(filter.of, { single: rows.columns, several: {} }, inner));
      const lookUp = own(columns.lookups ?? {}, `${attribute.name}.value`);
      const text = lookUp && equalTo(filter.of, 'value');
      return lookUp && text !== undefined ? fragment`(${lookUp(text)} and ${such})` : such;
    }
    case 'present': {
      const place = presentPlace(resolve, filter.path);
      return found(place, filter.path, columns, known);
    }
    case 'compare': {
      const { op, path, value } = filter;
      const place = comparedPlace(resolve, path);
      if (value === null) {
        const there = found(place, path, columns, known);
        return isNull(op, path) ? fragment`(not ${there})` : there;
      }
      const attribute = place.sub ?? place.attribute;
      const operand = operandOf(attribute, op, value);
      const lookUp = own(columns.lookups ?? {}, keyOf(place));
      if (lookUp && (op === 'eq' || op === 'ne')) return turned(op, lookUp(String(operand)));
      const holds = found(place, path, columns, (column) =>
        both(known(column), fragment`(${condition(column, attribute.caseExact, op, operand)})`),
      );
      return turned(op, holds);
    }
  }
}

/** The text that the part must equal for the filter to hold; undefined: it needn't equal one. */
function equalTo(filter: Filter, part: string): string | undefined {
  if (filter.is === 'and') return equalTo(filter.of[0], part) ?? equalTo(filter.of[1], part);
  if (filter.is !== 'compare' || filter.op !== 'eq' || filter.path.toLowerCase() !== part) return undefined;
  return filter.value === null ? undefined : String(filter.value);
}

const anyOf = (places: readonly Rows[], such: (rows: Rows) => Fragment): Fragment =>
  places.map((rows) => rows.some(such(rows))).reduce((any, one) => fragment`(${any} or ${one})`);

/**
 * The condition that some value of the attribute satisfies `such`; for a complex attribute, that some sub-attribute
 * does.
 */
function found(
  place: AttributePlace,
  path: string,
  { single, several }: Columns,
  such: (column: Column) => Fragment,
): Fragment {
  const { attribute, sub } = place;
  const places = place.extension === undefined ? own(several, attribute.name) : undefined;
  if (places)
    return anyOf(places, (rows) => {
      const column = sub && own(rows.columns, sub.name);
      if (sub && !column) throw unfiltered(path);
      return column ? such(column) : yes;
    });
  const column = own(single, keyOf(place));
  if (column) return such(column);
  const parts = partsOf(place).flatMap((part) => own(single, keyOf(part)) ?? []);
  if (sub || parts.length === 0) throw unfiltered(path);
  return fragment`(${parts.reduce((any, part) => fragment`${any} or ${such(part)}`, no)})`;
}

const partsOf = (place: AttributePlace): AttributePlace[] =>
  (place.attribute.subAttributes ?? []).map((sub: Attribute) => ({ ...place, sub }));
