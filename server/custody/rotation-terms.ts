// The terms of the job that rotates data keys: a start loads these, and the first run the job (rotation-job.ts).
import { z } from 'zod';
import type { Terms } from '../jobs/job.ts';

export const rotationTerms: Terms<Record<string, never>> = {
  name: 'data-key-rotation',
  schema: z.strictObject({}),
  maxAttempts: 1,
  expireSeconds: 3_600,
  concurrency: 1,
  everySeconds: 3_600,
};
