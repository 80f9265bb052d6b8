// Who leads when, with a clock and a Lease that are a few lines: renewals that come late, clocks that are wrong, answers that
// are lost. What holds at every step, whatever happens: never do two lead.
import { expect, test } from 'vitest';
import { createLeader, type LeaseRecord } from '../../operator/runtime/leader.ts';

/** Time that passes when the test says so; callbacks run in order, and promises between them. */
function createTime() {
  let now = 0;
  let due: { at: number; call(): void }[] = [];
  return {
    now: () => now,
    after(ms: number, call: () => void) {
      const entry = { at: now + Math.max(0, ms), call };
      due.push(entry);
      return () => {
        due = due.filter((other) => other !== entry);
      };
    },
    async pass(ms: number, look: () => void = () => {}): Promise<void> {
      const end = now + ms;
      for (;;) {
        for (let turns = 0; turns < 40; turns += 1) await Promise.resolve();
        look();
        const next = due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        due = due.filter((other) => other !== next);
        now = Math.max(now, next.at);
        next.call();
      }
      now = end;
    },
  };
}
type Time = ReturnType<typeof createTime>;

/** The Lease as the API server keeps it: writes over an older version are refused. */
function createStore() {
  let held: { record: LeaseRecord; version: number } | undefined;
  let version = 0;
  const store = {
    record: () => held?.record,
    put(record: LeaseRecord | undefined) {
      version += 1;
      held = record && { record, version };
    },
    /** @param before comes between the request and what it does; `after` between that and the answer */
    port({ before, after }: { before?: () => Promise<void>; after?: () => Promise<void> } = {}) {
      let seen = 0;
      const does = async <T>(what: () => T, signal: AbortSignal): Promise<T> => {
        await Promise.race([before?.(), aborted(signal)]);
        const answer = what();
        await Promise.race([after?.(), aborted(signal)]);
        return answer;
      };
      return {
        read: (signal: AbortSignal) =>
          does(() => {
            seen = held?.version ?? 0;
            return held?.record;
          }, signal),
        create: (record: LeaseRecord, signal: AbortSignal) =>
          does(() => {
            if (held) return false;
            store.put(record);
            seen = version;
            return true;
          }, signal),
        update: (record: LeaseRecord, signal: AbortSignal) =>
          does(() => {
            if (held?.version !== seen) return false;
            store.put(record);
            seen = version;
            return true;
          }, signal),
      };
    },
  };
  return store;
}
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
const never = () => new Promise<void>(() => {});

function candidate(
  identity: string,
  time: Time,
  lease: Parameters<typeof createLeader>[0]['lease'],
  {
    wallClock = () => new Date(time.now()),
    random = () => 0.5,
    leaseSeconds = 15,
  }: { wallClock?: () => Date; random?: () => number; leaseSeconds?: number } = {},
) {
  const turns: string[] = [];
  const lines: string[] = [];
  const leader = createLeader({
    lease,
    identity,
    leaseSeconds,
    timers: { now: time.now, after: time.after, random },
    wallClock,
    acquired: () => void turns.push(`leads at ${time.now()}`),
    lost: (reason) => void turns.push(`lost at ${time.now()}: ${reason}`),
    log: (line) => void lines.push(line),
  });
  return { ...leader, identity, turns, lines };
}

test('the first makes the Lease and renews it every two seconds; the second stands by', async () => {
  const [time, store] = [createTime(), createStore()];
  const one = candidate('one', time, store.port());
  const two = candidate('two', time, store.port());
  one.start();
  await time.pass(10);
  two.start();
  await time.pass(60_000);
  expect([one.leading(), two.leading(), two.holder()]).toEqual([true, false, 'one']);
  expect(store.record()).toMatchObject({ holderIdentity: 'one', leaseDurationSeconds: 15, leaseTransitions: 0 });
  expect(store.record()?.acquireTime).toEqual(new Date(0));
  expect(store.record()?.renewTime.getTime()).toBeGreaterThan(57_000);
  expect(two.lines).toEqual(['standing by: one leads']);
});

test('a leader that stops gives the Lease up for a second’s Lease, and the other takes it at its next try', async () => {
  const [time, store] = [createTime(), createStore()];
  const [one, two] = [candidate('one', time, store.port()), candidate('two', time, store.port())];
  one.start();
  await time.pass(10);
  two.start();
  await time.pass(20_000);
  await Promise.all([one.stop(), time.pass(0)]);
  expect(store.record()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  const left = time.now();
  await time.pass(4_500);
  expect(two.leading()).toBe(true);
  expect(store.record()).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
  expect(time.now() - left).toBeLessThan(15_000);
  expect(one.turns).toEqual(['leads at 0']);
});

test('a leader that is heard of no more is followed when its time is over, and no sooner', async () => {
  const [time, store] = [createTime(), createStore()];
  let dead = false;
  const one = candidate('one', time, store.port({ before: () => (dead ? never() : Promise.resolve()) }));
  const two = candidate('two', time, store.port());
  one.start();
  await time.pass(10);
  two.start();
  await time.pass(20_000);
  dead = true;
  const lastHeard = store.record()?.renewTime.getTime() ?? 0;
  await time.pass(25_000);
  const took = Number(/leads at (\d+)/.exec(two.turns[0] ?? '')?.[1]);
  expect(took).toBeGreaterThanOrEqual(lastHeard + 15_000);
  expect(took).toBeLessThanOrEqual(lastHeard + 15_000 + 4_500);
  expect(store.record()).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
});

test('a leader that cannot renew is lost ten seconds after it sent what was last answered', async () => {
  const [time, store] = [createTime(), createStore()];
  let slow = 0;
  let away = false;
  const port = store.port({
    before: () => (away ? never() : Promise.resolve()),
    after: () => new Promise<void>((resolve) => time.after(slow, resolve)),
  });
  const one = candidate('one', time, port);
  one.start();
  await time.pass(1_000);
  slow = 3_000;
  await time.pass(1_500);
  away = true;
  await time.pass(30_000);
  // sent at 2000 and answered at 5000: others may have seen it at 2000
  expect(one.turns).toEqual(['leads at 0', 'lost at 12000: it could not be renewed in time']);
  expect(one.leading()).toBe(false);
});

test('a try that hangs is given up while there is time for another', async () => {
  const [time, store] = [createTime(), createStore()];
  let hangs = 0;
  const one = candidate('one', time, store.port({ before: () => (hangs-- > 0 ? never() : Promise.resolve()) }));
  one.start();
  await time.pass(1_000);
  hangs = 1;
  await time.pass(30_000);
  expect([one.turns, one.leading()]).toEqual([['leads at 0'], true]);
});

test('by the clock it does not lead, however late its timers are', async () => {
  const [time, store] = [createTime(), createStore()];
  let now = 0;
  const one = candidate('one', { ...time, now: () => now }, store.port());
  one.start();
  await time.pass(0);
  now = 9_999;
  expect(one.leading()).toBe(true);
  now = 10_000;
  expect(one.leading()).toBe(false);
});

test('a wall clock that is years off, at either of them, changes nothing', async () => {
  const [time, store] = [createTime(), createStore()];
  const past = candidate('past', time, store.port(), { wallClock: () => new Date(time.now() - 9e11) });
  const future = candidate('future', time, store.port(), { wallClock: () => new Date(time.now() + 9e11) });
  past.start();
  await time.pass(10);
  future.start();
  await time.pass(60_000);
  expect([past.leading(), future.leading()]).toEqual([true, false]);
  await Promise.all([past.stop(), time.pass(0)]);
  await time.pass(60_000);
  expect(future.leading()).toBe(true);
});

test('somebody’s label is no reason to give up; another holder is, at once', async () => {
  const [time, store] = [createTime(), createStore()];
  const one = candidate('one', time, store.port());
  one.start();
  await time.pass(5_000);
  store.put(store.record());
  await time.pass(5_000);
  expect(one.leading()).toBe(true);
  const record = store.record();
  if (!record) throw new Error('no Lease');
  store.put({ ...record, holderIdentity: 'intruder' });
  await time.pass(2_000);
  expect(one.turns.at(-1)).toMatch(/^lost at \d+: intruder holds the Lease now$/);
  expect(store.record()?.holderIdentity).toBe('intruder');
});

test('a Lease that somebody deletes is made anew by its holder; who stands by waits for the holder’s time to end', async () => {
  const [time, store] = [createTime(), createStore()];
  const [one, two] = [candidate('one', time, store.port()), candidate('two', time, store.port())];
  one.start();
  await time.pass(10);
  two.start();
  await time.pass(10_000);
  store.put(undefined);
  await time.pass(30_000);
  expect([one.turns, two.turns]).toEqual([['leads at 0'], []]);
  expect(store.record()?.holderIdentity).toBe('one');
});

test('an answer that is lost after the write still counts as a write: it leads at the next try, and releases it', async () => {
  const [time, store] = [createTime(), createStore()];
  let lost = true;
  const one = candidate('one', time, store.port({ after: () => (lost ? never() : Promise.resolve()) }));
  one.start();
  await time.pass(4_000);
  expect([one.leading(), store.record()?.holderIdentity]).toEqual([false, undefined]);
  lost = false;
  await time.pass(8_000);
  expect([one.leading(), store.record()?.leaseTransitions]).toEqual([true, 0]);
});

test('whatever is lost, slow or hangs, never do two lead, and in the end one does', async () => {
  let changes = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = dice(seed);
    const [time, store] = [createTime(), createStore()];
    let calm = false;
    const chaos = () => {
      const luck = calm ? 1 : random();
      if (luck < 0.1) return never();
      if (luck < 0.2) return Promise.reject(new Error('reset'));
      return new Promise<void>((resolve) => time.after(calm ? 1 : random() * (luck < 0.4 ? 9_000 : 300), resolve));
    };
    const all: ReturnType<typeof candidate>[] = [];
    const join = () => {
      all.push(candidate(`${seed}-${all.length}`, time, store.port({ before: chaos, after: chaos }), { random }));
      all.at(-1)?.start();
    };
    for (let count = 0; count < 3; count += 1) join();
    const look = () => {
      const leading = all.filter((one) => one.leading()).map(({ identity }) => identity);
      expect(leading.length, `seed ${seed} at ${time.now()}: ${leading}`).toBeLessThanOrEqual(1);
    };
    const lost = () => all.filter((one) => one.turns.some((turn) => turn.startsWith('lost'))).length;
    for (let step = 0; step < 200; step += 1) {
      await time.pass(500, look);
      // as a process that ended is started again
      while (all.length - lost() < 3) join();
    }
    calm = true;
    await time.pass(60_000, look);
    expect(all.filter((one) => one.leading()).length, `seed ${seed}`).toBe(1);
    changes += store.record()?.leaseTransitions ?? 0;
  }
  expect(changes).toBeGreaterThan(60);
});

function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
