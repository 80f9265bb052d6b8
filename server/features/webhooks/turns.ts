// Whose turn it is among a realm's receivers: one that hangs gets a few places of this process, and what else waits for it
// is put off instead of holding the realm's other places. It is told when to come again, the longer the more are waiting.

const APART_MS = 2_000;
const LONGEST_MS = 120_000;

export function createTurns({ places, now }: { places: number; now(): Date }) {
  /** Of those that have sends under way; `next` is when the last one that was put off comes again. */
  const receivers = new Map<string, { sending: number; next: number }>();
  return {
    /** Runs `send`, or says after how many seconds to come again. */
    async take<T>(receiver: string, send: () => Promise<T>): Promise<{ sent: T } | { waitSeconds: number }> {
      const entry = receivers.get(receiver) ?? { sending: 0, next: 0 };
      if (entry.sending >= places) {
        const at = now().getTime();
        entry.next = Math.min(Math.max(entry.next, at) + APART_MS, at + LONGEST_MS);
        return { waitSeconds: (entry.next - at) / 1000 };
      }
      receivers.set(receiver, entry);
      entry.sending += 1;
      try {
        return { sent: await send() };
      } finally {
        entry.sending -= 1;
        if (entry.sending === 0) receivers.delete(receiver);
      }
    },
  };
}
