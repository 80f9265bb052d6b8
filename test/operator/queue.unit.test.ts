// The work queue under a clock of the test's own: one run of a key at a time, groups in turn, back-off with jitter, a
// graceful stop.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createQueue, type Timers } from '../../operator/runtime/queue.ts';

/** Time passes only by `pass`; jitter is what the test says. */
function fakeTimers(random = () => 0) {
  let time = 0;
  let pending: { at: number; call(): void }[] = [];
  const timers: Timers = {
    now: () => time,
    after(ms, call) {
      const timer = { at: time + ms, call };
      pending.push(timer);
      return () => {
        pending = pending.filter((other) => other !== timer);
      };
    },
    random,
  };
  return {
    timers,
    waiting: () => pending.map(({ at }) => at - time).sort((a, b) => a - b),
    async pass(ms: number) {
      const until = time + ms;
      for (;;) {
        const next = pending.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        time = next.at;
        pending = pending.filter((other) => other !== next);
        next.call();
        await settle();
      }
      time = until;
    },
  };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Runs end when the test says so. */
function harness(concurrency = 4, random?: () => number, group?: (key: string) => string) {
  const clock = fakeTimers(random);
  const runs: string[] = [];
  const errors: unknown[] = [];
  const open = new Map<string, (result: { afterMs: number } | 'backoff' | Error | undefined) => void>();
  const waits: number[] = [];
  const queue = createQueue({
    concurrency,
    timers: clock.timers,
    ...(group && { group }),
    waited: (ms) => void waits.push(ms),
    failed: (_, error) => void errors.push(error),
    run(key) {
      runs.push(key);
      return new Promise((resolve, reject) => {
        open.set(key, (result) => (result instanceof Error ? reject(result) : resolve(result)));
      });
    },
  });
  const end = async (key: string, result?: { afterMs: number } | 'backoff' | Error) => {
    const finish = open.get(key);
    open.delete(key);
    finish?.(result);
    await settle();
  };
  return { ...clock, queue, runs, errors, open, waits, end };
}

test('a key that is added many times before it runs runs once', () => {
  const { queue, runs } = harness(1);
  queue.add('busy');
  for (let i = 0; i < 5; i += 1) queue.add('a');
  expect(runs).toEqual(['busy']);
  expect(queue.depth()).toBe(1);
});

test('a key that is added while it runs runs once more afterwards, and never twice at a time', async () => {
  const { queue, runs, open, end } = harness();
  queue.add('a');
  queue.add('a');
  queue.add('a');
  expect(runs).toEqual(['a']);
  expect(open.size).toBe(1);
  await end('a');
  expect(runs).toEqual(['a', 'a']);
  await end('a');
  expect(runs).toEqual(['a', 'a']);
});

test('no more keys run at once than it is told', async () => {
  const { queue, runs, open, end } = harness(2);
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  expect([...open.keys()]).toEqual(['a', 'b']);
  expect(queue.depth()).toBe(2);
  await end('b');
  expect([...open.keys()].sort()).toEqual(['a', 'c']);
  await end('a');
  await end('c');
  expect(runs).toEqual(['a', 'b', 'c', 'd']);
});

test('failures back off ever longer, half of it by chance, and five minutes at most', async () => {
  for (const [random, factor] of [
    [0, 0.5],
    [0.999_999, 1],
  ] as const) {
    const { queue, end, pass, waiting } = harness(4, () => random);
    queue.add('a');
    const delays: number[] = [];
    for (let i = 0; i < 12; i += 1) {
      await end('a', 'backoff');
      delays.push(waiting()[0] ?? 0);
      await pass(400_000);
    }
    expect(delays.map((ms) => Math.round(ms))).toEqual(
      [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000].map(
        (ms) => ms * factor,
      ),
    );
  }
});

test('a success forgets the failures before it', async () => {
  const { queue, end, pass, waiting } = harness();
  queue.add('a');
  for (let i = 0; i < 5; i += 1) {
    await end('a', 'backoff');
    await pass(300_000);
  }
  await end('a');
  queue.add('a');
  await end('a', 'backoff');
  expect(waiting()).toEqual([250]);
});

test('when what made runs fail is over, what backs off runs at once, and only that', async () => {
  const { queue, runs, end, waiting } = harness();
  queue.add('fine');
  await end('fine', { afterMs: 600_000 });
  for (let i = 0; i < 10; i += 1) {
    queue.add('bad');
    await end('bad', 'backoff');
  }
  runs.length = 0;
  queue.hurry();
  expect(runs).toEqual(['bad']);
  await end('bad', 'backoff');
  // its failures before are forgotten
  expect(waiting()).toEqual([250, 600_000]);
});

test('an error is told and backs off as well', async () => {
  const { queue, runs, errors, end, pass } = harness();
  queue.add('a');
  const error = new Error('nobody foresaw this');
  await end('a', error);
  expect(errors).toEqual([error]);
  await pass(500);
  expect(runs).toEqual(['a', 'a']);
});

test('adding a key that backs off runs it at once, and not a second time when its time comes', async () => {
  const { queue, runs, end, pass, waiting } = harness();
  queue.add('a');
  await end('a', 'backoff');
  queue.add('a');
  expect(runs).toEqual(['a', 'a']);
  await end('a');
  expect(waiting()).toEqual([]);
  await pass(400_000);
  expect(runs).toEqual(['a', 'a']);
});

test('of two times the earlier wins', async () => {
  const { queue, runs, pass, waiting } = harness();
  queue.addAfter('a', 1_000);
  queue.addAfter('a', 5_000);
  expect(waiting()).toEqual([1_000]);
  queue.addAfter('a', 100);
  expect(waiting()).toEqual([100]);
  await pass(10_000);
  expect(runs).toEqual(['a']);
});

test('a run may say when it wants to run next', async () => {
  const { queue, runs, end, pass } = harness();
  queue.add('a');
  await end('a', { afterMs: 60_000 });
  await pass(59_999);
  expect(runs).toHaveLength(1);
  await pass(1);
  expect(runs).toHaveLength(2);
});

test('idle is when nothing runs and nothing waits to run at once', async () => {
  const { queue, end } = harness(1);
  await queue.idle();
  queue.add('a');
  queue.add('b');
  let idle = false;
  const done = queue.idle().then(() => {
    idle = true;
  });
  await end('a', 'backoff');
  expect(idle).toBe(false);
  await end('b');
  await done;
  expect(idle).toBe(true);
});

test('stopping ends what runs, starts nothing more and leaves no timer', async () => {
  const { queue, runs, end, pass, waiting } = harness(1);
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 1_000);
  let stopped = false;
  const stopping = queue.stop().then(() => {
    stopped = true;
  });
  queue.add('a');
  queue.add('d');
  await settle();
  expect(stopped).toBe(false);
  await end('a', 'backoff');
  await stopping;
  await pass(600_000);
  expect(runs).toEqual(['a']);
  expect(waiting()).toEqual([]);
});

const groupOf = (key: string) => key.split('/')[0] ?? '';

test('a group with one key waits for no more than a turn of a group with five thousand', async () => {
  const { queue, runs, end } = harness(1, undefined, groupOf);
  for (let i = 0; i < 5_000; i += 1) queue.add(`big/${i}`);
  queue.add('small/0');
  await end('big/0');
  await end('big/1');
  expect(runs).toEqual(['big/0', 'big/1', 'small/0']);
  expect(queue.depth()).toBe(4_998);
});

test('groups take turns, and keys of a group run in the order they came', async () => {
  const { queue, runs, end } = harness(1, undefined, groupOf);
  for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'b/2', 'a/2']) queue.add(key);
  for (let i = 0; i < runs.length; i += 1) await end(runs[i] ?? '');
  expect(runs).toEqual(['a/1', 'a/2', 'b/1', 'c/1', 'a/3', 'b/2']);
});

test('what is done at leisure lets others go first, and has one run of four', async () => {
  const { queue, runs, end } = harness(1);
  queue.add('first');
  for (let i = 0; i < 3; i += 1) queue.add(`leisure/${i}`, { leisure: true });
  for (let i = 0; i < 5; i += 1) queue.add(`urgent/${i}`);
  // asked for both ways it is urgent, and runs once
  queue.add('leisure/2');
  queue.add('urgent/0', { leisure: true });
  for (let i = 0; i < runs.length; i += 1) await end(runs[i] ?? '');
  expect(runs).toEqual([
    'first',
    'urgent/0',
    'urgent/1',
    'leisure/0',
    'urgent/2',
    'urgent/3',
    'urgent/4',
    'leisure/1',
    'leisure/2',
  ]);
});

test('it says how long a key waited for its turn, and since when the oldest run has been running', async () => {
  const { queue, waits, end, pass } = harness(1);
  expect(queue.runningSince()).toBeUndefined();
  queue.add('a');
  await pass(100);
  queue.add('b');
  await pass(50);
  // added again: it has been waiting since the first time
  queue.add('b');
  await pass(50);
  expect(queue.runningSince()).toBe(0);
  await end('a');
  expect(queue.runningSince()).toBe(200);
  expect(waits).toEqual([0, 100]);
});

test('whatever is added and however runs end: no key twice at a time, nobody starved, nothing forgotten', async () => {
  const step = fc.oneof(
    fc.record({ add: fc.constantFrom('a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'b/2', 'c/1'), leisure: fc.boolean() }),
    fc.record({ end: fc.nat(), how: fc.constantFrom('fine', 'backoff', 'error') }),
    fc.record({ pass: fc.integer({ min: 0, max: 2_000 }) }),
    fc.constant({ hurry: true }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 3 }), async (steps, concurrency) => {
      const { queue, runs, open, end, pass } = harness(concurrency, () => 0.5, groupOf);
      // when a key was last asked for, counted in runs; a run that begins later has seen what the asking was about
      const asked = new Map<string, number>();
      for (const one of steps) {
        if ('add' in one) {
          asked.set(one.add, runs.length);
          queue.add(one.add, { leisure: one.leisure });
        } else if ('pass' in one) await pass(one.pass);
        else if ('hurry' in one) queue.hurry();
        else if (open.size > 0) {
          const key = [...open.keys()][one.end % open.size] ?? '';
          await end(key, one.how === 'fine' ? undefined : one.how === 'backoff' ? 'backoff' : new Error('no luck'));
        }
        expect(open.size).toBeLessThanOrEqual(concurrency);
        expect(open.size === concurrency || queue.depth() === 0).toBe(true);
      }
      while (open.size > 0) await end([...open.keys()][0] ?? '');
      await queue.idle();
      for (const [key, before] of asked) expect(runs.slice(before)).toContain(key);
      await queue.stop();
    }),
    { numRuns: 200 },
  );
});
