// What the bench writes into docs/performance.md.
import { expect, test } from 'vitest';
import { BEGIN, END, withFigures } from './figures.ts';

const empty = `# Performance\n\nBy hand.\n\n${BEGIN}\n${END}\n\nBy hand, too.\n`;
const cases = [
  { name: 'token', goal: { atLeast: 0.78 } },
  { name: 'start', goal: { atMost: 8 } },
];
const run = { commit: 'ca21a71c', machine: 'some processor, 2 cores, Node 24', day: '2026-11-26' };
const result = (ratio: number) => ({ ratio, windows: 5, quietWindows: 4, figures: '2,871/s of 3,976' });
const rowsOf = (document: string) => document.split('\n').filter((row) => row.startsWith('| `'));

test('a figure carries its commit, machine, day and windows, and whether it meets the goal', () => {
  const written = withFigures(empty, cases, run, new Map([['token', result(0.734)]]));
  expect(rowsOf(written)).toEqual([
    '| `token` | at least 0.78 | 0.73 | no | 2,871/s of 3,976 | `ca21a71c` | some processor, 2 cores, Node 24 | 2026-11-26 | 4 of 5 |',
    '| `start` | at most 8 | not measured |  |  |  |  |  |  |',
  ]);
});

test('what stands around the figures is left as it is', () => {
  const written = withFigures(empty, cases, run, new Map());
  expect(written.startsWith('# Performance\n\nBy hand.\n')).toBe(true);
  expect(written.endsWith('\nBy hand, too.\n')).toBe(true);
});

test('a case that did not run keeps its figure with its commit, judged by the goal of today', () => {
  const first = withFigures(empty, cases, run, new Map([['token', result(0.73)]]));
  const lower = [{ name: 'token', goal: { atLeast: 0.7 } }, ...cases.slice(1)];
  const later = { ...run, commit: '00000000' };
  const second = withFigures(first, lower, later, new Map([['start', result(7.1)]]));
  expect(rowsOf(second)).toEqual([
    '| `token` | at least 0.70 | 0.73 | yes | 2,871/s of 3,976 | `ca21a71c` | some processor, 2 cores, Node 24 | 2026-11-26 | 4 of 5 |',
    '| `start` | at most 8 | 7.1 | yes | 2,871/s of 3,976 | `00000000` | some processor, 2 cores, Node 24 | 2026-11-26 | 4 of 5 |',
  ]);
  expect(withFigures(second, lower, run, new Map())).toBe(second);
});

test('a document without the marks is refused', () => {
  expect(() => withFigures('# Performance\n', cases, run, new Map())).toThrow('lacks the line');
});
