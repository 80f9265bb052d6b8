// Loaded into a server's process by `--import`: answers each message with the bytes that its heap holds. `collect` empties the heap of
// garbage first; between two answers nothing is collected where the young generation is large enough, so the difference is what was
// allocated.
import { PerformanceObserver } from 'node:perf_hooks';

let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ['gc'] });

/** A probe's answer. */
export interface Heap {
  used: number;
  /** Garbage collections so far: a difference of `used` over one says nothing. */
  collections: number;
}

process.on('message', (message) => {
  if (message === 'collect') globalThis.gc?.();
  const used = process.memoryUsage().heapUsed;
  // An observer hears of a collection a while later.
  setTimeout(
    () =>
      process.send?.({
        used: message === 'collect' ? process.memoryUsage().heapUsed : used,
        collections,
      } satisfies Heap),
    100,
  );
});
process.channel?.unref();
