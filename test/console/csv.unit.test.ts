// Owns: cells of exported files: a spreadsheet runs nothing of the names of users and applications.
// Does not own: the export itself (audit.test.ts).
import { expect, test } from 'vitest';
import { csvOf } from '../../console/ui/csv.ts';

const lineOf = (...cells: unknown[]) => csvOf([], [cells]).split('\r\n').slice(1, -1).join('\r\n');

test('no cell begins a formula, in a spreadsheet that divides by commas, semicolons or tabs', () => {
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1+1', "a;=cmd|' /C calc'!A0", 'a\t=1', 'a\n=1'];
  for (const text of formulas)
    for (const divider of [/,/, /;/, /\t/])
      for (const cell of lineOf('first', text)
        .split(divider)
        .flatMap((one) => one.split(/[\r\n]/)))
        expect(cell.replace(/^"/, ''), JSON.stringify(text)).not.toMatch(/^[=+\-@＝＋－＠]/);
});

test('other texts stay as they are', () => {
  expect(lineOf('ana', 'a, b', 'say "x"', 'a;b', 'x=1', null, { a: 1 })).toBe(
    'ana,"a, b","say ""x""",a;b,x=1,,"{""a"":1}"',
  );
});
