// The filters of the audit log: as the address has them, as the API and `realmctl` take them.
import { DAY_MS, HOUR_MS } from '../../../server/contract/durations.ts';
import { option as optionOf, word } from '../../kinds/shell-words.ts';
import type { Filters } from '../../ui/filters.ts';

export interface EventsQuery {
  type?: string;
  actor?: string;
  subject?: string;
  clientId?: string;
  userId?: string;
  ipAddress?: string;
  outcome?: (typeof outcomes)[number];
  /** Epoch milliseconds. */
  from?: number;
  to?: number;
}

/** The filters with texts of their own, by their names in the address and in the API. */
export const textFilters = [
  { name: 'actor', label: 'Done by', option: '--by' },
  { name: 'subject', label: 'Done to', option: '--on' },
  { name: 'clientId', label: 'Client ID', option: '--client' },
  { name: 'ipAddress', label: 'IP address', option: '--from' },
] as const;

export const outcomes = ['success', 'failure', 'denied'] as const;

/** Lengths of time that reach until now. */
export const periods: readonly { id: string; label: string; ms: number }[] = [
  { id: '1h', label: 'The last hour', ms: HOUR_MS },
  { id: '24h', label: 'The last 24 hours', ms: DAY_MS },
  { id: '7d', label: 'The last 7 days', ms: 7 * DAY_MS },
  { id: '30d', label: 'The last 30 days', ms: 30 * DAY_MS },
];

const names = [...textFilters.map(({ name }) => name), 'type', 'outcome', 'userId', 'period', 'from', 'to'];
export const isFiltered = ({ get }: Filters): boolean => names.some((name) => get(name) !== '');
export const withoutFilters = Object.fromEntries([...names, 'cursor', 'event'].map((name) => [name, undefined]));

/** @param now what a period of the address counts back from */
export function queryOf({ get }: Filters, now: number): EventsQuery {
  const texts = ['type', 'userId', ...textFilters.map(({ name }) => name)].flatMap((name) =>
    get(name) === '' ? [] : [[name, get(name)]],
  );
  const period = periods.find(({ id }) => id === get('period'));
  const outcome = outcomes.find((one) => one === get('outcome'));
  const from = period ? now - period.ms : Number(get('from'));
  const to = period ? 0 : Number(get('to'));
  return {
    ...Object.fromEntries(texts),
    ...(outcome && { outcome }),
    ...(from > 0 && { from }),
    ...(to > 0 && { to }),
  };
}

/** The same by `realmctl events`. */
export function realmctlEvents(realm: string, query: EventsQuery, follow: boolean): string {
  const options: readonly [option: `--${string}`, value: unknown][] = [
    ['--type', query.type],
    ...textFilters.map(({ name, option }): [`--${string}`, unknown] => [option, query[name]]),
    ['--user', query.userId],
    ['--outcome', query.outcome],
    ['--since', query.from && new Date(query.from).toISOString()],
    ['--until', query.to && new Date(query.to).toISOString()],
  ];
  return [
    `realmctl events -r ${word(realm)}`,
    ...(follow ? ['--follow'] : []),
    ...options.flatMap(([option, value]) => (value === undefined ? [] : [optionOf(option, String(value))])),
  ].join(' ');
}
