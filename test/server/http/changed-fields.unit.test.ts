import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedFields } from '../../../server/http/changed-fields.ts';

test('names the fields whose value differs', () => {
  expect(changedFields({ a: 1, b: [1, 2], c: { x: 1, y: 2 } }, { a: 1, b: [2, 1], c: { y: 2, x: 1 } })).toEqual(['b']);
});

test('nothing differs from its own copy, whatever the order of keys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (fields) => {
      const turned = Object.fromEntries(Object.entries(structuredClone(fields)).reverse());
      expect(changedFields(fields, turned)).toEqual([]);
    }),
  );
});
