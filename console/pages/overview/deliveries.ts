// The series of webhook deliveries: tries by their outcome.
import type { OutputOf } from '../../api/client.ts';
import type { getStatistics } from '../../generated/routes.ts';
import type { ChartSeries } from '../../ui/chart.tsx';

type Statistics = OutputOf<typeof getStatistics>;

/** One key of a series; without a count its values are all zero. */
export const ofKey = ({ by, previous }: Statistics['failures'], key: string) =>
  by.find((one) => one.key === key) ?? { total: 0, previous: previous === null ? null : 0, values: [] };

const outcomes = [
  { key: 'succeeded', label: 'arrived', tone: 'good' },
  { key: 'retrying', label: 'tried again', tone: 'warn' },
  { key: 'dead', label: 'given up', tone: 'bad' },
] as const;

export const deliverySeries = (deliveries: Statistics['deliveries']): ChartSeries[] =>
  outcomes.map(({ key, label, tone }) => {
    const { total, values } = ofKey(deliveries, key);
    return { label, tone, total, values };
  });
