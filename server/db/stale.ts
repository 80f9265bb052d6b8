// Owns: whether what runs may be answered by values from before the database went away, and how old they may be.
// Does not own: the values (cache.ts), which endpoints go on (server/compose/protocol.ts).
// Implements: docs/high-availability.md "While the database is away". Only these endpoints run in it: nothing that issues or decides.
import { AsyncLocalStorage } from 'node:async_hooks';
import { withTimeLimit } from '../schedule/time-limit.ts';
import { codeOf } from './error-code.ts';
import { unreachable } from './unreachable.ts';

const bound = new AsyncLocalStorage<number>();

/** Runs `work`, whose caches may give values that are up to `ms` old if the database is away; 0: none. */
export const whileAway = <T>(ms: number, work: () => T): T => (ms > 0 ? bound.run(ms, work) : work());

/** How old a value may be for the caller, in milliseconds. */
export const oldestMs = (): number => bound.getStore() ?? 0;

/** A database that is there answers within this time. */
const SOON_MS = 1_000;
const NO_CONNECTION_LEFT = '53300';

/** The value that is asked for, or the last one if the database is away or silent. */
export async function orLast<T>(value: Promise<T>, last: () => T | Promise<T>): Promise<T> {
  try {
    return await withTimeLimit<T, T | Promise<T>>(value, SOON_MS, last);
  } catch (error) {
    if (unreachable(error) || codeOf(error) === NO_CONNECTION_LEFT) return last();
    throw error;
  }
}
