// docs/performance.md has the figures that the bench wrote, of every case and by the goals of today; each says where it is from.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { cases } from '../bench/cases.ts';
import { BEGIN, END, SCALE, withFigures } from '../bench/figures.ts';
import { scaleCases } from '../bench/scale/cases.ts';

const document = readFileSync(path.resolve(import.meta.dirname, '../../docs/performance.md'), 'utf8');
const nothing = { commit: '', machine: '', day: '' };
const names = cases.map(({ name }) => name);

test('the table of figures is as the bench writes it: `npm run bench -- --write` mends it', () => {
  expect(document).toBe(withFigures(document, cases, nothing, new Map()));
});

test('the table of growth is as the bench writes it: `npm run bench:scale -- --write` mends it', () => {
  expect(document).toBe(withFigures(document, scaleCases, nothing, new Map(), SCALE));
});

test('every figure names its commit, its machine and its day', () => {
  const measuredIn = (begin: string, end: string, count: number) => {
    const part = document.slice(document.indexOf(begin), document.indexOf(end));
    const rows = part.split('\n').filter((row) => row.startsWith('| `'));
    expect(rows).toHaveLength(count);
    return rows.filter((row) => !row.includes('| not measured |'));
  };
  const from = String.raw`\| \`[0-9a-f]{8}( with changes)?\` \| \S.+ \| \d{4}-\d\d-\d\d`;
  for (const row of measuredIn(BEGIN, END, cases.length))
    expect(row).toMatch(new RegExp(String.raw`${from} \| \d+ of \d+ \|$`));
  for (const row of measuredIn(SCALE.begin, SCALE.end, scaleCases.length))
    expect(row).toMatch(new RegExp(`${from} \\|$`));
});

test('the page says of every case what stands beside it', () => {
  const [, beside = ''] = document.split('| Case | Beside |');
  const [table = ''] = beside.split('\n\n');
  expect(names.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});
