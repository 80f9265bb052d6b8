// JSON text that jsonb accepts, even if it holds a client's raw text that was cut in the middle of a character.

/** As JSON.stringify, with U+FFFD for half a surrogate pair, which jsonb refuses. */
export function jsonText(value: object): string {
  const written = JSON.stringify(value);
  // Only those are written as escapes; every other character stands as it is.
  if (!written.includes('\\ud')) return written;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part));
}
