// The periods of statistics, as the address has them (`?period=`).
import { useMemo } from 'react';
import { DAY_MS, HOUR_MS } from '../../../server/contract/durations.ts';

export const periods = [
  { id: '24h', label: '24 hours', step: 'hour', steps: 24 },
  { id: '7d', label: '7 days', step: 'hour', steps: 7 * 24 },
  { id: '30d', label: '30 days', step: 'day', steps: 30 },
  { id: '90d', label: '90 days', step: 'day', steps: 90 },
  { id: '12m', label: '12 months', step: 'day', steps: 365 },
] as const;
export type Period = (typeof periods)[number];

/** The first one without a period in the address, or with an unknown one. */
export const periodOf = (id: string): Period => periods.find((one) => one.id === id) ?? periods[0];

/** The query of a period up to now. It stays the same until the next step begins, so that one answer serves all that ask. */
export function useSpan({ step, steps }: Period): { step: Period['step']; from: number; to: number } {
  const length = step === 'day' ? DAY_MS : HOUR_MS;
  const to = (Math.floor(Date.now() / length) + 1) * length;
  return useMemo(() => ({ step, from: to - steps * length, to }), [step, steps, length, to]);
}
