// Follows one kind of object: list in pages, then watch from there with bookmarks; lists again after 410, and watches again
// after silence or any other fault. It never throws and never stops by itself. What client-go's reflector does.
// It owns no connection: `open` does, so that tests need none.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** An object of the API, as far as following needs it. */
export const Followed = z
  .object({
    metadata: z.object({ name: z.string(), namespace: z.string().default(''), resourceVersion: z.string() }).loose(),
  })
  .loose();
export type Followed = z.infer<typeof Followed>;

const List = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(z.unknown()).nullable(),
});
const Event = z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']), object: z.unknown() });
const Marked = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const Failure = z.object({ code: z.number().optional(), message: z.string().optional() });

export interface ListWatchOptions {
  /** The collection, e.g. `/api/v1/secrets`. */
  path: string;
  /** A GET; the answer's text arrives in lines. @throws ApiFailure where the answer isn't 200 */
  open(path: string, signal: AbortSignal): Promise<AsyncIterable<string>>;
  upserted(object: Followed): void;
  deleted(object: Followed): void;
  log(message: string): void;
  /** It goes on after it was in trouble. */
  recovered?(): void;
  /** A list or a watch failed. */
  failed?(): void;
  /** Nothing heard for so long, bookmarks included: the connection is taken for dead. */
  silenceMs?: number;
  wait?(ms: number, signal: AbortSignal): Promise<unknown>;
  random?(): number;
}

/** The API server answered with something else than 200. */
export class ApiFailure extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const PAGE = 500;
/** The server ends a watch by itself after this time; bookmarks come about every minute. */
const WATCH_SECONDS = 290;
const SILENCE_MS = 150_000;
const MAX_BACKOFF_MS = 10_000;

export function createListWatch(options: ListWatchOptions) {
  const { path, open, upserted, deleted, log, silenceMs = SILENCE_MS, random = Math.random } = options;
  const { wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined) } =
    options;
  const stopping = new AbortController();
  const known = new Map<string, Followed>();
  let listed: () => void = () => {};
  const synced = new Promise<void>((resolve) => {
    listed = resolve;
  });
  let failures = 0;
  let troubled = false;
  function recover(): void {
    if (!troubled) return;
    troubled = false;
    options.recovered?.();
  }

  const keyOf = ({ metadata }: Followed) => `${metadata.namespace}/${metadata.name}`;
  /** A listener's mistake is its own: it must not end the following. */
  function tell(listener: (object: Followed) => void, object: Followed): void {
    try {
      listener(object);
    } catch (error) {
      log(`${path}: ${words(error)}`);
    }
  }

  /** @returns the version to watch from */
  async function list(): Promise<string> {
    const found = new Map<string, Followed>();
    let more: string | undefined;
    let version = '';
    do {
      const query = new URLSearchParams({ limit: String(PAGE), ...(more ? { continue: more } : {}) });
      const text: string[] = [];
      const { signal, done } = withSilence();
      try {
        for await (const line of await open(`${path}?${query}`, signal)) text.push(line);
      } finally {
        done();
      }
      const page = List.parse(JSON.parse(text.join('\n')));
      for (const item of page.items ?? []) {
        const object = Followed.safeParse(item);
        if (object.success) found.set(keyOf(object.data), object.data);
      }
      version = page.metadata.resourceVersion;
      more = page.metadata.continue || undefined;
    } while (more !== undefined);
    for (const [key, object] of known) {
      if (found.has(key)) continue;
      known.delete(key);
      tell(deleted, object);
    }
    for (const object of found.values()) take(object);
    return version;
  }

  function take(object: Followed): void {
    const key = keyOf(object);
    const before = known.get(key);
    known.set(key, object);
    if (before?.metadata.resourceVersion !== object.metadata.resourceVersion) tell(upserted, object);
  }

  function withSilence() {
    const silence = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(new Error('nothing was heard')), silenceMs);
      timer.unref();
    };
    heard();
    return { signal: AbortSignal.any([stopping.signal, silence.signal]), heard, done: () => clearTimeout(timer) };
  }

  /** Watches until the connection ends. @returns where to go on; undefined: list again */
  async function watch(from: string): Promise<string | undefined> {
    const query = new URLSearchParams({
      watch: 'true',
      resourceVersion: from,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(Math.round(WATCH_SECONDS * (1 + random()))),
    });
    const { signal, heard, done } = withSilence();
    let version = from;
    try {
      const lines = await open(`${path}?${query}`, signal);
      recover();
      for await (const line of lines) {
        heard();
        failures = 0;
        const next = hear(line);
        if (next === undefined) return undefined;
        version = next ?? version;
      }
      return version;
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 410) return undefined;
      if (stopping.signal.aborted) return version;
      // What was heard before the connection broke is known; going on from there loses nothing.
      await backOff(error);
      return version;
    } finally {
      done();
    }
  }

  /** @returns the version after it; undefined: the history is gone */
  function hear(line: string): string | null | undefined {
    if (line.trim() === '') return null;
    const event = Event.parse(JSON.parse(line));
    if (event.type === 'ERROR') {
      const { code, message = 'the watch failed' } = Failure.parse(event.object);
      if (code === 410) return undefined;
      throw new ApiFailure(code ?? 500, message);
    }
    if (event.type === 'BOOKMARK') return Marked.parse(event.object).metadata.resourceVersion;
    const object = Followed.parse(event.object);
    if (event.type === 'DELETED') {
      known.delete(keyOf(object));
      tell(deleted, object);
    } else take(object);
    return object.metadata.resourceVersion;
  }

  async function backOff(error: unknown): Promise<void> {
    failures += 1;
    troubled = true;
    options.failed?.();
    // said once for each spell of trouble, with the fault that began it
    if (failures === 1) log(`${path}: ${words(error)}; trying again`);
    const full = Math.min(MAX_BACKOFF_MS, 250 * 2 ** Math.min(failures, 10));
    await wait(full / 2 + (full / 2) * random(), stopping.signal);
  }

  async function follow(): Promise<void> {
    let version: string | undefined;
    while (!stopping.signal.aborted) {
      try {
        if (version === undefined) {
          version = await list();
          listed();
          continue;
        }
        const began = Date.now();
        version = await watch(version);
        // a server that ends each watch at once would be asked without a pause
        if (Date.now() - began < 1_000) await wait(1_000 * random(), stopping.signal);
      } catch (error) {
        version = undefined;
        if (!stopping.signal.aborted) await backOff(error);
      }
    }
  }

  let following: Promise<void> | undefined;
  return {
    /** Resolves once everything that exists has been told. */
    async start(): Promise<void> {
      following ??= follow();
      await Promise.race([synced, following]);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await following;
    },
    get: (namespace: string, name: string) => known.get(`${namespace}/${name}`),
    list: () => [...known.values()],
  };
}
export type ListWatch = ReturnType<typeof createListWatch>;

function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
