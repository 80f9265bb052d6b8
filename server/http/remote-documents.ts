// A cache of other servers' documents: clients' JWK sets, providers' discovery and metadata. Each is fetched through
// the outbound guard and renewed in doubt, with a cool-down.
import { isLoopback } from '../contract/names.ts';
import { makeRoom } from '../db/cache.ts';
import { isWithin } from '../schedule/window.ts';
import type { Outbound } from './outbound.ts';

const KEPT_MS = 600_000;
const COOL_DOWN_MS = 30_000;
const MOST = 1_000;
const LIMITS = { timeoutMs: 5_000, maxBytes: 256 * 1024 };

interface Entry {
  fetchedAt: number;
  /** Whether it was fetched because a key was missing in the previous version. */
  onDoubt: boolean;
  keys: Promise<unknown>;
}

export function createRemoteDocuments({
  outbound,
  loopback = false,
  read = (body: Buffer): unknown => JSON.parse(body.toString()),
  keepOld = false,
  now,
}: {
  outbound: Pick<Outbound, 'fetch'>;
  /** Whether plain http is permitted for this machine. */
  loopback?: boolean;
  /** Parses a document's bytes, which may have an encoding of their own (XML); default: JSON. */
  read?: (body: Buffer) => unknown;
  /** Whether the old document stays in use if it can't be fetched again. */
  keepOld?: boolean;
  now: () => Date;
}) {
  const entries = new Map<string, Entry>();

  async function download(uri: string): Promise<unknown> {
    const { status, body } = await outbound.fetch(uri, {
      headers: { accept: 'application/jwk-set+json, application/json' },
      httpsOnly: !(loopback && isLoopback(uri)),
      ...LIMITS,
    });
    if (status !== 200) throw new Error(`${uri} answered ${status}`);
    return read(body);
  }

  function fetched(uri: string, onDoubt = false): Promise<unknown> {
    makeRoom(entries, MOST);
    const before = keepOld ? entries.get(uri)?.keys : undefined;
    const fresh = download(uri);
    const keys = before ? fresh.catch((error: unknown) => before.catch(() => Promise.reject(error))) : fresh;
    const entry = { fetchedAt: now().getTime(), onDoubt, keys };
    entries.set(uri, entry);
    // A failure is cached for the cool-down, so that clients can't make the server send many requests to a host.
    entry.keys.catch(() => {});
    return entry.keys;
  }

  const isYounger = ({ fetchedAt }: Entry, ms: number) => isWithin(fetchedAt, now().getTime(), ms);

  return {
    async get(uri: string): Promise<unknown> {
      const entry = entries.get(uri);
      if (!entry || !isYounger(entry, KEPT_MS)) return fetched(uri);
      return entry.keys.catch((error: unknown) => {
        if (!isYounger(entry, COOL_DOWN_MS)) return fetched(uri);
        throw error;
      });
    },
    /** Fetches the document again: at once for the first unknown key, for others after the cool-down. */
    async renewed(uri: string): Promise<unknown> {
      const entry = entries.get(uri);
      return entry && !(entry.onDoubt && isYounger(entry, COOL_DOWN_MS)) ? fetched(uri, true) : undefined;
    },
  };
}
export type RemoteDocuments = ReturnType<typeof createRemoteDocuments>;
