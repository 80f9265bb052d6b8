// The next try of a delivery whose receiver failed: when it is made, and the order in which it and the outcome are stored.
// A try that throws is another matter: the fault is this server's, and the queue repeats the job (queue.ts).
import type { Sql } from '../db/sql.ts';
import type { EnqueueOptions } from './queue.ts';

export type Enqueue = (sql: Sql, name: string, payloads: readonly object[], options?: EnqueueOptions) => Promise<void>;

export interface RetriesDeps {
  sql: Sql;
  enqueue: Enqueue;
  /** The job that makes each try. */
  job: string;
  /** The delay after each try that failed: there is one try more than there are delays. */
  delaysSeconds: readonly number[];
  /** 0 to 1. */
  random?: (() => number) | undefined;
}
export interface Failure {
  /** Tries that don't count towards the schedule, because the delivery was sent again by hand after them. */
  done?: number;
  /** No other try is of use. */
  final?: boolean;
  /** The receiver asks for this much time. */
  notBeforeSeconds?: number;
  /** Whether a try after so many seconds is still of use. */
  isOfUse?(afterSeconds: number): boolean;
}

/** Each delay is up to a fifth shorter or longer, so that what failed at once isn't tried at once. */
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
    // The next try is stored before this one is settled: a death in between repeats this one and loses none.
    await enqueue(sql, job, [{ ...payload, attempt: payload.attempt + 1 }], { startAfterSeconds });
    await settle('retrying');
  };
