// Formats single values for columns and for `describe`.
import type { Party } from '../server/contract/events.ts';

export const yes = (value: boolean): string => (value ? 'yes' : 'no');
export const list = (values: readonly string[]): string => values.join(', ');
export const text = (value: string | null): string => value ?? '';
/** `2026-11-21T13:34:05Z`: sortable, and independent of the reader's time zone. */
export const time = (ms: number | null): string => (ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19)}Z`);
const ofTime = (name: string): boolean => /[a-z](?:At|Until)$/.test(name);
/** Fields that hold a moment in one answer and a small number in another: a count of created users. */
const sometimesOfTime = new Set(['at', 'countedSince', 'created', 'finished', 'from', 'started', 'to', 'until']);
/** In March 1973. No count is as high. */
const LEAST_MOMENT = 1e11;
const isMoment = (name: string, value: number): boolean =>
  ofTime(name) || (sometimesOfTime.has(name) && value >= LEAST_MOMENT);
/** To the millisecond, as data has it. */
export const instant = (ms: number): string => new Date(ms).toISOString();
/** The moments of an answer, at any depth, as ISO 8601: the API has epoch milliseconds. */
export function withTimes(value: unknown, as: (ms: number) => string = time): unknown {
  if (Array.isArray(value)) return value.map((one) => withTimes(one, as));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      typeof one === 'number' && isMoment(name, one) ? as(one) : withTimes(one, as),
    ]),
  );
}
/** The fields as the API takes them, if they come from an output of `get`. */
export const withoutTimes = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const ms = ofTime(name) && typeof value === 'string' ? Date.parse(value) : Number.NaN;
      return [name, Number.isNaN(ms) ? value : ms];
    }),
  );
export const party = (of: Party | null): string => (of ? `${of.type} ${of.name ?? of.id ?? ''}`.trim() : '');
/** Client roles by clientId, as `client/role`. */
export const namesIn = (clientRoles: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(clientRoles).flatMap(([id, names]) => names.map((name) => `${id}/${name}`));
