// Checks whether a password is known from breaches. The service gets only the first five of the forty digits of the
// password's SHA-1 (k-anonymity), and by padding it doesn't learn how many hashes share them. If the service is
// unreachable, the password is accepted. Specification 2.3 (breachedPasswordCheck); decisions "Webhooks" (the same guard
// covers the breached-password service).
import { createHash } from 'node:crypto';
import { errorWords } from '../../../contract/error-words.ts';
import type { Outbound } from '../../../http/outbound.ts';

const LIMITS = { timeoutMs: 2_000, maxBytes: 256 * 1024 };
const PREFIX = 5;

/** @param url the service's address, to which the five digits are appended */
export const createBreaches =
  ({ outbound, url, log }: { outbound: Pick<Outbound, 'fetch'>; url: string; log(message: string): void }) =>
  async (plain: string): Promise<boolean> => {
    const digest = createHash('sha1').update(plain).digest('hex').toUpperCase();
    const headers = { 'add-padding': 'true' };
    try {
      const { status, body } = await outbound.fetch(`${url}${digest.slice(0, PREFIX)}`, { headers, ...LIMITS });
      if (status !== 200) throw new Error(`it answered ${status}`);
      return body
        .toString()
        .split('\n')
        .some((line) => {
          // A line is `SUFFIX:count`. A count of 0 is padding.
          const [suffix, count] = line.trim().split(':');
          return suffix?.toUpperCase() === digest.slice(PREFIX) && Number(count) > 0;
        });
    } catch (error) {
      log(
        `the breached-password service did not answer, so a new password was accepted unchecked: ${errorWords(error)}`,
      );
      return false;
    }
  };
