// Whether a resource, or one value of an attribute, matches a filter: with the same results as SQL (filter-sql.ts).
// Pure.
import { operandOf } from './compared.ts';
import { scimProblem } from './fault.ts';
import type { Comparison, Filter } from './filter.ts';
import { type Attribute, type AttributePlace, attributeNamed } from './schema.ts';

type Values = Readonly<Record<string, unknown>>;
/** Finds the attribute that a name means at the filter's place. */
export type Resolve = (path: string) => AttributePlace | undefined;

/** Resolves names within one value of a complex attribute: its sub-attributes. */
export const subAttributeOf =
  ({ subAttributes }: Attribute): Resolve =>
  (path) => {
    const attribute = attributeNamed(subAttributes, path);
    return attribute && { attribute };
  };

const present = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/**
 * The attribute that a filter compares; for a complex attribute, its `value` if it has one: RFC 7644 §3.4.2.2 says so of several
 * values, and Entra asks for `manager eq "…"`.
 */
export function comparedPlace(resolve: Resolve, path: string): AttributePlace {
  const place = resolve(path);
  if (!place) throw scimProblem('invalidFilter', `There is no attribute ${path}`);
  const { attribute, sub } = place;
  if (attribute.returned === 'never') throw scimProblem('invalidFilter', `${path} can’t be asked for`);
  const value = sub ?? attributeNamed(attribute.subAttributes, 'value');
  return value ? { ...place, sub: value } : place;
}

const valuesAt = (of: Values, { attribute, sub, extension }: AttributePlace): unknown[] => {
  const from = extension === undefined ? of : Object(of[extension]);
  const values = [from[attribute.name]].flat().filter(present);
  return sub ? values.map((value) => Object(value)[sub.name]).filter(present) : values;
};

const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const holds: Record<Comparison, (value: string, operand: string) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a === b,
  co: (a, b) => a.includes(b),
  sw: (a, b) => a.startsWith(b),
  ew: (a, b) => a.endsWith(b),
  gt: (a, b) => order(a, b) > 0,
  ge: (a, b) => order(a, b) >= 0,
  lt: (a, b) => order(a, b) < 0,
  le: (a, b) => order(a, b) <= 0,
};

export function matchesFilter(filter: Filter, of: Values, resolve: Resolve): boolean {
  switch (filter.is) {
    case 'and':
      return filter.of.every((part) => matchesFilter(part, of, resolve));
    case 'or':
      return filter.of.some((part) => matchesFilter(part, of, resolve));
    case 'not':
      return !matchesFilter(filter.of, of, resolve);
    case 'present':
      return valuesAt(of, presentPlace(resolve, filter.path)).length > 0;
    case 'some': {
      const place = severalOf(resolve, filter.path);
      const inner = subAttributeOf(place.attribute);
      return valuesAt(of, place).some((value) => matchesFilter(filter.of, Object(value), inner));
    }
    case 'compare': {
      const { op, value, path } = filter;
      const place = comparedPlace(resolve, path);
      if (value === null) return isNull(op, path) === (valuesAt(of, place).length === 0);
      const attribute = place.sub ?? place.attribute;
      const operand = operandOf(attribute, op, value);
      const text = (one: unknown): string => {
        if (operand instanceof Date) return new Date(String(one)).toISOString();
        return attribute.caseExact ? String(one) : String(one).toLowerCase();
      };
      const wanted = text(operand instanceof Date ? operand.toISOString() : operand);
      const any = valuesAt(of, place).some((one) => holds[op](text(one), wanted));
      return op === 'ne' ? !any : any;
    }
  }
}

/** The attribute that `pr` checks; if it is complex, any of its sub-attributes counts. */
export function presentPlace(resolve: Resolve, path: string): AttributePlace {
  const place = resolve(path);
  return place && place.sub === undefined && place.attribute.type === 'complex' && !place.attribute.multiValued
    ? place
    : comparedPlace(resolve, path);
}

/** Whether a comparison with null tests for absence (`eq`) or for presence (`ne`). @throws Problem for other operators */
export function isNull(op: Comparison, path: string): boolean {
  if (op !== 'eq' && op !== 'ne')
    throw scimProblem('invalidFilter', `${path} can be compared with null by eq and ne alone`);
  return op === 'eq';
}

/** The multi-valued attribute before a filter in brackets. */
export function severalOf(resolve: Resolve, path: string): AttributePlace {
  const place = resolve(path);
  if (!place?.attribute.multiValued || !place.attribute.subAttributes || place.sub)
    throw scimProblem('invalidFilter', `${path} has no values with parts to choose among`);
  return place;
}
