// Sees that a realm has changed by its revision: one conditional request for all realms, every 2 seconds.
// It never compares configuration; it only says whom to look at. What differs is for the server's plan to say, and what
// follows from it for controller.ts (converge). Decisions "Custom resources" (drift), "revision".
import type { Client } from '../../server/contract/client.ts';
import { because, errorWords } from '../../server/contract/error-words.ts';
import { listRealms } from '../../server/contract/realms.ts';
import type { Timers } from './queue.ts';

export interface Drift {
  start(): void;
  stop(): void;
  /** A pass has planned against this revision; what comes after it must not be missed, also before the first look. */
  looked(realm: string, revision: number): void;
  /** Runs a write of our own: until it has ended, nobody can tell whose a new revision of the realm is. */
  writing<T>(realm: string, write: () => Promise<T>): Promise<T>;
  /** Our own write made this revision; it isn't drift, unless another write came between. */
  applied(realm: string, revision: number): void;
}

const EVERY_MS = 2_000;
const PAGE = 10_000;

export function createDrift({
  client,
  timers,
  changed,
  made,
  reached,
  answered,
  log,
}: {
  client: Client;
  timers: Timers;
  /** The realm was made, changed or deleted. */
  changed(realm: string): void;
  /** We have made it ourselves: who waits for it can go on. */
  made(realm: string): void;
  /** The server answers again after it did not. */
  reached(): void;
  /** Whether it answered, each time it was asked. */
  answered?: ((answered: boolean) => void) | undefined;
  log(message: string): void;
}): Drift {
  let known: Map<string, number> | undefined;
  /** Revisions that passes have gone by before the first look. */
  const early = new Map<string, number>();
  let etag: string | undefined;
  let away = false;
  let cancel: (() => void) | undefined;
  let stopped = false;
  /** Our own writes in flight, by realm. */
  const inFlight = new Map<string, number>();
  /** Revisions of ours beyond what is known, since answers overtake each other. */
  const ours = new Map<string, Set<number>>();
  /** Realms of which `known` has moved on while the server was being read. */
  let moved = new Set<string>();

  async function read(): Promise<Map<string, number> | undefined> {
    const found = new Map<string, number>();
    let cursor: string | undefined;
    do {
      const answer = await client.call(listRealms, {
        query: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
        ...(etag !== undefined && cursor === undefined ? { headers: { 'if-none-match': etag } } : {}),
      });
      if (answer.status === 304) return undefined;
      if (cursor === undefined) etag = answer.etag;
      for (const { realm, revision } of answer.body ?? []) found.set(realm, revision);
      cursor = answer.nextCursor;
    } while (cursor !== undefined);
    return found;
  }

  async function poll(): Promise<void> {
    try {
      moved = new Set();
      const found = await read();
      answered?.(true);
      if (away) {
        away = false;
        log('the server answers again');
        reached();
      }
      if (!found) return;
      take(found);
    } catch (error) {
      answered?.(false);
      if (!away) log(`cannot ask the server for changes: ${errorWords(error)}${because(Object(error).cause)}`);
      away = true;
    }
  }

  function take(found: Map<string, number>): void {
    const before = known ?? new Map([...early].map(([realm, from]) => [realm, lastOf(ours.get(realm), from)]));
    const realms = known ? new Set([...known.keys(), ...found.keys()]) : early.keys();
    known = found;
    for (const realm of ours.keys()) {
      advance(realm);
      if (!found.has(realm) && !inFlight.has(realm)) ours.delete(realm);
    }
    for (const realm of realms) {
      const [was, is] = [before.get(realm), found.get(realm)];
      if (was === is) continue;
      const older = moved.has(realm) && was !== undefined && (is === undefined || is < was);
      if (!older && !inFlight.has(realm)) {
        changed(realm);
        continue;
      }
      // read before our write came to be known, or while one is under way: the next look tells
      if (was === undefined) found.delete(realm);
      else found.set(realm, was);
      etag = undefined;
    }
  }

  /** Goes on over revisions of ours that follow each other without a gap. */
  function advance(realm: string): void {
    const revisions = ours.get(realm);
    const from = known?.get(realm);
    if (!known || !revisions || from === undefined) return;
    const at = lastOf(revisions, from);
    for (const revision of revisions) if (revision <= at) revisions.delete(revision);
    if (revisions.size === 0) ours.delete(realm);
    if (at === from) return;
    known.set(realm, at);
    moved.add(realm);
    // What is known is no longer what the tag was given for: were our write undone, the tag would hold again.
    etag = undefined;
  }

  async function loop(): Promise<void> {
    await poll();
    if (!stopped) cancel = timers.after(EVERY_MS, () => void loop());
  }

  return {
    start: () => void loop(),
    stop() {
      stopped = true;
      cancel?.();
    },
    looked(realm, revision) {
      if (!known && revision > 0 && !early.has(realm)) early.set(realm, revision);
    },
    async writing(realm, write) {
      inFlight.set(realm, (inFlight.get(realm) ?? 0) + 1);
      try {
        return await write();
      } finally {
        const left = (inFlight.get(realm) ?? 1) - 1;
        if (left === 0) inFlight.delete(realm);
        else inFlight.set(realm, left);
      }
    },
    applied(realm, revision) {
      if (known && !known.has(realm)) {
        known.set(realm, revision);
        moved.add(realm);
        etag = undefined;
        made(realm);
        return;
      }
      if (!known) {
        if (!early.has(realm)) early.set(realm, revision);
        moved.add(realm);
      }
      const revisions = ours.get(realm) ?? new Set();
      ours.set(realm, revisions.add(revision));
      advance(realm);
    },
  };
}

/** The last revision of ours that follows `from` without a gap. */
function lastOf(ours: ReadonlySet<number> | undefined, from: number): number {
  let at = from;
  while (ours?.has(at + 1)) at += 1;
  return at;
}
