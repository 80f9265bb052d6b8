// The jobs that fetch transmitters' tokens. poll-job.ts does the work: most servers poll no one and never load it.
import { z } from 'zod';
import type { Sql } from '../../../db/sql.ts';

export const POLL_JOB = 'signal-poll';
const Polled = z.object({ realm: z.string(), id: z.uuid() });

export const pollTerms = {
  name: POLL_JOB,
  schema: Polled,
  maxAttempts: 3,
  expireSeconds: 300,
  concurrency: 4,
  group: { of: ({ realm, id }: z.output<typeof Polled>) => `${realm}/${id}`, concurrency: 1 },
};
export const pollDueTerms = {
  name: 'signal-poll-due',
  schema: z.object({}),
  maxAttempts: 1,
  expireSeconds: 60,
  concurrency: 1,
  everySeconds: 60,
};

/** Whether any realm has a transmitter to ask. */
export const hasPolledTransmitters = async (sql: Sql): Promise<boolean> =>
  (await sql`select from signal_transmitter where enabled and delivery = 'poll' limit 1`).length > 0;
