// The pause between two codes that a user sends to a new address or number through the account API, counted in this
// process. The database limits codes per hour over all ways (messaging/limits.ts).
import { Problem } from '../../../contract/problem.ts';
import { createRateLimit } from '../../../domain/rate-limit.ts';

const PAUSE_MS = 30_000;

export function createStarts({ now }: { now: () => Date }) {
  const starts = createRateLimit({ limit: 1, windowMs: PAUSE_MS, now });
  /** @throws Problem `too-many-requests` */
  return (realm: string, userId: string, channel: 'EMAIL' | 'SMS'): void => {
    const retryAfterSeconds = starts.take(`${realm} ${userId} ${channel}`);
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', 'A code was sent just now: wait before you ask for another one', {
        retryAfterSeconds,
      });
  };
}
export type Starts = ReturnType<typeof createStarts>;
