import { expect, test } from 'vitest';
import { passwordFaults } from '../../../server/contract/password-rules.ts';

const person = { minLength: 12, username: 'ada.lovelace', email: 'ada.l@example.test' };

test.each<[string, boolean]>([
  ['a fine long password', true],
  ['elevenchars', false],
  ['twelve chars', true],
  ['🔑🔑🔑🔑🔑🔑', false],
  ['🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑', true],
  ['Ada.Lovelace', false],
  ['ADA.L@example.test', false],
  ['            ', false],
])('%j may be a password: %s', (password, fine) => {
  expect(passwordFaults(password, person).length === 0).toBe(fine);
});

test('someone without an address is compared by name alone', () => {
  expect(passwordFaults('undefined or null', { ...person, email: null })).toEqual([]);
});
