// Sees that a realm has changed by its revision: one conditional request for all realms, every 2 seconds.
// It never compares configuration; it only says whom to look at. What differs is for the server's plan to say, and what
// follows from it for controller.ts (converge). Decisions "Custom resources" (drift), "revision".
import type { Client } from '../../server/contract/client.ts';
import { listRealms } from '../../server/contract/realms.ts';
import type { Timers } from './queue.ts';

export interface Drift {
  start(): void;
  stop(): void;
  /** Our own write made this revision; it isn't drift, unless another write came between. */
  applied(realm: string, revision: number): void;
}

const EVERY_MS = 2_000;
const PAGE = 10_000;

export function createDrift({
  client,
  timers,
  changed,
  reached,
  answered,
  log,
}: {
  client: Client;
  timers: Timers;
  /** The realm was made, changed or deleted. */
  changed(realm: string): void;
  /** The server answers again after it did not. */
  reached(): void;
  /** Whether it answered, each time it was asked. */
  answered?: ((answered: boolean) => void) | undefined;
  log(message: string): void;
}): Drift {
  let known: Map<string, number> | undefined;
  let etag: string | undefined;
  let away = false;
  let cancel: (() => void) | undefined;
  let stopped = false;

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
      const found = await read();
      answered?.(true);
      if (away) {
        away = false;
        log('the server answers again');
        reached();
      }
      if (!found) return;
      const before = known;
      known = found;
      if (!before) return;
      for (const realm of new Set([...before.keys(), ...found.keys()])) {
        if (before.get(realm) !== found.get(realm)) changed(realm);
      }
    } catch (error) {
      answered?.(false);
      if (!away) log(`cannot ask the server for changes: ${error instanceof Error ? error.message : String(error)}`);
      away = true;
    }
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
    applied(realm, revision) {
      const before = known?.get(realm);
      // A realm that we have just made, or the very next revision: only our write lies between.
      if (!known || (before !== undefined && before !== revision - 1)) return;
      known.set(realm, revision);
      // What is known is no longer what the tag was given for: were our write undone, the tag would hold again.
      etag = undefined;
      // those who wait for the realm
      if (before === undefined) changed(realm);
    },
  };
}
