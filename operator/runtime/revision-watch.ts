// Notices changed realms by their revisions: one conditional request for all realms, every 2 seconds.
// It compares revisions, never configuration, and only names the realms to plan again. The server's plan then finds the
// differences, and converge.ts acts on them. Decisions "Custom resources" (drift), "revision".
import type { Client } from '../../server/contract/client.ts';
import { causeWords, errorWords } from '../../server/contract/error-words.ts';
import { listRealms } from '../../server/contract/realms.ts';
import type { Timers } from './queue.ts';

export interface RevisionWatch {
  start(): void;
  stop(): void;
  /** A pass has planned against this revision. Later revisions must be noticed even if they come before the first poll. */
  looked(realm: string, revision: number): void;
  /** Runs a write of our own: until it has ended, it is unknown whose write made a new revision of the realm. */
  writing<T>(realm: string, write: () => Promise<T>): Promise<T>;
  /** Our own write made this revision; it isn't drift, unless another write came between. */
  applied(realm: string, revision: number): void;
}

const EVERY_MS = 2_000;
const PAGE = 10_000;

/** One realm's revisions: the last that was polled, and those of the operator's own writes. */
interface Seen {
  /** As last polled, plus our own later writes; before the first poll, the revision of a pass. Undefined: no realm. */
  revision: number | undefined;
  /** Our own writes in flight. */
  writing: number;
  /** Revisions of ours beyond `revision`, since answers overtake each other. */
  ours: Set<number>;
  /** The number of the poll during which our own write moved `revision` on. That poll's answer may be older. */
  movedIn: number;
}

export function createRevisionWatch({
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
  /** The realm was created, changed or deleted. */
  changed(realm: string): void;
  /** This operator has created the realm: resources that wait for it can proceed. */
  made(realm: string): void;
  /** The server answers again after an outage. */
  reached(): void;
  /** Called after each request: whether the server answered. */
  answered?: ((answered: boolean) => void) | undefined;
  log(message: string): void;
}): RevisionWatch {
  const realms = new Map<string, Seen>();
  let look = 0;
  /** Whether the server has listed all realms once. */
  let complete = false;
  let etag: string | undefined;
  let away = false;
  let cancel: (() => void) | undefined;
  let stopped = false;

  function seenOf(realm: string): Seen {
    const seen = realms.get(realm) ?? { revision: undefined, writing: 0, ours: new Set(), movedIn: 0 };
    realms.set(realm, seen);
    return seen;
  }

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
      look += 1;
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
      if (!away) log(`cannot ask the server for changes: ${errorWords(error)}${causeWords(Object(error).cause)}`);
      away = true;
    }
  }

  function take(found: ReadonlyMap<string, number>): void {
    for (const realm of found.keys()) seenOf(realm);
    for (const [realm, seen] of realms) {
      const was = seen.revision;
      const is = follow(seen, found.get(realm));
      const told = complete || was !== undefined;
      if (was === is || !told) seen.revision = is;
      else if (seen.writing > 0 || isStale(seen, is)) etag = undefined;
      else {
        seen.revision = is;
        changed(realm);
      }
      if (seen.revision === undefined && seen.writing === 0) realms.delete(realm);
    }
    complete = true;
  }

  /** Whether the server read the answer before our write was complete. Then the next poll decides. */
  const isStale = ({ revision, movedIn }: Seen, is: number | undefined): boolean =>
    movedIn === look && revision !== undefined && (is === undefined || is < revision);

  /** The last of our own revisions that follow `from` without a gap; `from` if there is none. */
  function follow(seen: Seen, from: number | undefined): number | undefined {
    if (from === undefined) return undefined;
    let at = from;
    while (seen.ours.has(at + 1)) at += 1;
    for (const revision of seen.ours) if (revision <= at) seen.ours.delete(revision);
    if (at === from) return from;
    seen.movedIn = look;
    // The tag was issued for an older state than this one: if our write were undone, the tag would match again.
    etag = undefined;
    return at;
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
      if (complete || revision === 0) return;
      seenOf(realm).revision ??= revision;
    },
    async writing(realm, write) {
      seenOf(realm).writing += 1;
      try {
        return await write();
      } finally {
        seenOf(realm).writing -= 1;
      }
    },
    applied(realm, revision) {
      const seen = seenOf(realm);
      if (seen.revision !== undefined) {
        seen.ours.add(revision);
        seen.revision = follow(seen, seen.revision);
        return;
      }
      seen.revision = revision;
      seen.movedIn = look;
      etag = undefined;
      if (complete) made(realm);
    },
  };
}
