import { expect, test } from 'vitest';
import { inScheme } from '../../../server/features/operations/page-preview/document.ts';

test.each([
  ['@media (prefers-color-scheme: dark){a{}}', '@media (min-width:0){a{}}'],
  ['@media ( PREFERS-color-scheme :light){a{}}', '@media (max-width:0){a{}}'],
  ['a::after{content:"(prefers-color-scheme: dark)"}', 'a::after{content:"(prefers-color-scheme: dark)"}'],
  ["a::after{content:'\\'(prefers-color-scheme: dark)'}", "a::after{content:'\\'(prefers-color-scheme: dark)'}"],
  ['/* (prefers-color-scheme: dark) */', '/* (prefers-color-scheme: dark) */'],
  ['/* (prefers-color-scheme: dark)', '/* (prefers-color-scheme: dark)'],
  ['a{content:"no end\n}@media (prefers-color-scheme: dark){}', 'a{content:"no end\n}@media (min-width:0){}'],
])('%j for readers of dark pages is %j', (css, dark) => {
  expect(inScheme(css, 'dark')).toBe(`${dark}\n:root{color-scheme:dark}`);
});

const LENGTH = 200_000;
const milliseconds = (css: string): number => {
  const began = performance.now();
  inScheme(css, 'dark');
  return performance.now() - began;
};

test.each(['"\\', "'\\", '\\"', '/*', '(', '( ', '(prefers-color-scheme', '"\n'])(
  'a style sheet of %j alone is read once, however long it is',
  (unit) => {
    const plain = Math.max(milliseconds('a{} '.repeat(LENGTH / 4)), 1);
    for (const end of ['', '\\']) {
      const css = unit.repeat(LENGTH / unit.length) + end;
      expect(milliseconds(css) / plain).toBeLessThan(200);
    }
  },
);
