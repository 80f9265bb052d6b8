// A batcher: requests that arrive while a batch runs share the next one, so that many share one message to the database. If no batch
// runs, a request starts at once. Its users define the requests (db/batched-reads.ts, db/group-commit.ts).
import { Overloaded } from './bulkhead.ts';

export interface BatcherOptions<Item> {
  /** Tells its members what came of it; it never fails. */
  run(batch: readonly Item[]): Promise<void>;
  /** For items that no batch was begun for in time, as where the database is away. */
  refuse(items: readonly Item[], error: Overloaded): void;
  /** Items of a full batch. */
  most: number;
  /** Batches that run at once, each on a connection of its own. */
  concurrency: number;
  timeoutMs?: number;
}

/** A batch that takes longer waits for something, perhaps on a dead connection: who comes after it doesn't wait with it. */
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
  /** Of the added ones: those that wait no more. */
  let removed = 0;
  let watching = false;
  let running = 0;
  /** Those of the running that aren't slow. */
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

  /** While a quick one runs only a full batch starts beside it: what is not full waits for more. */
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
    // After a pause of the process its timers come first: what has ended meanwhile makes room.
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
