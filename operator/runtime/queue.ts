// A work queue: one run of a key at a time; a key that is added while it runs, runs once more; failures back off.
// Groups take turns, so that one with thousands of keys never makes another wait for more than a run of each group. The
// caller decides the groups; nothing here concerns Kubernetes. It works like client-go's workqueue.

export interface Timers {
  now(): number;
  /** Calls `call` after `ms`. @returns a function that cancels it */
  after(ms: number, call: () => void): () => void;
  /** Returns a number 0 ≤ x < 1, for the jitter. */
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
  /**
   * Runs the key as soon as there is room. Keys at leisure run after others, but get every fourth run, so that they
   * never wait for ever.
   */
  add(key: string, options?: { leisure?: boolean }): void;
  /** Runs the key after `ms`, at leisure; an earlier time takes precedence. */
  addAfter(key: string, ms: number): void;
  /**
   * Call it when the cause of failures is gone, for example when the server answers again: keys that back off run now,
   * with their counts reset.
   */
  hurry(): void;
  /** Resolves when no key runs or waits to run at once. */
  idle(): Promise<void>;
  stop(): Promise<void>;
  /** The number of keys that wait to run at once. */
  depth(): number;
  /** When the longest of the present runs began; undefined: no key runs. */
  runningSince(): number | undefined;
}

export interface QueueOptions {
  /** Runs the key. @returns the delay of the next run, `backoff` for growing delays, or nothing */
  run(key: string): Promise<{ afterMs: number } | 'backoff' | undefined>;
  /** Called with an error that `run` threw; the key backs off. */
  failed(key: string, error: unknown): void;
  /** Keys of one group run in the order they came; groups take turns. */
  group?(key: string): string;
  /** Called when a key starts that was to run at once, with the milliseconds that it waited for a free place. */
  waited?(ms: number): void;
  concurrency?: number;
  timers?: Timers;
}

const BASE_MS = 500;
const MAX_MS = 5 * 60_000;
/** The number of runs in a row before a key at leisure gets one. */
const URGENT_RUNS = 3;

export function createQueue(options: QueueOptions): Queue {
  const { run, failed, group = () => '', waited, concurrency = 4, timers = systemTimers } = options;
  const urgent = createFairQueue(group);
  const leisurely = createFairQueue(group);
  const ready = { size: () => urgent.size() + leisurely.size() };
  let urgentRuns = 0;
  const running = new Map<string, number>();
  const again = new Set<string>();
  const later = new Map<string, { at: number; cancel(): void }>();
  const failures = new Map<string, number>();
  let stopped = false;
  let waiters: (() => void)[] = [];

  function add(key: string, { leisure = false } = {}): void {
    if (stopped) return;
    later.get(key)?.cancel();
    later.delete(key);
    if (running.has(key)) again.add(key);
    else enqueue(key, leisure);
    pump();
  }

  function enqueue(key: string, leisure: boolean): void {
    if (urgent.has(key) || (leisure && leisurely.has(key))) return;
    // a key that moves up keeps the time since when it has waited
    const since = leisurely.remove(key) ?? timers.now();
    (leisure ? leisurely : urgent).add(key, since);
  }

  function next(): { key: string; since: number } | undefined {
    if (urgentRuns < URGENT_RUNS && urgent.size() > 0) {
      urgentRuns += 1;
      return urgent.take();
    }
    urgentRuns = 0;
    return leisurely.take() ?? urgent.take();
  }

  function addAfter(key: string, ms: number): void {
    if (stopped || urgent.has(key) || leisurely.has(key) || again.has(key)) return;
    const at = timers.now() + ms;
    const waiting = later.get(key);
    if (waiting && waiting.at <= at) return;
    waiting?.cancel();
    const cancel = timers.after(ms, () => {
      later.delete(key);
      add(key, { leisure: true });
    });
    later.set(key, { at, cancel });
  }

  function backOff(key: string): void {
    const tries = failures.get(key) ?? 0;
    failures.set(key, tries + 1);
    const full = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(tries, 20));
    // half fixed, half random, so that many failures don't retry together
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
      if (again.delete(key) && !stopped) enqueue(key, false);
      pump();
    }
  }

  function pump(): void {
    while (running.size < concurrency) {
      const first = next();
      if (!first) break;
      const now = timers.now();
      running.set(first.key, now);
      waited?.(now - first.since);
      void execute(first.key);
    }
    if (running.size === 0 && ready.size() === 0) {
      for (const waiter of waiters) waiter();
      waiters = [];
    }
  }

  function hurry(): void {
    const backing = [...failures.keys()];
    failures.clear();
    for (const key of backing) if (later.has(key) || running.has(key)) add(key, { leisure: true });
  }

  const idle = () =>
    new Promise<void>((resolve) => {
      if (running.size === 0 && ready.size() === 0) resolve();
      else waiters.push(resolve);
    });

  return {
    add,
    addAfter,
    hurry,
    idle,
    depth: ready.size,
    // runs are noted in the order they begin
    runningSince: () => running.values().next().value,
    async stop() {
      stopped = true;
      for (const { cancel } of later.values()) cancel();
      later.clear();
      urgent.clear();
      leisurely.clear();
      again.clear();
      await idle();
    },
  };
}

/** Waiting keys by group: the first group gives one key and moves to the end. */
function createFairQueue(groupOf: (key: string) => string) {
  const groups = new Map<string, Map<string, number>>();
  let size = 0;
  return {
    size: () => size,
    has: (key: string) => groups.get(groupOf(key))?.has(key) ?? false,
    add(key: string, now: number): void {
      const name = groupOf(key);
      const keys = groups.get(name) ?? new Map<string, number>();
      if (keys.has(key)) return;
      groups.set(name, keys.set(key, now));
      size += 1;
    },
    /** @returns since when it has waited */
    remove(key: string): number | undefined {
      const name = groupOf(key);
      const keys = groups.get(name);
      const since = keys?.get(key);
      if (!keys?.delete(key)) return undefined;
      size -= 1;
      if (keys.size === 0) groups.delete(name);
      return since;
    },
    take(): { key: string; since: number } | undefined {
      for (const [name, keys] of groups) {
        for (const [key, since] of keys) {
          keys.delete(key);
          size -= 1;
          groups.delete(name);
          if (keys.size > 0) groups.set(name, keys);
          return { key, since };
        }
      }
      return undefined;
    },
    clear(): void {
      groups.clear();
      size = 0;
    },
  };
}
