// Interrupts waits for answers: at a stop, for more urgent work, or after a timeout.

export interface Running {
  /** Aborted when the wait has to end. */
  signal: AbortSignal;
  /** Call it when the wait has ended. */
  done(): void;
}

export function createInterruption() {
  const stopping = new AbortController();
  let turn = new AbortController();

  function endable(): Running & { end(): void } {
    const ended = new AbortController();
    const sources = [stopping.signal, turn.signal];
    const end = () => ended.abort(new Error('nothing was heard'));
    for (const source of sources) {
      if (source.aborted) end();
      source.addEventListener('abort', end);
    }
    const done = () => {
      for (const source of sources) source.removeEventListener('abort', end);
    };
    return { signal: ended.signal, end, done };
  }

  return {
    /** Ends all waits for good. */
    stop: () => stopping.abort(),
    stopped: () => stopping.signal.aborted,
    /** Ends running waits, and every wait that begins before `resume`. */
    interrupt: () => turn.abort(),
    interrupted: () => turn.signal.aborted,
    resume() {
      turn = new AbortController();
    },
    interruptible: (): Running => endable(),
    /** A wait that also ends if `alive` isn't called within the time. */
    withIdleTimeout(firstMs: number): Running & { alive(ms: number): void } {
      const { signal, end, done } = endable();
      let timer: NodeJS.Timeout | undefined;
      const alive = (ms: number) => {
        clearTimeout(timer);
        timer = setTimeout(end, ms);
        timer.unref();
      };
      alive(firstMs);
      return {
        signal,
        alive,
        done() {
          clearTimeout(timer);
          done();
        },
      };
    },
  };
}
export type Interruption = ReturnType<typeof createInterruption>;
