// What an error says, whatever was thrown: for logs, conditions and terminals of every program.

export const errorWords = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What stands behind it, after a colon: fetch hides the reason one or two causes down. */
export function because(cause: unknown): string {
  let inner = cause;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  if (!(inner instanceof Error)) return '';
  const code = 'code' in inner && typeof inner.code === 'string' ? inner.code : undefined;
  const words = inner.message || code;
  return words ? `: ${words}` : '';
}
