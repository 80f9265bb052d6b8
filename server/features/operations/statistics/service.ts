// A realm's statistics as the API answers them: series by the hour or the day, totals beside those of the period before.
import { DAY_MS, HOUR_MS } from '../../../contract/durations.ts';
import { Problem } from '../../../contract/problem.ts';
import {
  type ClientStatistics,
  type CountedThing,
  type KeyedSeries,
  MOST_STEPS,
  type Series,
  type Statistics,
  type Step,
  type ThingCount,
} from '../../../contract/statistics.ts';
import type { Sql } from '../../../db/sql.ts';
import * as store from './store.ts';

const STEP_MS = { hour: HOUR_MS, day: DAY_MS } as const satisfies Record<Step, number>;
/** Steps of an answer whose request names no beginning. */
const USUAL_STEPS = { hour: 24, day: 30 } as const satisfies Record<Step, number>;
const MOST_KEYS = 20;
/** Beyond this many rows the number is estimated. */
const MOST_COUNTED = 2_000;
const SHOWN: readonly store.Kind[] = ['sign-in', 'failure', 'risk', 'token', 'delivery'];

/** The query of a period. */
interface SpanQuery {
  step: Step;
  from?: number | undefined;
  to?: number | undefined;
}
interface Span {
  step: Step;
  from: number;
  to: number;
  /** The beginning of the period of the same length before; undefined: it is not counted as a whole. */
  before: number | undefined;
}

const wrong = (message: string) =>
  new Problem('invalid-request', `from: ${message}`, { errors: [{ path: 'from', message }] });

function spanOf({ step, from, to }: SpanQuery, at: number, countedSince: number | undefined): Span {
  const length = STEP_MS[step];
  const end = Math.ceil((to ?? at) / length) * length;
  const begin = from === undefined ? end - USUAL_STEPS[step] * length : Math.floor(from / length) * length;
  if (begin >= end) throw wrong('must be before `to`');
  const most = MOST_STEPS[step];
  if ((end - begin) / length > most) throw wrong(`at most ${most} ${step}s before \`to\``);
  const before = begin - (end - begin);
  const isKept = before >= at - most * length && countedSince !== undefined && before >= countedSince;
  return { step, from: begin, to: end, before: isKept ? before : undefined };
}

const timesOf = ({ step, from, to }: Span): number[] =>
  Array.from({ length: (to - from) / STEP_MS[step] }, (_, i) => from + i * STEP_MS[step]);

function seriesOf(rows: readonly store.CountRow[], span: Span): Series {
  const values = timesOf(span).map(() => 0);
  let [total, previous] = [0, 0];
  for (const row of rows) {
    total += row.total;
    previous += row.previous;
    row.times.forEach((seconds, i) => {
      const place = (seconds * 1000 - span.from) / STEP_MS[span.step];
      values[place] = (values[place] ?? 0) + (row.counts[i] ?? 0);
    });
  }
  return { total, previous: span.before === undefined ? null : previous, values };
}

/** The most frequent keys by themselves, all others together. */
function keyedSeriesOf(rows: readonly store.CountRow[], span: Span): KeyedSeries {
  const named = rows
    .filter(({ key }) => key !== store.OTHERS)
    .sort((a, b) => b.total - a.total || b.previous - a.previous || (a.key < b.key ? -1 : 1));
  const first = named.slice(0, MOST_KEYS);
  const others = rows.filter((row) => !first.includes(row));
  const by: KeyedSeries['by'] = first.map((row) => ({ key: row.key, ...seriesOf([row], span) }));
  if (others.length > 0) by.push({ key: null, ...seriesOf(others, span) });
  return { ...seriesOf(rows, span), by };
}

/** A period of hours, as the whole days in it and the hours at its ends: counts of clients are many. */
function partsOf({ step, from, to }: { step: Step; from: number; to: number }, current: boolean): store.Part[] {
  const part = (by: Step, begin: number, end: number): store.Part[] =>
    begin < end ? [{ step: by, from: new Date(begin), to: new Date(end), current }] : [];
  const firstDay = Math.ceil(from / DAY_MS) * DAY_MS;
  const lastDay = Math.floor(to / DAY_MS) * DAY_MS;
  if (step === 'day' || firstDay >= lastDay) return part(step, from, to);
  return [...part('hour', from, firstDay), ...part('day', firstDay, lastDay), ...part('hour', lastDay, to)];
}

export function createStatistics({ sql, now }: { sql: Sql; now: () => Date }) {
  const sinceOf = async (realm: string, kinds: readonly store.Kind[]) =>
    (await store.countedSince(sql, realm, kinds))?.getTime();

  return {
    async ofRealm(realm: string, asked: SpanQuery): Promise<Statistics> {
      const countedSince = await sinceOf(realm, SHOWN);
      const span = spanOf(asked, now().getTime(), countedSince);
      const { step, from, to, before = from } = span;
      const rows = await store.read(sql, realm, {
        step,
        kinds: SHOWN,
        since: new Date(before),
        from: new Date(from),
        to: new Date(to),
      });
      const of = (kind: store.Kind) => rows.filter((row) => row.kind === kind);
      return {
        step,
        from,
        to,
        countedSince: countedSince ?? null,
        times: timesOf(span),
        signIns: seriesOf(of('sign-in'), span),
        failures: keyedSeriesOf(of('failure'), span),
        risks: keyedSeriesOf(of('risk'), span),
        tokens: seriesOf(of('token'), span),
        deliveries: keyedSeriesOf(of('delivery'), span),
      };
    },

    async ofClients(realm: string, { limit, ...asked }: SpanQuery & { limit: number }): Promise<ClientStatistics> {
      const span = spanOf(asked, now().getTime(), await sinceOf(realm, ['client']));
      const { step, from, to, before } = span;
      const parts = partsOf(span, true);
      if (before !== undefined) parts.push(...partsOf({ step, from: before, to: from }, false));
      const rows = await store.top(sql, realm, parts, { kind: 'client', limit });
      const previousOf = (count: number) => (before === undefined ? null : count);
      const clients = rows.flatMap(({ key, total, previous }) =>
        key === null ? [] : [{ clientId: key, total, previous: previousOf(previous) }],
      );
      const { total, previous } = rows.find(({ key }) => key === null) ?? { total: 0, previous: 0 };
      const others = total - clients.reduce((sum, client) => sum + client.total, 0);
      return { step, from, to, total, previous: previousOf(previous), clients, others };
    },

    async counts(realm: string, things: readonly CountedThing[]): Promise<ThingCount[]> {
      const found: ThingCount[] = [];
      for (const thing of things) {
        const counted = await store.countUpTo(sql, thing, realm, MOST_COUNTED + 1);
        const estimated = counted > MOST_COUNTED;
        const count = estimated ? Math.max(counted, await store.estimate(sql, thing, realm)) : counted;
        found.push({ thing, count, estimated });
      }
      return found;
    },
  };
}
export type StatisticsService = ReturnType<typeof createStatistics>;
