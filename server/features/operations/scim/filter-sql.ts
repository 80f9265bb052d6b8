// A filter as a condition of SQL: names become columns that this server wrote, values become parameters, and nothing else
// of the text goes in. Each condition is true or false, never null, so that `not` turns it around. RFC 7644 §3.4.2.2.
import { isUuid } from '../../../crypto/ids.ts';
import { type Fragment, fragment } from '../../../db/sql.ts';
import { type Operand, operandOf } from './compared.ts';
import { scimProblem } from './fault.ts';
import type { Comparison, Filter } from './filter.ts';
import { comparedPlace, isNull, presentPlace, type Resolve, severalOf, subAttributeOf } from './matches.ts';
import type { Attribute, AttributePlace } from './schema.ts';

export interface Column {
  sql: Fragment;
  kind: 'text' | 'uuid' | 'boolean' | 'dateTime';
  /** Whether there may be none: then it is null, never an empty text. */
  nullable?: boolean;
  /** How it is looked up, where that isn't by the column itself. */
  equals?(text: string): Fragment;
  /**
   * A condition that an index can answer and that is true wherever the column contains the text; it gets a `like`
   * pattern.
   */
  implied?(pattern: string): Fragment;
}
/** The values of an attribute that has several. */
export interface Rows {
  /** That there is one of which the condition holds; it speaks of `columns`. */
  some(condition: Fragment): Fragment;
  columns: Readonly<Record<string, Column>>;
}
/** By name: `userName`, `name.givenName`, `urn:…:department`. */
export interface Columns {
  single: Readonly<Record<string, Column>>;
  /** Where they may be kept: a condition holds if it does of a value in any of the places. */
  several: Readonly<Record<string, readonly Rows[]>>;
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

const like = (text: string): string => text.replace(/[\\%_]/g, (sign) => `\\${sign}`);

/** Both folded to one case, where case doesn't matter. */
function ofText(column: Column, caseExact: boolean, op: Comparison, operand: string): Fragment {
  const { sql, kind, implied, equals } = column;
  if (equals && (op === 'eq' || op === 'ne')) return equals(operand);
  const text = kind === 'uuid' ? fragment`${sql}::text` : sql;
  const folded = caseExact ? text : fragment`lower(${text})`;
  const value = caseExact ? fragment`${operand}::text` : fragment`lower(${operand}::text)`;
  if (op === 'eq' || op === 'ne') return fragment`${folded} = ${value}`;
  if (op === 'gt') return fragment`${folded} collate "C" > ${value}`;
  if (op === 'ge') return fragment`${folded} collate "C" >= ${value}`;
  if (op === 'lt') return fragment`${folded} collate "C" < ${value}`;
  if (op === 'le') return fragment`${folded} collate "C" <= ${value}`;
  const part = {
    sw: fragment`starts_with(${folded}, ${value})`,
    ew: fragment`right(${folded}, length(${value})) = ${value}`,
    co: fragment`position(${value} in ${folded}) > 0`,
  }[op];
  return implied ? fragment`${part} and ${implied(`%${like(operand)}%`)}` : part;
}

function ofMoment({ sql }: Column, op: Comparison, operand: Date): Fragment {
  // As answers show it: to the millisecond.
  const at = fragment`date_trunc('milliseconds', ${sql})`;
  if (op === 'gt') return fragment`${at} > ${operand}::timestamptz`;
  if (op === 'ge') return fragment`${at} >= ${operand}::timestamptz`;
  if (op === 'lt') return fragment`${at} < ${operand}::timestamptz`;
  if (op === 'le') return fragment`${at} <= ${operand}::timestamptz`;
  return fragment`${at} = ${operand}::timestamptz`;
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

/** `ne` is where no value equals. */
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
      return anyOf(places, (rows) =>
        sqlOf(filter.of, { single: rows.columns, several: {} }, subAttributeOf(attribute)),
      );
    }
    case 'present': {
      const place = presentPlace(resolve, filter.path);
      return found(place, filter.path, columns, ({ column }) => known(column));
    }
    case 'compare': {
      const { op, path, value } = filter;
      const place = comparedPlace(resolve, path);
      if (value === null) {
        const there = found(place, path, columns, ({ column }) => known(column));
        return isNull(op, path) ? fragment`(not ${there})` : there;
      }
      const attribute = place.sub ?? place.attribute;
      const operand = operandOf(attribute, op, value);
      const holds = found(place, path, columns, ({ column }) =>
        both(known(column), fragment`(${condition(column, attribute.caseExact, op, operand)})`),
      );
      return turned(op, holds);
    }
  }
}

const anyOf = (places: readonly Rows[], such: (rows: Rows) => Fragment): Fragment =>
  places.map((rows) => rows.some(such(rows))).reduce((any, one) => fragment`(${any} or ${one})`);

/** That one of the values at a place is such; of an attribute with parts, that one of the parts is. */
function found(
  place: AttributePlace,
  path: string,
  { single, several }: Columns,
  such: (of: { column: Column }) => Fragment,
): Fragment {
  const { attribute, sub } = place;
  const places = place.extension === undefined ? own(several, attribute.name) : undefined;
  if (places)
    return anyOf(places, (rows) => {
      const column = sub && own(rows.columns, sub.name);
      if (sub && !column) throw unfiltered(path);
      return column ? such({ column }) : yes;
    });
  const column = own(single, keyOf(place));
  if (column) return fragment`${such({ column })}`;
  const parts = partsOf(place).flatMap((part) => own(single, keyOf(part)) ?? []);
  if (sub || parts.length === 0) throw unfiltered(path);
  return fragment`(${parts.reduce((any, part) => fragment`${any} or ${such({ column: part })}`, no)})`;
}

const partsOf = (place: AttributePlace): AttributePlace[] =>
  (place.attribute.subAttributes ?? []).map((sub: Attribute) => ({ ...place, sub }));
