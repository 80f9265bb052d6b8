// How the bench prints what it found: a line per case as it comes, the same as JSON with `--json`.
import os from 'node:os';
import { type Case, type Goal, met, number, type Result } from './bench.ts';

export const goalText = ({ atLeast, atMost }: Goal): string =>
  atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast.toFixed(2)}`;

export function line({ title, goal }: Case, { ratio, figures, windows, quietWindows }: Result): string {
  const verdict = met(ratio, goal) ? 'met    ' : 'NOT met';
  const quiet =
    quietWindows === windows
      ? ''
      : quietWindows === 0
        ? `; NO QUIET WINDOW of ${windows}: take it as a hint`
        : `; ${quietWindows} of ${windows} windows quiet`;
  return `${number(ratio).padStart(6)}  ${verdict}  (${goalText(goal)})  ${title}\n        ${figures}${quiet}`;
}

export const heading = (pinned: boolean): string =>
  `${os.cpus()[0]?.model ?? 'unknown processor'}, ${os.availableParallelism()} cores, Node ${process.versions.node}` +
  `${pinned ? '' : '; nothing is pinned (no taskset): figures of one core are not comparable'}`;

export const asJson = ({ name, title, goal }: Case, result: Result) => ({
  name,
  title,
  goal,
  met: met(result.ratio, goal),
  ...result,
});
