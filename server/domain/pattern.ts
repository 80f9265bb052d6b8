// Owns: regular expressions that a realm's administrators set, run over what anybody sends: RE2, so in time that grows with the text alone.
// Does not own: the program's own expressions; what a pattern is asked for (user-profile.ts).
// Implements: decisions "Patterns".
import type { RE2Set } from 're2js';
import { createRecentlyUsed } from '../schedule/recently-used.ts';
import { translated, Unsupported } from './pattern-syntax.ts';

/** A pattern may have this many characters, classes and groups, each counted as many times as it may repeat; large classes count more. */
const LARGEST_PATTERN = 1000;
/** A longer text fits no pattern. */
export const LONGEST_TEXT = 1024;
/** Of one person at once, each text's length by its pattern's size: under 50 ms, however bad the two are. */
const MOST_WORK = 500_000;
/** The engine's notes on a pattern; with more it is slower to find that they don't help. */
const NOTES_BYTES = 65_536;

interface Usable {
  engine: RE2Set;
  size: number;
  weight: number;
}
type Compiled = Usable | { fault: string };

let library: typeof import('re2js') | undefined;
/** Before any of the others; most realms have no pattern, so a start doesn't load the engine. */
export async function loadPatterns(): Promise<void> {
  library ??= await import('re2js');
}

/** Compiled patterns that were used lately: the oldest go once they are too many or too large. There is room for any one profile. */
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

/** Why a pattern can't be used, in words that follow its name; undefined: it can. */
export function patternFault(pattern: string): string | undefined {
  const of = compiled(pattern);
  return 'fault' in of ? of.fault : undefined;
}

/** Of making it ready, too. */
export function patternSize(pattern: string): number {
  const of = compiled(pattern);
  return 'fault' in of ? 0 : of.size + of.weight;
}

/**
 * Compares the texts of one user with patterns, each text as a whole. Once they have taken too much work, no further text fits.
 * @returns undefined where the pattern can't be used
 */
export function createPatternMatcher(): (pattern: string, text: string) => boolean | undefined {
  let work = 0;
  return (pattern, text) => {
    const of = compiled(pattern);
    if ('fault' in of) return undefined;
    if (text.length > LONGEST_TEXT) return false;
    work += of.size * text.length;
    return work <= MOST_WORK && of.engine.match(text).length > 0;
  };
}
