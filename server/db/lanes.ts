// Owns: how many of the pool's connections the writes of one realm may hold, and which of them wait for others of that realm.
// Does not own: the connections (sql.ts), how long a statement waits for a lock (its lock_timeout).
// Implements: specification 1, "A change in one realm never affects another": a realm whose rows are locked, as by a large
// import or a deletion, leaves connections to all others.

import type { Sql } from './sql.ts';

export interface Lanes {
  /** Waits, without a connection, while the realm holds as many as it may. `leave` gives the place back. */
  enter(realm: string): Promise<void> | undefined;
  leave(realm: string): void;
}

/** What came before it took so long that it didn't get its turn: others of its realm, or of its group (groups.ts). */
export class Crowded extends Error {
  readonly code = CROWDED;
}
export const CROWDED = 'CROWDED';

interface Waiter {
  enter(): void;
}

/**
 * A realm may take one more while it holds fewer than are free (the dynamic threshold of shared buffers): alone it gets half
 * of all; where several are stuck, each holds as many as are left; and the first of a realm is never refused.
 * @param most the pool's connections
 */
export function createLanes({ most, patienceMs = 5_000 }: { most: number; patienceMs?: number }): Lanes {
  const held = new Map<string, number>();
  let total = 0;
  const waiting = new Map<string, Set<Waiter>>();

  const mayTake = (realm: string): boolean => {
    const own = held.get(realm) ?? 0;
    return own === 0 || own < most - total;
  };
  function take(realm: string): void {
    total += 1;
    held.set(realm, (held.get(realm) ?? 0) + 1);
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

  const turn = (realm: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const queue = waiting.get(realm) ?? new Set();
      waiting.set(realm, queue);
      // After this process stood still its timers come first: what has ended meanwhile makes room before anybody gives up.
      const giveUp = () => {
        if (queue.delete(waiter)) reject(new Crowded(`other transactions of ${realm} take too long`));
      };
      const timer = setTimeout(() => setImmediate(giveUp), patienceMs);
      const waiter = {
        enter() {
          clearTimeout(timer);
          resolve();
        },
      };
      queue.add(waiter);
    });

  return {
    enter(realm) {
      // Who came earlier goes first.
      if (waiting.has(realm) || !mayTake(realm)) return turn(realm);
      take(realm);
      return undefined;
    },
    leave(realm) {
      total -= 1;
      const own = (held.get(realm) ?? 0) - 1;
      if (own > 0) held.set(realm, own);
      else held.delete(realm);
      if (waiting.size > 0) admit();
    },
  };
}

/** `Sql` for a write that is no transaction, and may wait for a lock as well as one: it counts among its realm's. */
export type InLane = (realm: string) => Sql;

export const inLanesOf =
  (lanes: Lanes, sql: Sql): InLane =>
  (realm) =>
  async (strings, ...values) => {
    const turn = lanes.enter(realm);
    if (turn) await turn;
    try {
      return await sql(strings, ...values);
    } finally {
      lanes.leave(realm);
    }
  };
