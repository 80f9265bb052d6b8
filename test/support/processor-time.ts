// Owns: how much of the event loop's processor time a piece of work takes, so that a noisy machine doesn't count.
// Does not own: the work, its inputs (worst-inputs.ts).
// Implements: tests that no request stalls the server for others.
import { createHash } from 'node:crypto';

/** Of the thread that this runs in, which is the event loop's: waiting, other processes and the thread pool don't count. */
async function once(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Milliseconds, the least of several runs: the first ones load and compile, others are disturbed.
 * @param enough it runs no further once a run took no longer
 */
export async function processorTime(work: () => unknown, enough = 0, runs = 8): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs && least > enough; run++) least = Math.min(least, await once(work));
  return least;
}

/** Milliseconds that the yardstick takes on a processor of 2020 at 3 GHz, on which a request may take 50 ms. */
const YARDSTICK_MS = 20;
function yardstick(): void {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ i, name: `name ${i}` })));
  for (let i = 0; i < 2; i++) JSON.parse(text);
  createHash('sha256').update(text.repeat(8)).digest();
}

/** The most that one request may take here: 50 ms, and more where the machine is slower than the one that the limit is meant for. */
export async function mostOfARequest(): Promise<number> {
  return 50 * Math.max(1, (await processorTime(yardstick)) / YARDSTICK_MS);
}
