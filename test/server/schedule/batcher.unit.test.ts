import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBatcher } from '../../../server/schedule/batcher.ts';
import { Overloaded } from '../../../server/schedule/bulkhead.ts';

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

test('whoever waits for batches that do not end is told off, and who comes when one has ended is not', async () => {
  const served: number[] = [];
  const refused: number[] = [];
  const { promise: free, resolve: end } = Promise.withResolvers<void>();
  const join = createBatcher<number>({
    run: async (group) => {
      await free;
      served.push(...group);
    },
    refuse: (members, error) => {
      expect(error).toBeInstanceOf(Overloaded);
      refused.push(...members);
    },
    most: 2,
    concurrency: 2,
    timeoutMs: 50,
  });
  for (const n of numbers(7)) join(n);
  await expect.poll(() => refused).toEqual([4, 5, 6]);
  expect(served).toEqual([]);
  // Who came later has its own time.
  join(7);
  await expect.poll(() => refused).toEqual([4, 5, 6, 7]);
  end();
  await expect.poll(() => served).toEqual([0, 1, 2, 3]);
  for (const n of [8, 9, 10]) join(n);
  await expect.poll(() => served).toEqual([0, 1, 2, 3, 8, 9, 10]);
  await sleep(200);
  expect(refused).toEqual([4, 5, 6, 7]);
});
