import { expect, test } from 'vitest';
import { createRecentlyUsed } from '../../../server/schedule/recently-used.ts';

test('a value is made once, and again only after it was forgotten', () => {
  const made: string[] = [];
  const recent = createRecentlyUsed<string>({ most: 2 });
  const get = (key: string) =>
    recent.get(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
  expect([get('a'), get('a'), get('b'), get('a'), get('c')]).toEqual(['A', 'A', 'B', 'A', 'C']);
  expect(made).toEqual(['a', 'b', 'c']);
  // `b` was used longest ago when `c` came
  get('a');
  get('b');
  expect(made).toEqual(['a', 'b', 'c', 'b']);
});

test('values are forgotten once they are too large together, but never the one that was asked for', () => {
  const made: string[] = [];
  const recent = createRecentlyUsed<string>({ most: 10, largest: 5, size: ({ length }) => length });
  const get = (key: string) =>
    recent.get(key, () => {
      made.push(key);
      return key;
    });
  for (const key of ['aa', 'bb', 'c', 'dd', 'bb', 'c', 'dd', 'aa', 'larger than all', 'larger than all']) get(key);
  expect(made).toEqual(['aa', 'bb', 'c', 'dd', 'aa', 'larger than all']);
});
