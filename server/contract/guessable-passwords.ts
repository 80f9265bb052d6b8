// Rules against passwords that are easy to guess: characters that follow from earlier ones, and the user's own names.
// Pure. features/people/credentials/common-passwords.ts finds common passwords. Decisions "Guessable passwords".
import { type Phrase, phrase } from './phrases.ts';

/** The user whose password it is, by name. */
export interface PasswordOwner {
  username: string;
  email: string | null;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
}

/** The most characters of a password that are judged. */
const JUDGED = 128;
/** The fewest characters that don't follow from others: a password with fewer is refused, however long it is. */
const LEAST_FREE = 6;
const LEAST_DIFFERENT = 5;
/** The characters besides a name or a common password must have at least this weight; a digit counts half. */
export const LEAST_BESIDE = 8;

const reversed = (text: string): string => [...text].reverse().join('');
const twice = (text: string): string => text + text;
/** Alphabets, and keyboards' rows and columns. */
const rows = [
  twice('0123456789'),
  twice('abcdefghijklmnopqrstuvwxyz'),
  twice('абвгдежзийклмнопрстуфхцчшщъыьэюя'),
  twice('αβγδεζηθικλμνξοπρστυφχψω'),
  '1234567890',
  '!@#$%^&*()',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiopü',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  'йцукенгшщзхъ',
  'фывапролджэ',
  'ячсмитьбю',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'zaqxswcdevfrbgtnhymjukilop',
];
const SHORTEST_RUN = 3;

/** Letters of other alphabets that look like Latin ones. */
const lookAlikes = new Map(
  [
    'аa',
    'еe',
    'оo',
    'рp',
    'сc',
    'уy',
    'хx',
    'іi',
    'ѕs',
    'јj',
    'ԁd',
    'һh',
    'кk',
    'αa',
    'οo',
    'νv',
    'ρp',
    'ιi',
    'κk',
    'υu',
  ].map(([sign = '', latin = '']) => [sign, latin] as const),
);
/** The digit that a character of any script stands for: each script has ten in a row. */
function asciiDigit(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}
/** The text as a reader sees it: without accents and invisible marks, and with other scripts' digits and look-alikes replaced. */
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f\p{Cf}]/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/\P{ASCII}/gu, (sign) => lookAlikes.get(sign) ?? (/\p{Nd}/u.test(sign) ? asciiDigit(sign) : sign));

/** The judged characters; a single character of some scripts becomes several. */
export const foldedPassword = (password: string): string[] => {
  const some = password.slice(0, 4 * JUDGED);
  return [...(/\P{ASCII}/u.test(some) ? plain(some) : some.toLowerCase())].slice(0, JUDGED);
};
const walks = rows.map((row) => foldedPassword(row).join('')).flatMap((row) => [row, reversed(row)]);

/** Usual replacements of letters; each replaces one character by one. */
const disguises = [
  { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '@': 'a', $: 's', '!': 'i' },
  { '0': 'o', '1': 'l', '3': 'e', '4': 'a', '5': 's', '7': 't', '9': 'g', '@': 'a', $: 's', '!': 'l', '|': 'l' },
].map((of) => new Map<string, string>(Object.entries(of)));
/** The characters unchanged, and with the replacements undone. */
export const readings = (signs: readonly string[]): string[][] => [
  [...signs],
  ...disguises.map((letters) => signs.map((sign) => letters.get(sign) ?? sign)),
];

/** For each index: whether the character follows from earlier ones, as in aaa, abc, 321, qwe, aabbcc, or xyxy. */
export function followingSigns(signs: readonly string[]): boolean[] {
  const follows = signs.map(() => false);
  const mark = (from: number, to: number) => follows.fill(true, from, to);
  // The indices at which a character differs from the one before.
  const begins = signs.flatMap((sign, i) => (sign === signs[i - 1] ? [] : [i]));
  const endOf = (n: number): number => begins[n] ?? signs.length;
  for (const [n, from] of begins.entries()) if (endOf(n + 1) - from >= SHORTEST_RUN) mark(from + 1, endOf(n + 1));
  for (let n = 0; n < begins.length; ) {
    const walkTo = (to: number) =>
      begins
        .slice(n, to)
        .map((i) => signs[i])
        .join('');
    let end = n + 1;
    while (end < begins.length && walks.some((walk) => walk.includes(walkTo(end + 1)))) end += 1;
    if (end - n >= SHORTEST_RUN) mark((begins[n] ?? 0) + 1, endOf(end));
    n = end - n >= SHORTEST_RUN ? end : n + 1;
  }
  for (let size = 2; size <= signs.length / 2; size += 1) {
    let same = 0;
    for (let i = size; i <= signs.length; i += 1) {
      if (i < signs.length && signs[i] === signs[i - size]) same += 1;
      else {
        if (same >= size) mark(i - same, i);
        same = 0;
      }
    }
  }
  return follows;
}

/** The weight of characters: those that follow from others count nothing, digits half. */
export function weightOf(signs: readonly string[], isCounted: (at: number) => boolean = () => true): number {
  const follows = followingSigns(signs);
  return signs.reduce((sum, sign, i) => {
    if (follows[i] || !isCounted(i)) return sum;
    return sum + (/\p{Nd}/u.test(sign) ? 0.5 : 1);
  }, 0);
}

const LEAST_NAME = 3;
const MOST_NAMES = 50;
/** The user's names and their parts, forwards and backwards. */
function namesOf({ username, email, firstName, lastName }: PasswordOwner): string[] {
  const [local = '', domain = ''] = (email ?? '').split('@');
  // the top-level domain isn't personal
  const hosts = domain.split('.').slice(0, -1);
  const given = [username, local, ...hosts, firstName ?? '', lastName ?? ''].flatMap((one) => {
    const whole = foldedPassword(one).join('');
    const parts = whole.split(/[^\p{L}\p{N}]+/u);
    return [whole, parts.join(''), ...parts];
  });
  const names = [...new Set(given)].filter((one) => [...one].length >= LEAST_NAME).slice(0, MOST_NAMES);
  return [...names, ...names.map(reversed)];
}

/** For each index: whether the character is part of one of the user's names. */
export function namedSigns(signs: readonly string[], owner: PasswordOwner): boolean[] {
  const named = signs.map(() => false);
  const names = namesOf(owner).map((name) => [...name]);
  for (const reading of readings(signs))
    for (const name of names)
      for (let i = 0; i + name.length <= reading.length; i += 1)
        if (name.every((sign, k) => sign === reading[i + k])) named.fill(true, i, i + name.length);
  return named;
}

/** The reasons why a password is easy to guess; none: these rules find none. */
export function guessableFaults(password: string, owner: PasswordOwner): Phrase[] {
  const signs = foldedPassword(password);
  const free = followingSigns(signs).filter((follows) => !follows).length;
  if (free < Math.min(LEAST_FREE, signs.length) || new Set(signs).size < Math.min(LEAST_DIFFERENT, signs.length))
    return [phrase('notRow')];
  const named = namedSigns(signs, owner);
  return named.includes(true) && weightOf(signs, (at) => !named[at]) < LEAST_BESIDE ? [phrase('notOwnName')] : [];
}
