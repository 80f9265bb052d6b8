// A line chart by uPlot, which draws on a canvas (chart.tsx loads it when it is shown, and says the same as a table).
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

export type Tone = 'main' | 'good' | 'warn' | 'bad' | 'other' | 'soft';

export interface PlotProps {
  /** The beginning of each step, in milliseconds. */
  times: readonly number[];
  series: readonly { label: string; tone: Tone; values: readonly number[] }[];
  /** Days are days in UTC. */
  step: 'hour' | 'day';
  /** Called with the place of the step under the pointer; undefined: there is none. */
  onPoint(place: number | undefined): void;
}

const HEIGHT = 180;
const colours: Record<Tone, string> = {
  main: '--link',
  good: '--good',
  warn: '--warn',
  bad: '--bad',
  other: '--chart-other',
  soft: '--soft',
};
/** Whole numbers alone: there is no half sign-in. */
const INCREMENTS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();
const counted = new Intl.NumberFormat('en', { notation: 'compact' });

export default function Plot({ times, series, step, onPoint }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const pointed = useRef(onPoint);
  pointed.current = onPoint;
  const shown = JSON.stringify(series.map(({ label, tone }) => [label, tone]));
  const plot = useRef<uPlot>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other counts come in below; only other series build the chart anew
  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const colourOf = (name: string) => () => getComputedStyle(parent).getPropertyValue(name).trim();
    const axis: uPlot.Axis = {
      stroke: colourOf('--soft'),
      font: '12px system-ui, sans-serif',
      grid: { stroke: colourOf('--edge'), width: 1 },
      ticks: { show: false },
    };
    const made = new uPlot(
      {
        width: Math.max(parent.clientWidth, 1),
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, y: false },
        ...(step === 'day' && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
        scales: { y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] } },
        axes: [
          { ...axis, grid: { show: false } },
          {
            ...axis,
            size: 44,
            incrs: INCREMENTS,
            values: (_, ticks) => ticks.map((tick) => counted.format(tick)),
          },
        ],
        series: [
          {},
          ...series.map(({ label, tone }) => ({
            label,
            stroke: colourOf(colours[tone]),
            width: 2,
            points: { show: false },
          })),
        ],
        hooks: {
          setCursor: [({ cursor: { idx } }) => pointed.current(idx ?? undefined)],
        },
      },
      dataOf(times, series),
      parent,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: Math.max(parent.clientWidth, 1), height: HEIGHT }));
    resized.observe(parent);
    const redraw = () => made.redraw(false, false);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener('change', redraw);
      made.destroy();
      plot.current = null;
    };
  }, [shown, step]);

  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series]);
  // a chart reads from left to right in every language
  return <div className="plot" dir="ltr" ref={place} />;
}

const dataOf = (times: PlotProps['times'], series: PlotProps['series']): uPlot.AlignedData => [
  times.map((ms) => ms / 1000),
  ...series.map(({ values }) => times.map((_, i) => values[i] ?? 0)),
];
