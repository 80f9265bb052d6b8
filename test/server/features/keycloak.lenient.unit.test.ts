// Owns: reading a file's values field by field, apart from any realm: what is cut out of lists, and what stays.
// Does not own: whole exports (keycloak.broken.test.ts).
// Implements: docs/keycloak.md.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Indices, placeOf, readLeniently } from '../../../server/features/operations/transfer/keycloak/lenient.ts';

const Thing = z.object({ name: z.string(), kind: z.string(), size: z.number().optional(), words: z.array(z.string()) });
const Things = z.object({ things: z.array(Thing) });

function read(value: unknown) {
  const indices: Indices = new WeakMap();
  const told: string[] = [];
  const data = readLeniently(Things, value, { indices, tell: (path, why) => void told.push(`${path}: ${why}`) });
  return { data, told, placeOf: (list: object, i: number) => placeOf(indices, list, i) };
}

test('an object with several faults is cut out alone: its neighbours in the list keep all their fields', () => {
  const good = (name: string) => ({ name, kind: 'tool', size: 1, words: ['a'] });
  const lacksTwo = { size: 'large', words: ['b'] };
  const lacksOne = { kind: 5, size: 'small', words: [1] };
  const value = { things: [good('first'), lacksTwo, good('second'), lacksOne, good('third')] };
  const { data, told } = read(value);
  expect(data?.things).toEqual([good('first'), good('second'), good('third')]);
  const places = new Set(told.map((line) => /^things\[\d+\]/.exec(line)?.[0]));
  expect(places).toEqual(new Set(['things[1]', 'things[3]']));
});

test('elements that stay know their place in the file, also after a second round', () => {
  const value = { things: [5, { name: 'a', kind: 'tool', words: [1, 'x', 2, 'y'] }, null, { kind: 'tool' }] };
  const { data, placeOf: place } = read(value);
  expect(data?.things).toEqual([{ name: 'a', kind: 'tool', words: ['x', 'y'] }]);
  expect(place(value.things, 0)).toBe(1);
  const [left] = value.things;
  const words: unknown = Reflect.get(Object(left), 'words');
  expect([0, 1].map((i) => place(Object(words), i))).toEqual([1, 3]);
});

test('a long list in which every other element is broken loses these alone', () => {
  const things = Array.from({ length: 20_000 }, (_, i) =>
    i % 2 === 0 ? 5 : { name: `${i}`, kind: 'tool', words: [] },
  );
  const { data, told } = read({ things });
  expect(data?.things.map(({ name }) => Number(name))).toEqual(Array.from({ length: 10_000 }, (_, i) => 2 * i + 1));
  expect(told).toHaveLength(10_000);
  expect(told[1]).toMatch(/^things\[2\]: /);
});
