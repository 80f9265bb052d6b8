// Recurring work begins soon after each event that asks for it, whenever the event comes.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRecurring } from '../../../server/schedule/recurring.ts';

const afterMicrotasks = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await undefined;
};

test('an event that asks while a run ends begins another run soon', async () => {
  for (const microtasks of [0, 1, 2, 3, 4, 5]) {
    let runs = 0;
    const work = createRecurring({
      async run() {
        runs += 1;
        if (runs === 1) void afterMicrotasks(microtasks).then(work.ask);
        return 'idle';
      },
      soonMs: 1,
      idleMs: 3_600_000,
      failed: () => {},
    });
    work.start();
    await expect.poll(() => runs, { message: `after ${microtasks} microtasks` }).toBe(2);
    await work.stop();
  }
});

test('events of one moment begin one run', async () => {
  let runs = 0;
  const work = createRecurring({
    async run() {
      runs += 1;
      return 'idle';
    },
    soonMs: 5,
    idleMs: 3_600_000,
    failed: () => {},
  });
  work.start();
  await expect.poll(() => runs).toBe(1);
  for (let i = 0; i < 10; i += 1) work.ask();
  await expect.poll(() => runs).toBe(2);
  await sleep(30);
  expect(runs).toBe(2);
  await work.stop();
});
