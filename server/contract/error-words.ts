// Describes any thrown value in words: for logs, conditions and terminals of every program.

export const errorWords = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** fetch hides the reason one or two causes down. */
function innermost(cause: unknown): unknown {
  let inner = cause;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner;
}

/** The code of the innermost cause: `ECONNREFUSED`, `ERR_SSL_WRONG_VERSION_NUMBER`. */
export function codeOf(cause: unknown): string | undefined {
  const inner = innermost(cause);
  return inner instanceof Error && 'code' in inner && typeof inner.code === 'string' ? inner.code : undefined;
}

/** Whether the code means that the peer answered a TLS handshake without TLS. */
export const speaksNoTls = (code: string): boolean => /^ERR_SSL_(?:WRONG_VERSION|PACKET_LENGTH)/.test(code);

/** The innermost cause's message after a colon; empty without one. */
export function causeWords(cause: unknown): string {
  const inner = innermost(cause);
  if (!(inner instanceof Error)) return '';
  const code = codeOf(inner);
  if (code !== undefined && speaksNoTls(code)) return ': it speaks no TLS at this port';
  const words = inner.message || code;
  return words ? `: ${words}` : '';
}
