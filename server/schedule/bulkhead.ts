// A bulkhead: a share of a limited number of places for each realm, so that none can use them all up. Its users define
// the places; in db/realm-share.ts they are connections. Implements: specification 1, "A change in one realm never
// affects another".

export interface Bulkhead {
  /**
   * Acquires a place, and waits while the realm has its full share; undefined: the caller has a place and need not
   * wait.
   */
  acquire(realm: string): Promise<void> | undefined;
  release(realm: string): void;
  /** Whether only the last places are free, counting the one that was just acquired. */
  nearlyFull(): boolean;
}

/** No place became free in time: others of the same realm, or of the same batch (batcher.ts), took too long. */
export class Overloaded extends Error {
  readonly code = OVERLOADED;
}
export const OVERLOADED = 'OVERLOADED';

interface Waiter {
  enter(): void;
}

/** The last fifth of the places. */
const RESERVED = 5;

/**
 * A realm may take one more place while it has fewer than are free (dynamic thresholds, as in shared buffers). A single
 * busy realm gets half of all places; several stuck realms each get as many as remain free; a realm's first request
 * always gets one. With `nearlyFull` the caller should hold its place only briefly, so that many stuck realms don't
 * take all places by the first one of each.
 * @param most places in all
 */
export function createBulkhead({ most, timeoutMs = 5_000 }: { most: number; timeoutMs?: number }): Bulkhead {
  const taken = new Map<string, number>();
  let total = 0;
  const waiting = new Map<string, Set<Waiter>>();

  const mayTake = (realm: string): boolean => {
    const own = taken.get(realm) ?? 0;
    return own === 0 || own < most - total;
  };
  function take(realm: string): void {
    total += 1;
    taken.set(realm, (taken.get(realm) ?? 0) + 1);
  }

  function admit(): void {
    for (const [realm, queue] of waiting) {
      for (const waiter of queue) {
        if (!mayTake(realm)) break;
        queue.delete(waiter);
        take(realm);
        waiter.enter();
      }
      if (queue.size === 0) waiting.delete(realm);
    }
  }

  const wait = (realm: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const queue = waiting.get(realm) ?? new Set();
      waiting.set(realm, queue);
      // After a pause of the process its timers run first: setImmediate lets finished work make room before anything is
      // refused.
      const giveUp = () => {
        if (queue.delete(waiter)) reject(new Overloaded(`other transactions of ${realm} take too long`));
      };
      const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
      const waiter = {
        enter() {
          clearTimeout(timer);
          resolve();
        },
      };
      queue.add(waiter);
    });

  return {
    acquire(realm) {
      // first come, first served
      if (waiting.has(realm) || !mayTake(realm)) return wait(realm);
      take(realm);
      return undefined;
    },
    release(realm) {
      total -= 1;
      const own = (taken.get(realm) ?? 0) - 1;
      if (own > 0) taken.set(realm, own);
      else taken.delete(realm);
      if (waiting.size > 0) admit();
    },
    nearlyFull: () => total > most - Math.floor(most / RESERVED),
  };
}
