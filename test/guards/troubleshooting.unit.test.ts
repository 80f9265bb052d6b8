// docs/troubleshooting.md has a paragraph for every reason that the operator can write, and for no other.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { conditionReasons, eventReasons } from '../../operator/runtime/reasons.ts';

const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8');
const sections = new Map(
  text
    .split(/^(?=#{2,3} )/m)
    .filter((part) => part.startsWith('### '))
    .map((part) => [part.slice(4, part.indexOf('\n')).trim(), part.slice(part.indexOf('\n')).trim()]),
);
const reasons = [...conditionReasons, ...eventReasons];

test.each(reasons)('%s is explained: what it means, and what to do', (reason) => {
  expect(sections.get(reason)?.length ?? 0).toBeGreaterThan(100);
});

test('no reason is explained that nobody writes any more, or twice', () => {
  expect([...sections.keys()].sort()).toEqual([...reasons].sort());
  expect(new Set(reasons).size).toBe(reasons.length);
});
