// The job that tells clients of decisions: its terms, which a start loads without its code.
import { z } from 'zod';

export const NOTIFY_JOB = 'backchannel-ping';
const Decided = z.object({ realm: z.string(), id: z.uuid(), attempt: z.int().default(1) });
export type Decided = z.output<typeof Decided>;

export const notifyTerms = {
  name: NOTIFY_JOB,
  schema: Decided,
  // An exception here is a fault of this server, for example a lost database connection.
  maxAttempts: 20,
  expireSeconds: 30,
  concurrency: 8,
  group: { of: ({ realm }: Decided) => realm, concurrency: 4 },
};

export const notificationContext = (realm: string, id: string): string => `backchannel:${realm}:${id}`;
