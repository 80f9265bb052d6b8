// Recurring work of one among several processes: it runs soon after a request, and at intervals. One run at a time;
// after failures the pauses grow.
export interface Recurring {
  /** Requests a run soon, because there is work. */
  ask(): void;
  start(): void;
  /** Starts no more runs, and waits for the present one. */
  stop(): Promise<void>;
}

export function createRecurring({
  run,
  soonMs,
  idleMs,
  longestMs = idleMs,
  failed,
}: {
  /** @returns whether there is more work at once (`again`), soon, or none as far as is known */
  run(): Promise<'again' | 'soon' | 'idle'>;
  soonMs: number;
  /** Milliseconds between runs without a request. */
  idleMs: number;
  /** The longest pause after failures. */
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
    // Also for an event whose request came after the run had chosen its pause.
    within(asked && failures === 0 ? Math.min(pause, soonMs) : pause);
  }

  return {
    ask() {
      // Each event requests a run: one request since the last run is enough.
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
