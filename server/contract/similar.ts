// Finds the name that was probably meant: for unknown fields, and for misspelt variables of the environment.

/** Longer names than any that programs here know. */
const LONGEST = 64;

/** Insertions, deletions, replacements and swaps of neighbours that lead from one text to the other (Damerau-Levenshtein). */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1];
      const least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(swapped ? Math.min(least, (before[j - 2] ?? 0) + 1) : least);
    }
    [before, last] = [last, row];
  }
  return last[other.length] ?? 0;
}

/** The known name that is most like the word; undefined: none is like it. */
export function similarName(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  const given = word.toLowerCase();
  let best: string | undefined;
  let least = Math.min(3, Math.floor(word.length / 3)) + 1;
  for (const name of known) {
    if (Math.abs(name.length - word.length) >= least) continue;
    const far = distance(given, name.toLowerCase());
    if (far < least) [best, least] = [name, far];
  }
  return best;
}

/** Kubernetes adds such variables for each Service of the namespace: FOO_SERVICE_HOST, FOO_PORT_80_TCP_ADDR. */
const OF_A_SERVICE = /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_|$)|$)/;

/** A variable of the environment that no program here reads, and the name that was probably meant. */
export interface UnknownVariable {
  variable: string;
  meant: string | undefined;
}

/** The set variables SVC_… that are none of the known ones; SVC_VAR_… are those of realm documents. */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): UnknownVariable[] {
  return Object.entries(env).flatMap(([variable, value]) =>
    value === undefined || !/^SVC_/i.test(variable) || variable.startsWith('SVC_VAR_') || known.has(variable)
      ? []
      : OF_A_SERVICE.test(variable)
        ? []
        : [{ variable, meant: similarName(variable, known) }],
  );
}
