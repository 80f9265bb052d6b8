// Formats single values for columns and for `describe`.
import type { Party } from '../server/contract/events.ts';

export const yes = (value: boolean): string => (value ? 'yes' : 'no');
export const list = (values: readonly string[]): string => values.join(', ');
export const text = (value: string | null): string => value ?? '';
/** `2026-11-21T13:34:05Z`: sortable, and independent of the reader's time zone. */
export const time = (ms: number | null): string => (ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19)}Z`);
export const party = (of: Party | null): string => (of ? `${of.type} ${of.name ?? of.id ?? ''}`.trim() : '');
/** Client roles by clientId, as `client/role`. */
export const namesIn = (clientRoles: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(clientRoles).flatMap(([id, names]) => names.map((name) => `${id}/${name}`));
