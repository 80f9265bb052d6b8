// Owns: regular expressions that a realm's administrators set, matched against what clients send. RE2 runs them in time
// linear in the text.
// Does not own: the program's own expressions; the texts to match (user-profile.ts).
// Implements: decisions "Patterns".
import type { RE2Set } from 're2js';
import { createRecentlyUsed } from '../schedule/recently-used.ts';
import { translated, Unsupported } from './pattern-syntax.ts';

/** A pattern may have this many characters, classes and groups, each counted as many times as it may repeat; large classes count more. */
const LARGEST_PATTERN = 1000;
/** A longer text (in characters) matches no pattern. */
export const LONGEST_TEXT = 1024;
/** The most work for one user: the sum of text length times pattern size. It takes under 50 ms in the worst case. */
const MOST_WORK = 500_000;
/** The memory of the engine's state cache. A larger one makes bad patterns slower. */
const NOTES_BYTES = 65_536;

interface Usable {
  engine: RE2Set;
  size: number;
  weight: number;
}
type Compiled = Usable | { fault: string };

let library: typeof import('re2js') | undefined;
/** Loads the engine. Call it before the other functions; most realms have no pattern, so a start doesn't load it. */
export async function loadPatterns(): Promise<void> {
  library ??= await import('re2js');
}

/** Limits of the cache of compiled patterns: it evicts the oldest. Any single profile fits. */
const KEPT = { most: 1000, largest: 20_000 };
const recent = createRecentlyUsed<Compiled>({ ...KEPT, size: (of) => ('size' in of ? of.size : 0) });
const compiled = (pattern: string): Compiled => recent.get(pattern, () => compile(pattern));

function compile(pattern: string): Compiled {
  if (!library) throw new Error('loadPatterns comes before any pattern');
  try {
    new RegExp(pattern, 'u');
  } catch {
    return { fault: 'is no regular expression' };
  }
  try {
    const { re2, size, weight } = translated(pattern);
    if (size + weight > LARGEST_PATTERN)
      return { fault: `is too large: with its repetitions it may have ${LARGEST_PATTERN} parts` };
    const engine = new library.RE2Set(library.RE2Set.ANCHOR_BOTH, 0, NOTES_BYTES);
    engine.add(re2);
    engine.compile();
    return { engine, size, weight };
  } catch (error) {
    if (error instanceof Unsupported) return { fault: `has what can’t be used here: ${error.message}` };
    if (error instanceof library.RE2JSException) return { fault: `has what can’t be used here: ${error.message}` };
    throw error;
  }
}

/** Why a pattern can't be used, in words that follow the field's name; undefined if it can be used. */
export function patternFault(pattern: string): string | undefined {
  const of = compiled(pattern);
  return 'fault' in of ? of.fault : undefined;
}

/** The pattern's size; it counts compiling too. */
export function patternSize(pattern: string): number {
  const of = compiled(pattern);
  return 'fault' in of ? 0 : of.size + of.weight;
}

/**
 * Compares the texts of one user with patterns, each text as a whole. After too much work, no further text matches.
 * @param beyond called instead of a comparison with too long a text, or after too much work
 * @returns a function that returns undefined if the pattern can't be used
 */
export function createPatternMatcher(
  beyond = (): boolean => false,
): (pattern: string, text: string) => boolean | undefined {
  let work = 0;
  return (pattern, text) => {
    const of = compiled(pattern);
    if ('fault' in of) return undefined;
    if (text.length > LONGEST_TEXT) return beyond();
    work += of.size * text.length;
    return work > MOST_WORK ? beyond() : of.engine.match(text).length > 0;
  };
}
