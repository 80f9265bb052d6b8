// A picture at an address of an administrator's, as a part of the page that shows it. The guard of outbound requests applies.
import type { Outbound } from '../../../http/outbound.ts';

const TIMEOUT_MS = 3000;
const MOST_BYTES = 256 * 1024;
const TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/svg+xml',
]);

/** @returns a data address; null: there is no such picture, or it can't be fetched */
export async function pictureOf({ fetch }: Pick<Outbound, 'fetch'>, address: string): Promise<string | null> {
  if (address.startsWith('data:')) return address;
  try {
    const answer = await fetch(address, { timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES, httpsOnly: false });
    const type = (answer.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    if (answer.status !== 200 || !TYPES.has(type)) return null;
    return `data:${type};base64,${answer.body.toString('base64')}`;
  } catch {
    return null;
  }
}
