// A semaphore by key: it limits the concurrent calls of one key and of all keys. Further calls wait in order, without a time limit.
// bulkhead.ts limits the wait.

export type Semaphore = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createSemaphore({
  perKey,
  inAll = Number.POSITIVE_INFINITY,
}: {
  perKey: number;
  inAll?: number;
}): Semaphore {
  const running = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();
  let total = 0;

  const mayEnter = (key: string) => total < inAll && (running.get(key) ?? 0) < perKey;
  function take(key: string): void {
    total += 1;
    running.set(key, (running.get(key) ?? 0) + 1);
  }

  /** Checks each key, so that a key with many waiting calls never blocks the others. */
  function admit(keys: Iterable<string>): void {
    for (const key of keys) {
      const queue = waiting.get(key);
      if (!queue || !mayEnter(key)) continue;
      waiting.delete(key);
      take(key);
      queue.shift()?.();
      if (queue.length > 0) waiting.set(key, queue);
    }
  }

  function release(key: string): void {
    const wasFull = total >= inAll;
    total -= 1;
    const left = (running.get(key) ?? 0) - 1;
    if (left > 0) running.set(key, left);
    else running.delete(key);
    admit(wasFull ? [...waiting.keys()] : [key]);
  }

  return async (key, work) => {
    if (mayEnter(key)) take(key);
    else
      await new Promise<void>((enter) => {
        const queue = waiting.get(key) ?? [];
        waiting.set(key, queue);
        queue.push(enter);
      });
    try {
      return await work();
    } finally {
      release(key);
    }
  };
}
