// Owns: how many of the pool's connections the writes of one realm may hold, which of them wait for others of that realm,
// and who may wait for a lock with one.
// Does not own: the connections (sql.ts), how long a statement usually waits for a lock (its lock_timeout).
// Implements: specification 1, "A change in one realm never affects another": realms whose rows are locked, as by a large
// import or a deletion, leave connections to all others, however many they are.
import type pg from 'pg';
import { BEGIN, COMMIT, ROLLBACK, runBatch } from './batch.ts';
import { codeOf, LOCKED } from './error-code.ts';
import type { Sql } from './sql.ts';
import { type Statement, statement } from './statement.ts';

export interface Lanes {
  /** Waits, without a connection, while the realm holds as many as it may. `leave` gives the place back. */
  enter(realm: string): Promise<void> | undefined;
  leave(realm: string): void;
  /** Whether the place that was just taken is one of the last: with these nobody waits for a lock. */
  scarce(): boolean;
}

/** What came before it took so long that it didn't get its turn: others of its realm, or of its group (groups.ts). */
export class Crowded extends Error {
  readonly code = CROWDED;
}
export const CROWDED = 'CROWDED';

interface Waiter {
  enter(): void;
}

/** Of all places the last fifth: with these connections nobody waits for a lock. */
const SCARCE = 5;

/**
 * A realm may take one more while it holds fewer than are free (the dynamic threshold of shared buffers): alone it gets half
 * of all; where several are stuck, each holds as many as are left; and the first of a realm is never refused. So that stuck
 * realms don't take all of them by their first ones, the last places are for those alone who find what they write free.
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
    scarce: () => total > most - Math.floor(most / SCARCE),
  };
}

/** Whoever meets a lock gives up soon (55P03). */
export const HASTY: Statement = statement`set local lock_timeout = '50ms'`;
/** Of haste: as much waiting for a lock, and more of it in the queue for another place, as anybody has patience for. */
const TRIES = 100;

/** Does `work` in its realm's turn; where that has one of the last places, again and again until it meets no lock. */
export async function inTurnOf<T>(lanes: Lanes, realm: string, work: (hasty: boolean) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    // No promise where there is room, which is nearly always.
    const turn = lanes.enter(realm);
    if (turn) await turn;
    const hasty = lanes.scarce();
    try {
      return await work(hasty);
    } catch (error) {
      if (!hasty || codeOf(error) !== LOCKED || tries === TRIES) throw error;
    } finally {
      lanes.leave(realm);
    }
  }
}

/** `Sql` for a write that is no transaction, and may wait for a lock as well as one: it counts among its realm's. */
export type InLane = (realm: string) => Sql;

export const inLanesOf =
  (lanes: Lanes, pool: pg.Pool, sql: Sql): InLane =>
  (realm) =>
  <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) =>
    inTurnOf(lanes, realm, async (hasty) =>
      hasty ? ((await inHaste(pool, statement(strings, ...values))) as Row[]) : sql<Row>(strings, ...values),
    );

async function inHaste(pool: pg.Pool, wanted: Statement): Promise<object[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const [, , rows = []] = await runBatch(client, [BEGIN, HASTY, wanted, COMMIT]);
    return rows;
  } catch (error) {
    // A connection whose rollback fails is not given back to the pool.
    await runBatch(client, [ROLLBACK]).catch((e: Error) => {
      broken = e;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
