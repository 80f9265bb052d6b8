// Lengths of time as options take them: 30m, 4h, 7d.
import { DAY_MS, HOUR_MS } from '../server/contract/durations.ts';

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: HOUR_MS, d: DAY_MS };

/** In milliseconds; undefined: the text has another form. */
export function durationIn(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (units[unit] ?? 0);
}
