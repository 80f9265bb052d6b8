// The job of messages, without its work (delivery.ts), which is loaded with the first message.
import { z } from 'zod';

export const MESSAGE_JOB = 'message-delivery';
const MessageJob = z.object({
  realm: z.string(),
  id: z.uuid(),
  /** '': stored by an older server. */
  channel: z.string().default(''),
  attempt: z.int().default(1),
});

export const messageTerms = {
  name: MESSAGE_JOB,
  schema: MessageJob,
  // An exception here is a fault of this server: the database was away.
  maxAttempts: 500,
  // longer than any driver takes
  expireSeconds: 90,
  concurrency: 36,
  // A gateway that hangs leaves most places to others, those of its realm among them.
  group: { of: ({ realm, channel }: z.output<typeof MessageJob>) => `${realm} ${channel}`, concurrency: 6 },
};
