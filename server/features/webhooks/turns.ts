// Whose turn it is among the realms: one whose receivers hang has a share of this process's places, and what else it has to
// send is put off for a moment instead of waiting in a place. The more are put off, the later they come again.

const APART_MS = 5;
const LONGEST_MS = 30_000;

export function createTurns({ places, now }: { places: number; now(): Date }) {
  /** Of the realms that have sends under way; `next` is when the last one that was put off comes again. */
  const realms = new Map<string, { sending: number; next: number }>();
  return {
    /** Runs `send`, or says after how many seconds to come again. */
    async take<T>(realm: string, send: () => Promise<T>): Promise<{ sent: T } | { waitSeconds: number }> {
      const entry = realms.get(realm) ?? { sending: 0, next: 0 };
      if (entry.sending >= places) {
        const at = now().getTime();
        entry.next = Math.min(Math.max(entry.next, at) + APART_MS, at + LONGEST_MS);
        return { waitSeconds: (entry.next - at) / 1000 };
      }
      realms.set(realm, entry);
      entry.sending += 1;
      try {
        return { sent: await send() };
      } finally {
        entry.sending -= 1;
        if (entry.sending === 0) realms.delete(realm);
      }
    },
  };
}
