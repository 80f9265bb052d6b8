// Schedules the next try of a delivery whose receiver failed, and stores it before the outcome of this try.
// If a try throws, the fault is this server's: the queue repeats the job (queue.ts).
import type { Sql } from '../db/sql.ts';
import type { EnqueueOptions } from './queue.ts';

export type Enqueue = (sql: Sql, name: string, payloads: readonly object[], options?: EnqueueOptions) => Promise<void>;

export interface RetriesDeps {
  sql: Sql;
  enqueue: Enqueue;
  /** The job that makes each try. */
  job: string;
  /** The delay after each failed try. The number of tries is the number of delays plus one. */
  delaysSeconds: readonly number[];
  /** Returns a number from 0 to 1, as `Math.random` does. */
  random?: (() => number) | undefined;
}
export interface Failure {
  /** The number of tries before an administrator sent the delivery again. The schedule doesn't count them. */
  done?: number;
  /** The failure is permanent: there is no next try. */
  final?: boolean;
  /** The receiver asks for no earlier try, for example by `Retry-After`. */
  notBeforeSeconds?: number;
  /** Whether a try after this delay can still be useful. */
  isOfUse?(afterSeconds: number): boolean;
}

/** Each delay is up to a fifth shorter or longer, so that deliveries that failed together aren't all tried together. */
export const JITTER = 0.2;

export const createRetries =
  ({ sql, enqueue, job, delaysSeconds, random = Math.random }: RetriesDeps) =>
  async <Payload extends { attempt: number }>(
    payload: Payload,
    settle: (status: 'retrying' | 'dead') => Promise<void>,
    { done = 0, final = false, notBeforeSeconds = 0, isOfUse = () => true }: Failure = {},
  ): Promise<void> => {
    const delay = final ? undefined : delaysSeconds[payload.attempt - 1 - done];
    const startAfterSeconds =
      delay === undefined ? undefined : Math.max(delay * (1 - JITTER + 2 * JITTER * random()), notBeforeSeconds);
    if (startAfterSeconds === undefined || !isOfUse(startAfterSeconds)) return settle('dead');
    // The next try is stored before this one's outcome. If the process dies in between, this try is repeated; none is lost.
    await enqueue(sql, job, [{ ...payload, attempt: payload.attempt + 1 }], { startAfterSeconds });
    await settle('retrying');
  };
