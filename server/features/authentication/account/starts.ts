// The pause between two codes that a person has sent to an address or number of their choice by the account API. In process; how many
// there may be in an hour, by whatever way, is the database's (messaging/limits.ts).
import { Problem } from '../../../contract/problem.ts';
import { createRateLimit } from '../../../domain/rate-limit.ts';

const PAUSE_MS = 30_000;

export function createStarts({ now }: { now: () => Date }) {
  const starts = createRateLimit({ limit: 1, windowMs: PAUSE_MS, now });
  /** @throws Problem `too-many-requests` */
  return (realm: string, userId: string, channel: 'EMAIL' | 'SMS'): void => {
    const retryAfterSeconds = starts.take(`${realm} ${userId} ${channel}`);
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', 'A code was sent just now', { retryAfterSeconds });
  };
}
export type Starts = ReturnType<typeof createStarts>;
