// A batcher: requests that arrive while a batch runs share the next one, so that many share one message to the database. If no batch
// runs, a request starts at once. Its users define the requests (db/batched-reads.ts, db/group-commit.ts).
import { Overloaded } from './bulkhead.ts';

export interface BatcherOptions<Item> {
  /** Reports the results to the batch's members; it never fails. */
  run(batch: readonly Item[]): Promise<void>;
  /** Refuses items for which no batch began in time, for example because the database is away. */
  refuse(items: readonly Item[], error: Overloaded): void;
  /** The most items in a batch. */
  most: number;
  /** The most batches at once, each on a connection of its own. */
  concurrency: number;
  timeoutMs?: number;
}

/** A longer batch waits for something, perhaps on a dead connection: later items don't wait for it. */
const SLOW_MS = 200;

export function createBatcher<Item>({
  run,
  refuse,
  most,
  concurrency,
  timeoutMs = 5_000,
}: BatcherOptions<Item>): (item: Item) => void {
  let waiting: Item[] = [];
  let added = 0;
  /** The number of added items that no longer wait. */
  let removed = 0;
  let watching = false;
  let running = 0;
  /** The number of running batches that aren't slow. */
  let quick = 0;
  let scheduled = false;

  async function start(batch: readonly Item[]): Promise<void> {
    running += 1;
    quick += 1;
    let slow = false;
    const timer = setTimeout(() => {
      slow = true;
      quick -= 1;
      startReady();
    }, SLOW_MS);
    await run(batch);
    clearTimeout(timer);
    if (!slow) quick -= 1;
    running -= 1;
    startReady();
  }

  /** While a quick batch runs, only a full batch starts in parallel: smaller ones wait for more items. */
  const ready = () => running < concurrency && (quick === 0 || waiting.length >= most);

  function startReady(): void {
    scheduled = false;
    while (waiting.length > 0 && ready()) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      removed += batch.length;
      void start(batch);
    }
    if (waiting.length > 0 && !watching) watch();
  }

  /** One timer for all: requests that wait now are refused after `timeoutMs`, later ones by the next timer. */
  function watch(): void {
    const before = added;
    watching = true;
    const refuseLate = () => {
      const late = waiting.slice(0, Math.max(0, before - removed));
      waiting = waiting.slice(late.length);
      removed += late.length;
      if (late.length > 0) refuse(late, new Overloaded('what was asked before takes too long'));
      watching = false;
      if (waiting.length > 0) watch();
    };
    // After a pause of the process its timers run first: setImmediate lets finished batches make room before.
    setTimeout(() => setImmediate(refuseLate), timeoutMs).unref();
  }

  return (item) => {
    waiting.push(item);
    added += 1;
    // After all requests that this turn of the event loop has read.
    if (!scheduled) setImmediate(startReady);
    scheduled = true;
  };
}
