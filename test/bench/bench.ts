// Owns: what a case is, and how its windows are taken: between two looks at its yardstick, round by round, medians.
// Does not own: the cases (cases/), the processes (processes.ts), how it is printed (report.ts).
// Implements: the method of docs/performance.md: a ratio in the same run on the same cores, and whether it was quiet.
import type { Target } from './target.ts';

export interface Goal {
  atLeast?: number;
  atMost?: number;
}

/** One measurement beside its yardstick. */
export interface Window {
  ratio: number;
  /** The yardstick before and after differ by at most a tenth. */
  quiet: boolean;
  measured: number;
  yardstick: number;
}

export interface Result {
  /** Of the quiet windows, or of all where none was quiet. */
  ratio: number;
  windows: number;
  quietWindows: number;
  /** What lies behind it, in words. */
  figures: string;
}

export interface Case {
  /** For `--only`. */
  name: string;
  title: string;
  goal: Goal;
  run(bench: Bench): Promise<Result>;
}

export interface Bench {
  rounds: number;
  /** Seconds of a window; `quick` runs have shorter ones. */
  seconds: number;
  quick: boolean;
  /** The server under test on its durable database, started when first asked for. */
  target(): Promise<Target>;
  /** Lets a process run on these cores alone; does nothing where that can't be done. `undefined`: on all. */
  pin(pid: number, core: 0 | 1 | undefined): Promise<void>;
  pinned: boolean;
  say(line: string): void;
}

export const median = (list: readonly number[]): number => {
  const sorted = list.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return (upper + lower) / 2;
};

const QUIET = 0.1;

/** Takes `rounds` windows: yardstick, measure, yardstick, measure, …, yardstick. Both give a figure of the same kind. */
export async function windows(
  rounds: number,
  yardstick: () => Promise<number>,
  measure: () => Promise<number>,
): Promise<Window[]> {
  const taken: Window[] = [];
  let before = await yardstick();
  for (let round = 0; round < rounds; round += 1) {
    const measured = await measure();
    const after = await yardstick();
    const mean = (before + after) / 2;
    const quiet = Math.abs(before - after) <= QUIET * Math.max(before, after);
    taken.push({ ratio: measured / mean, quiet, measured, yardstick: mean });
    before = after;
  }
  return taken;
}

/** @param figures in words, from the median measurement and yardstick of the windows that count */
export function resultOf(taken: readonly Window[], figures: (measured: number, yardstick: number) => string): Result {
  const quiet = taken.filter((window) => window.quiet);
  const counted = quiet.length > 0 ? quiet : taken;
  const of = (what: 'ratio' | 'measured' | 'yardstick') => median(counted.map((window) => window[what]));
  return {
    ratio: of('ratio'),
    windows: taken.length,
    quietWindows: quiet.length,
    figures: figures(of('measured'), of('yardstick')),
  };
}

export const met = (ratio: number, { atLeast, atMost }: Goal): boolean =>
  (atLeast === undefined || ratio >= atLeast) && (atMost === undefined || ratio <= atMost);

/** 12,345 or 12.3 or 0.12, as many digits as one reads. */
export const number = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 });
