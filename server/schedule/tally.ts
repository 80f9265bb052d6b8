// Counts in one process that are written together, outside of all requests. A process that stops writes the rest; one that
// ends abruptly loses those that wait.
import { createRecurring, type Recurring } from './recurring.ts';

/** There is nothing to write without a count. */
const IDLE_MS = 3_600_000;

export interface Counted<Row> {
  row: Row;
  count: number;
}
export interface Tally<Row> extends Pick<Recurring, 'start' | 'stop'> {
  /** Counts once more under `key`. The row says what the key stands for. */
  add(key: string, row: Row): void;
}

export function createTally<Row>({
  write,
  soonMs,
  most,
  failed,
}: {
  write(counts: readonly Counted<Row>[]): Promise<unknown>;
  /** The time between a count and its writing. */
  soonMs: number;
  /** The most waiting keys. Beyond it, for example while the database is away, counts of further keys are dropped. */
  most: number;
  failed(error: unknown): void;
}): Tally<Row> {
  let waiting = new Map<string, Counted<Row>>();

  /** @returns whether the key is new */
  function put(key: string, row: Row, count: number): boolean {
    const known = waiting.get(key);
    if (known) known.count += count;
    else if (waiting.size < most) waiting.set(key, { row, count });
    return known === undefined;
  }

  async function writeAll(): Promise<void> {
    const counts = waiting;
    if (counts.size === 0) return;
    waiting = new Map();
    try {
      await write([...counts.values()]);
    } catch (error) {
      for (const [key, { row, count }] of counts) put(key, row, count);
      throw error;
    }
  }

  const writing = createRecurring({
    run: () => writeAll().then(() => 'idle'),
    soonMs,
    idleMs: IDLE_MS,
    longestMs: 60 * soonMs,
    failed,
  });
  return {
    add(key, row) {
      if (put(key, row, 1)) writing.ask();
    },
    start: writing.start,
    async stop() {
      await writing.stop();
      await writeAll().catch(failed);
    },
  };
}
