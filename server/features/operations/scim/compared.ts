// Decides which attributes and literals a filter may compare: the same for filters in SQL and in this process. Pure.
import { scimProblem } from './fault.ts';
import type { Comparison, Literal } from './filter.ts';
import type { Attribute } from './schema.ts';

export type Operand = string | boolean | Date;

const dates = new Set<Comparison>(['eq', 'ne', 'gt', 'ge', 'lt', 'le']);
const booleans = new Set<Comparison>(['eq', 'ne']);
/** A time of RFC 3339 whose year PostgreSQL supports too. */
const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/i;

/**
 * Converts a filter's value to the attribute's type. A filter with null, which tests for absence, doesn't come here.
 * @throws Problem `invalidFilter`
 */
export function operandOf({ name, type }: Attribute, op: Comparison, value: Exclude<Literal, null>): Operand {
  if (type === 'boolean') {
    const word = String(value).toLowerCase();
    if (!booleans.has(op) || (word !== 'true' && word !== 'false'))
      throw scimProblem('invalidFilter', `${name} is true or false, and can be compared by eq and ne`);
    return word === 'true';
  }
  if (type === 'dateTime') {
    const moment = new Date(typeof value === 'string' && MOMENT.test(value) ? value : Number.NaN);
    if (!dates.has(op) || Number.isNaN(moment.getTime()))
      throw scimProblem(
        'invalidFilter',
        `${name} is a moment such as 2026-12-31T12:00:00Z, and has no parts to look for`,
      );
    return moment;
  }
  if (type === 'binary' && !booleans.has(op))
    throw scimProblem('invalidFilter', `${name} can be compared by eq and ne alone`);
  if (type === 'complex') throw scimProblem('invalidFilter', `${name} has parts: compare one of them`);
  return String(value);
}
