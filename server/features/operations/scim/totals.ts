// How many resources a list has: each page says so (RFC 7644 §3.4.2), and counting costs more the more there are. A large number is kept
// for a while, so that a client that reads page after page doesn't have all users counted for each of them.

/** Smaller numbers are always counted anew. */
const LARGE = 10_000;
/** A number is kept for a millisecond for so many resources: a million for 50 seconds. */
const FOR_A_MILLISECOND = 20;
const LONGEST_MS = 60_000;
const MOST = 1_000;

/** @param clock milliseconds that never go back */
export function createTotals(clock: () => number = () => performance.now()) {
  const kept = new Map<string, { total: number; until: number }>();
  return {
    /** @param key what is counted: the realm and the filter */
    async of(key: string, count: () => Promise<number>): Promise<number> {
      const entry = kept.get(key);
      if (entry && entry.until > clock()) return entry.total;
      kept.delete(key);
      const total = await count();
      if (total < LARGE) return total;
      kept.set(key, { total, until: clock() + Math.min(total / FOR_A_MILLISECOND, LONGEST_MS) });
      const [oldest] = kept.keys();
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
      return total;
    },
  };
}
export type Totals = ReturnType<typeof createTotals>;
