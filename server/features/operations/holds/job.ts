// The job that ends a hold at its time, queued in the transaction that places it. Most servers never run it: a start knows
// only its terms.
import { z } from 'zod';
import { type Job, job } from '../../../jobs/job.ts';

export const HOLD_JOB = 'hold-end';
const Ending = z.object({ realm: z.string(), id: z.uuid() });

export const holdTerms = {
  name: HOLD_JOB,
  schema: Ending,
  // it fails only with the database, or with a clock that is behind the queue's
  maxAttempts: 100,
  expireSeconds: 60,
  concurrency: 1,
};

export const holdJob = ({ expire }: { expire(realm: string, id: string): Promise<void> }): Job =>
  job({ ...holdTerms, run: ({ realm, id }) => expire(realm, id) });
