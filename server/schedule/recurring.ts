// Work that is done again and again by one process of several: soon after it was asked for, and now and then by itself. One run at a
// time; after a failure it waits longer each time.
export interface Recurring {
  /** There is something to do: soon. */
  ask(): void;
  start(): void;
  /** Begins no more, and waits for what runs. */
  stop(): Promise<void>;
}

export function createRecurring({
  run,
  soonMs,
  idleMs,
  longestMs = idleMs,
  failed,
}: {
  /** @returns whether there is more to do at once (`again`), soon, or nothing as far as is known */
  run(): Promise<'again' | 'soon' | 'idle'>;
  soonMs: number;
  /** Milliseconds between runs without a request. */
  idleMs: number;
  /** Between tries after failures. */
  longestMs?: number;
  failed(error: unknown): void;
}): Recurring {
  let timer: NodeJS.Timeout | undefined;
  let due = Number.POSITIVE_INFINITY;
  let running: Promise<void> | undefined;
  let asked = false;
  let failures = 0;
  let on = false;

  function within(ms: number): void {
    const at = performance.now() + ms;
    if (!on || running || due <= at) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(() => void go(), ms).unref();
  }

  async function once(): Promise<number> {
    try {
      const left = await run();
      failures = 0;
      return left === 'again' ? 0 : left === 'soon' || asked ? soonMs : idleMs;
    } catch (error) {
      failures += 1;
      failed(error);
      return Math.min(longestMs, soonMs * 2 ** Math.min(failures, 20));
    }
  }

  async function go(): Promise<void> {
    asked = false;
    due = Number.POSITIVE_INFINITY;
    let pause = idleMs;
    running = once().then((ms) => {
      pause = ms;
    });
    await running;
    running = undefined;
    // Also for an event that asked after the run had chosen its pause.
    within(asked && failures === 0 ? Math.min(pause, soonMs) : pause);
  }

  return {
    ask() {
      // Each event asks: what has been asked for since the last run is due already.
      if (asked) return;
      asked = true;
      // after a failure, requests wait for the pause too
      if (failures === 0) within(soonMs);
    },
    start() {
      on = true;
      within(0);
    },
    async stop() {
      on = false;
      clearTimeout(timer);
      await running;
    },
  };
}
