// A picture at an address of an administrator's, as a part of the page that shows it. The guard of outbound requests applies.
import { createRateLimit } from '../../../domain/rate-limit.ts';
import type { Outbound } from '../../../http/outbound.ts';

const TIMEOUT_MS = 3000;
const MOST_BYTES = 256 * 1024;
const FETCHES_A_MINUTE = 30;
/** A page is previewed at each key that is pressed: its picture is fetched once in so long. */
const KEPT_MS = 60_000;
/** The most realms with a kept picture. */
const MOST_KEPT = 20;
const TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/svg+xml',
]);

export function createPictures({ outbound, now }: { outbound: Pick<Outbound, 'fetch'>; now: () => Date }) {
  const fetches = createRateLimit({ limit: FETCHES_A_MINUTE, now });
  /** By realm: the last one. */
  const kept = new Map<string, { address: string; until: number; picture: Promise<string | null> }>();

  async function fetched(address: string): Promise<string | null> {
    try {
      const answer = await outbound.fetch(address, { timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES, httpsOnly: false });
      const type = (answer.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
      if (answer.status !== 200 || !TYPES.has(type)) return null;
      return `data:${type};base64,${answer.body.toString('base64')}`;
    } catch {
      return null;
    }
  }

  /** @returns a data address; null: there is no such picture, it can't be fetched, or the realm has had too many fetched */
  return async function pictureOf(realm: string, address: string): Promise<string | null> {
    const at = now().getTime();
    const last = kept.get(realm);
    if (last?.address === address && at < last.until) return last.picture;
    if (fetches.take(realm) !== undefined) return null;
    const picture = fetched(address);
    kept.delete(realm);
    kept.set(realm, { address, until: at + KEPT_MS, picture });
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return picture;
  };
}
