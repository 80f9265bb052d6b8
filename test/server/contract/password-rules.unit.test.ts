import { expect, test } from 'vitest';
import { passwordFaults } from '../../../server/contract/password-rules.ts';
import { inEnglish } from '../../../server/contract/phrases.ts';
import { freshSettings } from '../../../server/contract/settings.ts';

const person = { username: 'ada.lovelace', email: 'ada.l@example.test' };
const rules = freshSettings('acme');
const strict = {
  ...rules,
  passwordRequireLowercase: true,
  passwordRequireUppercase: true,
  passwordRequireDigit: true,
  passwordRequireSymbol: true,
  passwordBlocklist: ['Acme', 'qwertz'],
};

test.each<[string, boolean]>([
  ['a fine long password', true],
  ['elevenchars', false],
  ['twelve chars', true],
  ['🔑🔑🔑🔑🔑🔑', false],
  ['🔑🗝️🚪🏠🌂🌧️🧦🍋🐙🎈', true],
  ['🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑', false],
  ['Ada.Lovelace', false],
  ['ADA.L@example.test', false],
  ['            ', false],
])('%j may be a password: %s', (password, fine) => {
  expect(passwordFaults(password, rules, person).length === 0).toBe(fine);
});

test('someone without an address is compared by name alone', () => {
  expect(passwordFaults('undefined or null', rules, { ...person, email: null })).toEqual([]);
});

test.each<[string, string[]]>([
  ['Umbrellas: 3 wet', []],
  ['Ümläütß: ٣ wét', []],
  ['umbrellas: 3 wet', ['must have an upper-case letter']],
  ['UMBRELLAS: 3 WET', ['must have a lower-case letter']],
  ['Umbrellas: some wet', ['must have a digit']],
  ['Umbrellas 3 wet ones', ['must have a sign that is neither letter nor digit']],
  ['Umbrellas: 3 of ACME', ['must not contain a word that is not allowed here']],
  ['x', ['characters', 'upper-case', 'digit', 'sign'].map((word) => expect.stringContaining(word))],
])('where every kind of character is asked for, of %j is said %j', (password, faults) => {
  expect(passwordFaults(password, strict, person).map(inEnglish)).toEqual(faults);
});

test.each(['', ' '.repeat(20)])('of %j is said that it is blank, and nothing else', (password) => {
  const faults = passwordFaults(password, strict, { username: '', email: '' });
  expect(faults.map(inEnglish)).toEqual(['must not be blank']);
});
