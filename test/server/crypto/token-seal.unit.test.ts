import { expect, test } from 'vitest';
import { createTokenSeal } from '../../../server/crypto/token-seal.ts';

const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const before = createTokenSeal([old], 'sign-in');

test('a text opens with its token and in its context alone', () => {
  const { token, sealed } = before.seal('begun', 'acme');
  expect(before.open(token, sealed, 'acme')).toBe('begun');
  expect(before.open(token, sealed, 'other')).toBeUndefined();
  expect(before.open(before.seal('begun', 'acme').token, sealed, 'acme')).toBeUndefined();
});

test('every changed or missing byte keeps it shut', () => {
  const { token, sealed } = before.seal('begun', 'acme');
  const bytes = Buffer.from(sealed, 'base64url');
  for (let i = 0; i < bytes.length; i += 1) {
    const changed = Buffer.from(bytes);
    changed[i] = (changed[i] ?? 0) ^ 0x40;
    expect(before.open(token, changed.toString('base64url'), 'acme')).toBeUndefined();
    expect(before.open(token, bytes.subarray(0, i).toString('base64url'), 'acme')).toBeUndefined();
  }
});

test('after a rotation the old key still opens; when it is gone, nothing does', () => {
  const { token, sealed } = before.seal('begun', 'acme');
  expect(createTokenSeal([current, old], 'sign-in').open(token, sealed, 'acme')).toBe('begun');
  expect(createTokenSeal([current], 'sign-in').open(token, sealed, 'acme')).toBeUndefined();
});

test('another purpose has other keys', () => {
  const { token, sealed } = before.seal('begun', 'acme');
  expect(createTokenSeal([old], 'something else').open(token, sealed, 'acme')).toBeUndefined();
});
