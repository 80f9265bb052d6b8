// Lists a collection in pages, or asks for its latest version. Every response is the newest, because no version is
// requested. It stores nothing and retries nothing; list-watch.ts does.
import { z } from 'zod';
import { ApiFailure } from './api-failure.ts';
import type { Interruption } from './interruption.ts';

/** The fields of an API object that are needed for following it. */
export const Followed = z
  .object({
    metadata: z.object({ name: z.string(), namespace: z.string().default(''), resourceVersion: z.string() }).loose(),
  })
  .loose();
export type Followed = z.infer<typeof Followed>;

/** A GET request whose response arrives in lines. @throws ApiFailure if the status isn't 200 */
export type Open = (path: string, signal: AbortSignal) => Promise<AsyncIterable<string>>;

const List = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(z.unknown()).nullable(),
});
const PAGE = 500;

export function createListing({
  path,
  open,
  run,
  silenceMs,
}: {
  path: string;
  open: Open;
  run: Pick<Interruption, 'withIdleTimeout'>;
  /** The timeout between the parts of a response. */
  silenceMs: number;
}) {
  async function page(query: URLSearchParams): Promise<z.infer<typeof List>> {
    const text: string[] = [];
    const { signal, alive, done } = run.withIdleTimeout(silenceMs);
    try {
      for await (const line of await open(`${path}?${query}`, signal)) {
        alive(silenceMs);
        text.push(line);
      }
    } finally {
      done();
    }
    return List.parse(parseJson(text.join('\n')));
  }

  async function pages(limit: number | undefined): Promise<{ found: Map<string, Followed>; version: string }> {
    const found = new Map<string, Followed>();
    let more: string | undefined;
    let version = '';
    do {
      const query = new URLSearchParams();
      if (limit !== undefined) query.set('limit', String(limit));
      if (more !== undefined) query.set('continue', more);
      const { metadata, items } = await page(query);
      for (const item of items ?? []) {
        const object = Followed.safeParse(item);
        if (object.success) found.set(keyOf(object.data), object.data);
      }
      version = metadata.resourceVersion;
      more = metadata.continue || undefined;
    } while (more !== undefined);
    return { found, version };
  }

  return {
    /** All objects by key, and the version to watch from. */
    async all(): Promise<{ found: Map<string, Followed>; version: string }> {
      try {
        return await pages(PAGE);
      } catch (error) {
        // The history expired while pages were read: list without pages, which needs no history.
        if (!(error instanceof ApiFailure && error.status === 410)) throw error;
        return await pages(undefined);
      }
    },
    /** Whether the collection has reached this version; a restored backup can reset it to an older one. */
    async hasReached(version: string): Promise<boolean> {
      const { metadata } = await page(new URLSearchParams({ limit: '1' }));
      return !isBefore(metadata.resourceVersion, version);
    },
  };
}

/** Versions are decimal numbers that grow; an object that was never stored has none. */
export const isBefore = (one: string, other: string): boolean => BigInt(one || 0) < BigInt(other || 0);

export const keyOf = ({ metadata }: Followed) => `${metadata.namespace}/${metadata.name}`;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the Kubernetes API answered with something that is no JSON (${text.length} characters)`);
  }
}
