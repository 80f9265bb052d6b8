// A concurrency limit by key that never blocks: a caller at the limit gets a time to come back, which is later the more
// callers there are.

const SPACING_MS = 5;
const LONGEST_MS = 30_000;

export function createConcurrencyLimit({ perKey, now }: { perKey: number; now(): Date }) {
  /** Keys with running work; `next`: the latest time that a caller was asked to come back. */
  const keys = new Map<string, { running: number; next: number }>();
  /** Runs `work`, or returns the number of seconds after which to come back. */
  return async <T>(key: string, work: () => Promise<T>): Promise<{ result: T } | { retryAfterSeconds: number }> => {
    const entry = keys.get(key) ?? { running: 0, next: 0 };
    if (entry.running >= perKey) {
      const at = now().getTime();
      entry.next = Math.min(Math.max(entry.next, at) + SPACING_MS, at + LONGEST_MS);
      return { retryAfterSeconds: (entry.next - at) / 1000 };
    }
    keys.set(key, entry);
    entry.running += 1;
    try {
      return { result: await work() };
    } finally {
      entry.running -= 1;
      if (entry.running === 0) keys.delete(key);
    }
  };
}
