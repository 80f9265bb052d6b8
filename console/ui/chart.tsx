// A chart with its title, a legend that has the counts, and the same as a table. Its drawing is loaded when it is shown.
import { lazy, Suspense, useState } from 'react';
import type { Tone } from './plot.tsx';
import { Loading } from './state.tsx';

const Plot = lazy(() => import('./plot.tsx'));

export interface ChartSeries {
  label: string;
  tone: Tone;
  total: number;
  values: readonly number[];
}

const hours = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });
const inWords = (ms: number, step: 'hour' | 'day') => (step === 'day' ? `${days.format(ms)} (UTC)` : hours.format(ms));

export const countWords = (count: number): string => count.toLocaleString('en');

export function Chart({
  title,
  step,
  times,
  series,
  empty,
  level = 3,
}: {
  title: string;
  step: 'hour' | 'day';
  times: readonly number[];
  series: readonly ChartSeries[];
  /** The text if nothing was counted. */
  empty: string;
  /** Of the title among the page's headings. */
  level?: 2 | 3;
}) {
  const [place, setPlace] = useState<number>();
  const at = place === undefined ? undefined : times[place];
  const Heading = `h${level}` as const;
  const isEmpty = series.every(({ total }) => total === 0);
  return (
    <figure className="chart" aria-label={title}>
      <figcaption>
        <Heading>{title}</Heading>
        <span className="soft">{at === undefined ? '' : inWords(at, step)}</span>
      </figcaption>
      {isEmpty ? (
        <p className="nothing">{empty}</p>
      ) : (
        <>
          <ul className="legend">
            {series.map(({ label, tone, total, values }) => (
              <li key={label}>
                <span className={`tone tone-${tone}`} />
                <bdi>{label}</bdi> <b>{countWords(place === undefined ? total : (values[place] ?? 0))}</b>
              </li>
            ))}
          </ul>
          <div aria-hidden="true">
            <Suspense fallback={<Loading lines={4} />}>
              <Plot times={times} series={series} step={step} onPoint={setPlace} />
            </Suspense>
          </div>
          <details>
            <summary>{`${title} as a table`}</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reached by the keyboard */}
            <section className="chart-table" aria-label={`${title} as a table`} tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{step === 'day' ? 'day' : 'hour'}</th>
                    {series.map(({ label }) => (
                      <th scope="col" key={label}>
                        <bdi>{label}</bdi>
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {times.map((ms, i) => (
                    <tr key={ms}>
                      <th scope="row">{inWords(ms, step)}</th>
                      {series.map(({ label, values }) => (
                        <td key={label}>{countWords(values[i] ?? 0)}</td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          </details>
        </>
      )}
    </figure>
  );
}
