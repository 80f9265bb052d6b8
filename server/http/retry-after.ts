// Reads Retry-After (RFC 9110 §10.2.3): seconds or a date.
const MOST_MS = 3_600_000;

/** Milliseconds from now; 0 if the value can't be parsed. */
export function retryAfterMs(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Math.min(Math.max(0, ms || 0), MOST_MS);
}
