// The job that sends messages. Its work (delivery.ts) is loaded with the first message.
import { z } from 'zod';

export const MESSAGE_JOB = 'message-delivery';
const MessageJob = z.object({
  realm: z.string(),
  id: z.uuid(),
  /** '': an older server enqueued the job. */
  channel: z.string().default(''),
  attempt: z.int().default(1),
  /** The number of tries before an administrator sent the message again; the schedule starts again after them. */
  done: z.int().default(0),
});

export const messageTerms = {
  name: MESSAGE_JOB,
  schema: MessageJob,
  // An exception here is a fault of this server, for example a lost database connection.
  maxAttempts: 500,
  // longer than any driver's time limit
  expireSeconds: 90,
  concurrency: 36,
  // A gateway that doesn't answer leaves most places to others, including those of its realm.
  group: { of: ({ realm, channel }: z.output<typeof MessageJob>) => `${realm} ${channel}`, concurrency: 6 },
};
