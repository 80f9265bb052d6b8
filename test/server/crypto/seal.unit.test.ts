import { expect, test } from 'vitest';
import { createSeal } from '../../../server/crypto/seal.ts';

const seal = createSeal([Buffer.alloc(32, 1)]);
const TAG_AT = 17;

test('a text opens in its context alone', () => {
  const sealed = seal.seal('secret', 'webhook:acme:1');
  expect(seal.open(sealed, 'webhook:acme:1').toString()).toBe('secret');
  expect(() => seal.open(sealed, 'webhook:acme:2')).toThrow();
});

test.each([4, 8, 12, 15])('an empty text with a tag of %i bytes stays shut', (bytes) => {
  const sealed = seal.seal('', 'a');
  expect(seal.open(sealed, 'a')).toHaveLength(0);
  expect(() => seal.open(sealed.subarray(0, TAG_AT + bytes), 'a')).toThrow();
});
