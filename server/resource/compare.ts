// Compares values by content: the order of an object's keys doesn't count. Pure.
import type { PlannedChange, Wanted } from './part.ts';

/** JSON with sorted keys: equal values have equal text. */
export function stableJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(stableJson).join(',')}]`;
  const entries = Object.entries(value)
    .filter(([, v]) => v !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${stableJson(v)}`).join(',')}}`;
}

/** Whether two values are equal as JSON; the order of keys has no meaning. */
export const isSameJson = (a: unknown, b: unknown): boolean => a === b || stableJson(a) === stableJson(b);

/** The change in the form for the parts, with the names of the changed fields. */
export const wantedOf = ({ fields, save, ...change }: PlannedChange): Wanted => ({
  ...change,
  fields: save,
  changed: fields.map((f) => f.path),
});
