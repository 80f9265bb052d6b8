// docs/performance.md has the figures that the bench wrote, of every case and by the goals of today; each says where it is from.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { cases } from '../bench/cases.ts';
import { withFigures } from '../bench/figures.ts';

const document = readFileSync(path.resolve(import.meta.dirname, '../../docs/performance.md'), 'utf8');
const nothing = { commit: '', machine: '', day: '' };
const names = cases.map(({ name }) => name);

test('the table of figures is as the bench writes it: `npm run bench -- --write` mends it', () => {
  expect(document).toBe(withFigures(document, cases, nothing, new Map()));
});

test('every figure names its commit, its machine and its day', () => {
  const rows = document.split('\n').filter((row) => names.some((name) => row.startsWith(`| \`${name}\` | at `)));
  expect(rows).toHaveLength(names.length);
  const measured = rows.filter((row) => !row.includes('| not measured |'));
  for (const row of measured)
    expect(row).toMatch(/\| `[0-9a-f]{8}( with changes)?` \| \S.+ \| \d{4}-\d\d-\d\d \| \d+ of \d+ \|$/);
});

test('the page says of every case what stands beside it', () => {
  const [, beside = ''] = document.split('| Case | Beside |');
  const [table = ''] = beside.split('\n\n');
  expect(names.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});
