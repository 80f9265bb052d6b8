// A work queue: one run of a key at a time, a key that is added while it runs runs once more, failures back off.
// It knows nothing of Kubernetes. Style "Operator" (what client-go's workqueue does).

export interface Timers {
  now(): number;
  /** Calls back after `ms`; the answer cancels. */
  after(ms: number, call: () => void): () => void;
  /** 0 ≤ x < 1; jitter. */
  random(): number;
}

export const systemTimers: Timers = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

export interface Queue {
  /** Runs the key as soon as there is room. */
  add(key: string): void;
  /** Runs the key after `ms`; an earlier time wins. */
  addAfter(key: string, ms: number): void;
  /** What made runs fail is over: whatever backs off runs now, and its failures are forgotten. */
  hurry(): void;
  /** Resolves when nothing runs and nothing waits to run at once. */
  idle(): Promise<void>;
  stop(): Promise<void>;
  depth(): number;
}

const BASE_MS = 500;
const MAX_MS = 5 * 60_000;

/**
 * @param run answers the delay of the next run, `backoff` for ever longer ones, or nothing
 * @param failed hears of an error that `run` threw; the key backs off
 */
export function createQueue({
  run,
  failed,
  concurrency = 4,
  timers = systemTimers,
}: {
  run(key: string): Promise<{ afterMs: number } | 'backoff' | undefined>;
  failed(key: string, error: unknown): void;
  concurrency?: number;
  timers?: Timers;
}): Queue {
  const ready = new Set<string>();
  const running = new Set<string>();
  const again = new Set<string>();
  const later = new Map<string, { at: number; cancel(): void }>();
  const failures = new Map<string, number>();
  let stopped = false;
  let waiters: (() => void)[] = [];

  function add(key: string): void {
    if (stopped) return;
    later.get(key)?.cancel();
    later.delete(key);
    if (running.has(key)) again.add(key);
    else ready.add(key);
    pump();
  }

  function addAfter(key: string, ms: number): void {
    if (stopped || ready.has(key) || again.has(key)) return;
    const at = timers.now() + ms;
    const waiting = later.get(key);
    if (waiting && waiting.at <= at) return;
    waiting?.cancel();
    const cancel = timers.after(ms, () => {
      later.delete(key);
      add(key);
    });
    later.set(key, { at, cancel });
  }

  function backOff(key: string): void {
    const tries = failures.get(key) ?? 0;
    failures.set(key, tries + 1);
    const full = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(tries, 20));
    // half fixed, half random: a herd of failures spreads
    addAfter(key, full / 2 + (full / 2) * timers.random());
  }

  async function execute(key: string): Promise<void> {
    try {
      const next = await run(key);
      if (next === 'backoff') backOff(key);
      else {
        failures.delete(key);
        if (next) addAfter(key, next.afterMs);
      }
    } catch (error) {
      failed(key, error);
      backOff(key);
    } finally {
      running.delete(key);
      if (again.delete(key) && !stopped) ready.add(key);
      pump();
    }
  }

  function pump(): void {
    for (const key of ready) {
      if (running.size >= concurrency) break;
      ready.delete(key);
      running.add(key);
      void execute(key);
    }
    if (running.size === 0 && ready.size === 0) {
      for (const waiter of waiters) waiter();
      waiters = [];
    }
  }

  function hurry(): void {
    const backing = [...failures.keys()];
    failures.clear();
    for (const key of backing) if (later.has(key) || running.has(key)) add(key);
  }

  const idle = () =>
    new Promise<void>((resolve) => {
      if (running.size === 0 && ready.size === 0) resolve();
      else waiters.push(resolve);
    });

  return {
    add,
    addAfter,
    hurry,
    idle,
    depth: () => ready.size,
    async stop() {
      stopped = true;
      for (const { cancel } of later.values()) cancel();
      later.clear();
      ready.clear();
      again.clear();
      await idle();
    },
  };
}
