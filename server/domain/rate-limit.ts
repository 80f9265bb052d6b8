// How many attempts one address has in a window: sign-ins that fail, sign-ins that strangers begin, exchanges of tokens.
// In process: a replica counts what reaches it, and lockout (credentials) counts for all of them.
import { network } from '../http/network.ts';
import { createSemaphore } from '../schedule/semaphore.ts';

const MAX_ADDRESSES = 20_000;
/** RateLimit of one address under way in one realm: as many as an office needs, and few enough to leave room for others. */
const AT_ONCE = 32;
/** In all realms together, so that one whose database rows are held doesn't hold up the others of the address. */
const AT_ONCE_ANYWHERE = 96;

/** What is counted by realm: nobody's failures in one close the others. */
export const inRealm = (realm: string, address: string): string => `${realm} ${network(address)}`;

export function createRateLimit({
  limit = 20,
  windowMs = 60_000,
  now,
}: {
  limit?: number;
  windowMs?: number;
  now: () => Date;
}) {
  const windows = new Map<string, { used: number; until: number }>();
  const inTurnOfRealm = createSemaphore({ perKey: AT_ONCE });
  const inTurnOfAddress = createSemaphore({ perKey: AT_ONCE_ANYWHERE });
  const sweep = (at: number) => {
    for (const [key, entry] of windows) if (entry.until <= at) windows.delete(key);
    // Map keeps insertion order: the oldest windows go first
    for (const key of windows.keys()) {
      if (windows.size <= MAX_ADDRESSES) return;
      windows.delete(key);
    }
  };
  function entryOf(address: string) {
    const at = now().getTime();
    const key = network(address);
    let entry = windows.get(key);
    if (!entry || entry.until <= at) {
      windows.delete(key);
      entry = { used: 0, until: at + windowMs };
      windows.set(key, entry);
      if (windows.size > MAX_ADDRESSES) sweep(at);
    }
    return entry;
  }
  return {
    /** Takes one attempt; answers after how many seconds to come back where there is none left. */
    take(address: string): number | undefined {
      const entry = entryOf(address);
      if (entry.used >= limit) return Math.max(1, Math.ceil((entry.until - now().getTime()) / 1000));
      entry.used += 1;
      return undefined;
    },
    giveBack(address: string): void {
      const entry = windows.get(network(address));
      if (entry && entry.used > 0) entry.used -= 1;
    },
    /** For whom an office full of people may sign in at once: only failures count, once they are known. */
    blocked(address: string): number | undefined {
      const entry = windows.get(network(address));
      const left = entry && entry.used >= limit ? entry.until - now().getTime() : 0;
      return left > 0 ? Math.ceil(left / 1000) : undefined;
    },
    fail(address: string): void {
      entryOf(address).used += 1;
    },
    /** Whatever is sent at once, `work` sees the failures of all but the few that are tried with it. */
    inTurn<T>(realm: string, address: string, work: () => Promise<T>): Promise<T> {
      const key = network(address);
      return inTurnOfRealm(`${realm} ${key}`, () => inTurnOfAddress(key, work));
    },
  };
}
export type RateLimit = ReturnType<typeof createRateLimit>;
