// A job: durable work, as a small record that the composition root lists and queue.ts runs. Design "Extension is an array of small records".
import type { z } from 'zod';

export interface Job {
  /** The name of the job and its queue. Released names never change, since stored jobs contain them. */
  name: string;
  /** Parses and runs a stored payload. It runs at least once, so it must be safe to repeat. */
  run(payload: unknown, context: JobContext): Promise<void>;
  /** How often it may throw, or its process die, before the queue gives it up. Expected failures are not thrown. */
  maxAttempts: number;
  /** After this many seconds a running job counts as lost and is started again. */
  expireSeconds: number;
  /** How many run at the same time in this process. */
  concurrency: number;
  /** Groups of jobs, for example one per receiver, and how many of a group run at the same time in this process. */
  group?: { of(payload: unknown): string; concurrency: number };
  /** The job also runs once per interval, in the whole installation. */
  everySeconds?: number;
}

export interface JobContext {
  /** Aborted when the process must stop before the job has ended. */
  signal: AbortSignal;
}

/** The part of a job that is known before its code is loaded, with its payload's schema. */
export interface Terms<Payload> {
  name: string;
  schema: z.ZodType<Payload>;
  maxAttempts: number;
  expireSeconds: number;
  concurrency: number;
  group?: { of(payload: Payload): string; concurrency: number };
  everySeconds?: number;
}

export const termsOf = <Payload>({ schema, group, ...rest }: Terms<Payload>): Omit<Job, 'run'> => ({
  ...rest,
  ...(group && { group: { of: (payload) => group.of(schema.parse(payload)), concurrency: group.concurrency } }),
});

/** Declares a job whose payload has a schema: stored payloads are parsed before it runs. */
export function job<Payload>({
  run,
  ...terms
}: Terms<Payload> & { run(payload: Payload, context: JobContext): Promise<void> }): Job {
  return { ...termsOf(terms), run: (payload, context) => run(terms.schema.parse(payload), context) };
}
