// Follows one kind of object: lists in pages, then watches from there with bookmarks; lists again after 410, and
// watches again after a timeout or any other fault. It never throws and never stops by itself. It works like
// client-go's reflector. `open` makes the connections, so that tests need none. It stores only the version of each
// object.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ApiFailure } from './api-failure.ts';
import { createInterruption } from './interruption.ts';
import { createListing, Followed, keyOf, type Open, parseJson } from './listing.ts';

const Event = z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']), object: z.unknown() });
const Marked = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const Failure = z.object({ code: z.number().optional(), message: z.string().optional() });

export interface ListWatchOptions {
  /** The collection, e.g. `/api/v1/secrets`. */
  path: string;
  open: Open;
  /** @param listedAt when the list that holds the object was requested (performance.now); undefined: it came by a watch */
  upserted(object: Followed, listedAt?: number): void;
  deleted(namespace: string, name: string): void;
  log(message: string): void;
  /** Called when a watch works again after faults. */
  recovered?(): void;
  /** A list or a watch failed. */
  failed?(): void;
  /** The time without any data, bookmarks included, after which the connection counts as dead. */
  silenceMs?: number;
  wait?(ms: number, signal: AbortSignal): Promise<unknown>;
  random?(): number;
}

/** The server ends a watch by itself after this time; bookmarks come about every minute. */
const WATCH_SECONDS = 290;
const SILENCE_MS = 150_000;
/**
 * The time limit for the beginning of an answer, and between the parts of a list; the API server itself ends a request
 * after 60 s.
 */
const ANSWER_MS = 60_000;
const MAX_BACKOFF_MS = 10_000;
/** A watch that lived this long was no failure, even if it reported nothing. */
const LASTING_MS = 10_000;
/** After this many failed watches in a row, the version from which they begin may be the cause, so it lists again. */
const RELIST_AFTER = 3;
/**
 * The number of 404 answers after which a kind counts as missing: an API server that has just started knows few kinds.
 */
const GONE_AFTER = 3;

export function createListWatch(options: ListWatchOptions) {
  const { path, open, upserted, deleted, log, silenceMs = SILENCE_MS, random = Math.random } = options;
  const { wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined) } =
    options;
  const answerMs = Math.min(ANSWER_MS, silenceMs);
  const run = createInterruption();
  const listing = createListing({ path, open, run, silenceMs: answerMs });
  /** Version by key. */
  const known = new Map<string, string>();
  let failures = 0;
  let missing = 0;
  let troubled = false;
  /** Whether the version may be from before a backup was restored. */
  let doubted = false;
  /** Functions to call when a list is complete that began after they were added. */
  let waiting: (() => void)[] = [];

  function recover(): void {
    if (!troubled) return;
    troubled = false;
    guarded(() => options.recovered?.());
  }
  /** Calls a listener. Its exception must not end the following. */
  function guarded(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      log(`${path}: ${words(error)}`);
    }
  }

  /** @returns the version to watch from */
  async function list(): Promise<string> {
    const asked = performance.now();
    const { found, version } = await listing.all();
    missing = 0;
    doubted = false;
    for (const key of [...known.keys()]) if (!found.has(key)) forget(key);
    for (const [key, object] of found) take(key, object, asked);
    return version;
  }

  function take(key: string, object: Followed, listedAt?: number): void {
    const { resourceVersion } = object.metadata;
    if (known.get(key) === resourceVersion) return;
    known.set(key, resourceVersion);
    guarded(() => upserted(object, listedAt));
  }
  function forget(key: string): void {
    if (!known.delete(key)) return;
    const slash = key.indexOf('/');
    guarded(() => deleted(key.slice(0, slash), key.slice(slash + 1)));
  }

  async function pause(ms: number): Promise<void> {
    const { signal, done } = run.interruptible();
    try {
      await wait(ms, signal);
    } finally {
      done();
    }
  }

  /** Watches until the connection ends. @returns the version to continue from; undefined: list again */
  async function watch(from: string): Promise<string | undefined> {
    const query = new URLSearchParams({
      watch: 'true',
      resourceVersion: from,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(Math.round(WATCH_SECONDS * (1 + random()))),
    });
    const { signal, alive, done } = run.withIdleTimeout(answerMs);
    let version = from;
    const began = performance.now();
    try {
      const lines = await open(`${path}?${query}`, signal);
      alive(silenceMs);
      recover();
      for await (const line of lines) {
        alive(silenceMs);
        const next = hear(line);
        if (next === undefined) return undefined;
        failures = 0;
        version = next ?? version;
      }
      return version;
    } catch (error) {
      if (performance.now() - began > LASTING_MS) failures = 0;
      return failed(error, version);
    } finally {
      done();
    }
  }

  /** @returns the version to continue from; undefined: list again */
  async function failed(error: unknown, version: string): Promise<string | undefined> {
    if (run.stopped() || run.interrupted()) return undefined;
    if (error instanceof ApiFailure && error.status === 410) return undefined;
    doubted = true;
    await backOff(error);
    // Events up to this version arrived before the connection broke, so a watch from it loses none. If the API server itself
    // refuses, list again: the kind may be gone.
    const refused = error instanceof ApiFailure && error.status !== 429 && error.status !== 503;
    return refused || failures >= RELIST_AFTER ? undefined : version;
  }

  /** Checks the version: after a restored backup, a watch from a future version would stay silent. */
  async function checked(version: string): Promise<string | undefined> {
    try {
      doubted = !(await listing.hasReached(version));
      return doubted ? undefined : version;
    } catch (error) {
      return failed(error, version);
    }
  }

  /** Handles one event. @returns the version after it; undefined: the history is gone */
  function hear(line: string): string | null | undefined {
    if (line.trim() === '') return null;
    const event = Event.parse(parseJson(line));
    if (event.type === 'ERROR') {
      const { code, message = 'the watch failed' } = Failure.parse(event.object);
      if (code === 410) return undefined;
      throw new ApiFailure(code ?? 500, message);
    }
    if (event.type === 'BOOKMARK') return Marked.parse(event.object).metadata.resourceVersion;
    const object = Followed.parse(event.object);
    if (event.type === 'DELETED') forget(keyOf(object));
    else take(keyOf(object), object);
    return object.metadata.resourceVersion;
  }

  async function backOff(error: unknown): Promise<void> {
    failures += 1;
    troubled = true;
    guarded(() => options.failed?.());
    // logged once for each series of faults, with the first
    if (failures === 1) log(`${path}: ${words(error)}; trying again`);
    const full = Math.min(MAX_BACKOFF_MS, 250 * 2 ** Math.min(failures, 10));
    await pause(full / 2 + (full / 2) * random());
  }

  /** The kind doesn't exist, or no longer, so it has no objects. */
  function noSuchKind(): void {
    log(`${path}: the cluster does not know this kind (are the CRDs installed?); trying again from time to time`);
    for (const key of [...known.keys()]) forget(key);
  }

  async function listAndTell(): Promise<string | undefined> {
    run.resume();
    const told = waiting;
    waiting = [];
    try {
      const version = await list();
      for (const resolve of told) resolve();
      return version;
    } catch (error) {
      missing = error instanceof ApiFailure && error.status === 404 ? missing + 1 : 0;
      if (missing === GONE_AFTER) noSuchKind();
      if (missing >= GONE_AFTER) for (const resolve of told) resolve();
      else waiting.unshift(...told);
      if (!run.stopped() && !run.interrupted()) await backOff(error);
      return undefined;
    }
  }

  async function follow(): Promise<void> {
    let version: string | undefined;
    while (!run.stopped()) {
      if (version === undefined) {
        version = await listAndTell();
        continue;
      }
      if (doubted) {
        version = await checked(version);
        if (run.interrupted()) version = undefined;
        continue;
      }
      const began = performance.now();
      version = await watch(version);
      // a server that ends each watch at once would otherwise be asked without a pause
      if (performance.now() - began < 1_000) await pause(1_000 * random());
      if (run.interrupted()) version = undefined;
    }
    for (const resolve of waiting) resolve();
  }

  /** Lists again now. Resolves once every existing object has been reported, or at a stop. */
  function refresh(): Promise<void> {
    if (run.stopped()) return Promise.resolve();
    const listed = new Promise<void>((resolve) => waiting.push(resolve));
    run.interrupt();
    return listed;
  }

  let following: Promise<void> | undefined;
  return {
    start(): Promise<void> {
      const listed = refresh();
      following ??= follow();
      return listed;
    },
    refresh,
    async stop(): Promise<void> {
      run.stop();
      await following;
    },
  };
}
export type ListWatch = ReturnType<typeof createListWatch>;

function words(error: unknown): string {
  if (error instanceof z.ZodError) return 'the Kubernetes API answered with something unknown';
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
