// RevisionWatch is seen by revisions: what somebody else wrote is told, what we wrote ourselves is not, and no change is missed.
import { expect, test } from 'vitest';
import { createRevisionWatch, type RevisionWatch } from '../../operator/runtime/revision-watch.ts';
import { createClient } from '../../server/contract/client.ts';

type Revisions = Record<string, number>;

/** A server that answers `GET /admin/realms` with these revisions, and a clock that the test moves. */
function harness(first: Revisions) {
  let revisions: Revisions | undefined = first;
  const changed: string[] = [];
  const made: string[] = [];
  const said: string[] = [];
  const statuses: number[] = [];
  let reached = 0;
  let next: (() => void) | undefined;
  let gate: Promise<void> | undefined;
  const answer = (headers: Headers): Response => {
    if (!revisions) throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    const etag = `"${Object.entries(revisions).sort().join(';')}"`;
    if (headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers: { etag } });
    const body = Object.entries(revisions).map(([realm, revision]) => ({ realm, displayName: realm, revision }));
    return Response.json(body, { headers: { etag } });
  };
  const client = createClient({
    baseUrl: 'http://server.test',
    authorize: async () => 'Bearer x',
    fetch: async (_, init) => {
      const response = answer(new Headers(init?.headers));
      statuses.push(response.status);
      await gate;
      return response;
    },
  });
  const drift = createRevisionWatch({
    client,
    timers: {
      now: () => 0,
      random: () => 0,
      after(_, call) {
        next = call;
        return () => {
          next = undefined;
        };
      },
    },
    changed: (realm) => void changed.push(realm),
    made: (realm) => void made.push(realm),
    reached: () => {
      reached += 1;
    },
    log: (message) => void said.push(message),
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
  return {
    drift,
    said,
    statuses,
    reached: () => reached,
    set: (to: Revisions | undefined) => {
      revisions = to;
    },
    running: () => next !== undefined,
    async begin() {
      drift.start();
      await settle();
    },
    /** The next poll, and which realms it told of. */
    async poll() {
      const call = next;
      next = undefined;
      call?.();
      await settle();
      return changed.splice(0).sort();
    },
    told: () => changed.splice(0),
    made: () => made.splice(0),
    /** The next poll's answer is made at once and is under way until the end that this answers is called. */
    async slowPoll() {
      let arrive = () => {};
      gate = new Promise((resolve) => {
        arrive = resolve;
      });
      const call = next;
      call?.();
      await settle();
      return async () => {
        gate = undefined;
        arrive();
        await settle();
        return changed.splice(0).sort();
      };
    },
  };
}

test('the first look tells nothing, and an unchanged server is asked conditionally', async () => {
  const { begin, poll, told, statuses } = harness({ a: 1, b: 7 });
  await begin();
  expect(told()).toEqual([]);
  expect(await poll()).toEqual([]);
  expect(statuses).toEqual([200, 304]);
});

test('a realm that changes, comes or goes is told', async () => {
  const { begin, poll, set } = harness({ a: 1, b: 1 });
  await begin();
  set({ a: 2, b: 1 });
  expect(await poll()).toEqual(['a']);
  set({ a: 2, b: 1, c: 1 });
  expect(await poll()).toEqual(['c']);
  set({ a: 2, c: 1 });
  expect(await poll()).toEqual(['b']);
  expect(await poll()).toEqual([]);
});

test('a revision that goes back, as after a restored backup, is told', async () => {
  const { begin, poll, set } = harness({ a: 9 });
  await begin();
  set({ a: 3 });
  expect(await poll()).toEqual(['a']);
});

test('our own write is not drift', async () => {
  const { begin, poll, set, drift } = harness({ a: 1 });
  await begin();
  set({ a: 2 });
  drift.applied('a', 2);
  expect(await poll()).toEqual([]);
});

test('an answer that is older than our own write is no drift, and what comes later is', async () => {
  const { begin, poll, slowPoll, set, drift } = harness({ a: 1, b: 1 });
  await begin();
  set({ a: 1, b: 2 });
  const arrive = await slowPoll();
  set({ a: 2, b: 2 });
  drift.applied('a', 2);
  expect(await arrive()).toEqual(['b']);
  expect(await poll()).toEqual([]);
  set({ a: 3, b: 2 });
  expect(await poll()).toEqual(['a']);
});

test('a realm that is being written is judged when the write has ended', async () => {
  const { begin, poll, set, drift } = harness({ a: 1 });
  await begin();
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const writing = drift.writing('a', () => promise);
  set({ a: 2 });
  expect(await poll()).toEqual([]);
  end();
  await writing;
  drift.applied('a', 2);
  expect(await poll()).toEqual([]);
});

test('somebody else’s write is told although ours was under way, whether ours fails or not', async () => {
  for (const fails of [true, false]) {
    const { begin, poll, set, drift } = harness({ a: 1 });
    await begin();
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const writing = drift.writing('a', () => promise);
    set({ a: 2 });
    expect(await poll()).toEqual([]);
    end();
    await writing;
    if (!fails) {
      set({ a: 3 });
      drift.applied('a', 3);
    }
    expect(await poll()).toEqual(['a']);
    expect(await poll()).toEqual([]);
  }
});

test('answers to our own writes that overtake each other are no drift', async () => {
  const { begin, poll, set, drift } = harness({ a: 1 });
  await begin();
  set({ a: 4 });
  for (const revision of [3, 4, 2]) drift.applied('a', revision);
  expect(await poll()).toEqual([]);
});

test('what somebody else wrote after a pass and before the first look is drift', async () => {
  const cases: [string, (drift: RevisionWatch) => void, number][] = [
    ['in sync, then changed', (drift) => drift.looked('a', 5), 6],
    ['written by us, then changed', (drift) => drift.applied('a', 5), 6],
    [
      'changed between two writes of ours',
      (drift) => {
        for (const revision of [5, 7]) drift.applied('a', revision);
      },
      7,
    ],
    ['deleted', (drift) => drift.applied('a', 5), 0],
  ];
  for (const [what, pass, revision] of cases) {
    const { begin, told, poll, drift } = harness(revision === 0 ? { b: 1 } : { a: revision, b: 1 });
    pass(drift);
    await begin();
    expect([what, told()]).toEqual([what, ['a']]);
    expect(await poll()).toEqual([]);
  }
});

test('our write before the first look is no drift after it', async () => {
  const { begin, poll, set, told, drift } = harness({ a: 1 });
  set({ a: 3 });
  drift.looked('a', 1);
  for (const revision of [3, 2]) drift.applied('a', revision);
  await begin();
  expect(told()).toEqual([]);
  expect(await poll()).toEqual([]);
});

test('a write of somebody else before ours is drift, although ours came last', async () => {
  const { begin, poll, set, drift } = harness({ a: 1 });
  await begin();
  set({ a: 3 });
  drift.applied('a', 3);
  expect(await poll()).toEqual(['a']);
});

test('a write of somebody else after ours is drift', async () => {
  const { begin, poll, set, drift } = harness({ a: 1 });
  await begin();
  drift.applied('a', 2);
  set({ a: 3 });
  expect(await poll()).toEqual(['a']);
});

test('a realm that we have made is told at once to those who wait for it, and only once', async () => {
  const { begin, poll, set, made, drift } = harness({ a: 1 });
  await begin();
  set({ a: 1, b: 4 });
  drift.applied('b', 4);
  drift.applied('b', 5);
  expect(made()).toEqual(['b']);
  set({ a: 1, b: 5 });
  expect(await poll()).toEqual([]);
});

test('a realm that we have made and that somebody deletes before the next look is told', async () => {
  const { begin, poll, drift } = harness({ a: 1 });
  await begin();
  drift.applied('b', 4);
  // the list is just what it was when its tag was given
  expect(await poll()).toEqual(['b']);
});

test('a write that is rolled back, as by a restored backup, is told although the tag is the old one', async () => {
  const { begin, poll, drift } = harness({ a: 1 });
  await begin();
  drift.applied('a', 2);
  expect(await poll()).toEqual(['a']);
});

test('a server that goes away is told of once, and what changed meanwhile is seen when it is back', async () => {
  const { begin, poll, set, said, reached } = harness({ a: 1 });
  await begin();
  set(undefined);
  await poll();
  await poll();
  expect(said).toEqual([expect.stringMatching(/cannot be reached: connect ECONNREFUSED$/)]);
  expect(reached()).toBe(0);
  set({ a: 2 });
  expect(await poll()).toEqual(['a']);
  expect(reached()).toBe(1);
  expect(said).toHaveLength(2);
  await poll();
  expect(reached()).toBe(1);
});

test('a server that is back with nothing changed is told of as well', async () => {
  const { begin, poll, set, reached } = harness({ a: 1 });
  await begin();
  set(undefined);
  await poll();
  set({ a: 1 });
  expect(await poll()).toEqual([]);
  expect(reached()).toBe(1);
});

test('a server that wasn’t there at the start is waited for', async () => {
  const { begin, poll, set, reached } = harness({});
  set(undefined);
  await begin();
  set({ a: 1 });
  expect(await poll()).toEqual([]);
  expect(reached()).toBe(1);
});

test('a stopped poll asks no more', async () => {
  const { begin, drift, running } = harness({ a: 1 });
  await begin();
  drift.stop();
  expect(running()).toBe(false);
});
