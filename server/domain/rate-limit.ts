// Limits the attempts of one IP address in a window: failed sign-ins, sign-ins without a known client, token exchanges.
// Each replica counts in process; lockout (features/people/credentials) counts for all replicas.
import { network } from '../http/network.ts';
import { createSemaphore } from '../schedule/semaphore.ts';

const MAX_ADDRESSES = 20_000;
/** Concurrent attempts of one address in one realm: enough for an office, and few enough to leave room for other addresses. */
const AT_ONCE = 32;
/** The same in all realms together. It is higher, so that a realm with locked rows doesn't block the address in other realms. */
const AT_ONCE_ANYWHERE = 96;

/** The key for counts by realm: failures in one realm don't block the address in others. */
export const inRealm = (realm: string, address: string): string => `${realm} ${network(address)}`;

/** Counts attempts of network addresses in this process. @param limit attempts in a window @param windowMs from the first attempt */
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
    // a clock that was set back would otherwise keep a window open for as long
    if (!entry || entry.until <= at || entry.until > at + windowMs) {
      windows.delete(key);
      entry = { used: 0, until: at + windowMs };
      windows.set(key, entry);
      if (windows.size > MAX_ADDRESSES) sweep(at);
    }
    return entry;
  }
  return {
    /** Counts an attempt. @returns undefined, or the seconds to wait if no attempt is left */
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
    /** For sign-ins, where only failures count: many users of one office may sign in at once. @returns the seconds to wait, if any */
    blocked(address: string): number | undefined {
      const entry = windows.get(network(address));
      const left = entry && entry.used >= limit ? entry.until - now().getTime() : 0;
      return left > 0 && left <= windowMs ? Math.ceil(left / 1000) : undefined;
    },
    fail(address: string): void {
      entryOf(address).used += 1;
    },
    /** Runs `work` with limited concurrency: it sees the failures of all earlier attempts except the few that run beside it. */
    inTurn<T>(realm: string, address: string, work: () => Promise<T>): Promise<T> {
      const key = network(address);
      return inTurnOfRealm(`${realm} ${key}`, () => inTurnOfAddress(key, work));
    },
  };
}
export type RateLimit = ReturnType<typeof createRateLimit>;
