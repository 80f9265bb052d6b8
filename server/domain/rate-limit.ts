// Limits the attempts of one IP address in a window: failed sign-ins, sign-ins without a known client, token exchanges.
// Each replica counts in process; lockout (features/people/credentials) counts for all replicas.
import { network } from '../http/network.ts';
import { createSemaphore } from '../schedule/semaphore.ts';
import { isWithin } from '../schedule/window.ts';

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
  const windows = new Map<string, { used: number; from: number }>();
  const inTurnOfRealm = createSemaphore({ perKey: AT_ONCE });
  const inTurnOfAddress = createSemaphore({ perKey: AT_ONCE_ANYWHERE });
  const sweep = (at: number) => {
    for (const [key, { from }] of windows) if (!isWithin(from, at, windowMs)) windows.delete(key);
    // Map keeps insertion order: the oldest windows go first
    for (const key of windows.keys()) {
      if (windows.size <= MAX_ADDRESSES) return;
      windows.delete(key);
    }
  };
  function openWindow(address: string, at: number) {
    const found = windows.get(network(address));
    return found && isWithin(found.from, at, windowMs) ? found : undefined;
  }
  function windowOf(address: string, at: number) {
    const open = openWindow(address, at);
    if (open) return open;
    const key = network(address);
    const fresh = { used: 0, from: at };
    windows.delete(key);
    windows.set(key, fresh);
    if (windows.size > MAX_ADDRESSES) sweep(at);
    return fresh;
  }
  /** @returns the seconds to wait if no attempt is left */
  const toWait = ({ used, from }: { used: number; from: number }, at: number): number | undefined =>
    used >= limit ? Math.ceil((from + windowMs - at) / 1000) : undefined;
  return {
    /** Counts an attempt. @returns undefined, or the seconds to wait if no attempt is left */
    take(address: string): number | undefined {
      const at = now().getTime();
      const open = windowOf(address, at);
      const seconds = toWait(open, at);
      if (seconds === undefined) open.used += 1;
      return seconds;
    },
    giveBack(address: string): void {
      const open = openWindow(address, now().getTime());
      if (open && open.used > 0) open.used -= 1;
    },
    /** For sign-ins, where only failures count: many users of one office may sign in at once. @returns the seconds to wait, if any */
    blocked(address: string): number | undefined {
      const at = now().getTime();
      const open = openWindow(address, at);
      return open && toWait(open, at);
    },
    fail(address: string): void {
      windowOf(address, now().getTime()).used += 1;
    },
    /** Runs `work` with limited concurrency: it sees the failures of all earlier attempts except the few that run beside it. */
    inTurn<T>(realm: string, address: string, work: () => Promise<T>): Promise<T> {
      const key = network(address);
      return inTurnOfRealm(`${realm} ${key}`, () => inTurnOfAddress(key, work));
    },
  };
}
export type RateLimit = ReturnType<typeof createRateLimit>;
