import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withinShare } from '../../../server/db/realm-share.ts';
import { createBulkhead, Overloaded } from '../../../server/schedule/bulkhead.ts';

/** Asks for a place `count` times at once; how many are in. */
function crowd(bulkhead: ReturnType<typeof createBulkhead>, realm: string, count: number) {
  const state = { inside: 0, refused: [] as unknown[] };
  for (let i = 0; i < count; i += 1)
    Promise.resolve(bulkhead.acquire(realm)).then(
      () => {
        state.inside += 1;
      },
      (error: unknown) => state.refused.push(error),
    );
  return state;
}
const soon = () => new Promise((resolve) => setImmediate(resolve));

test('a realm alone holds half of the connections, and the next ones leave some for others still', async () => {
  const bulkhead = createBulkhead({ most: 10 });
  const realms = ['a', 'b', 'c', 'd'];
  const states = realms.map((realm) => crowd(bulkhead, realm, 20));
  await soon();
  expect(states.map(({ inside }) => inside)).toEqual([5, 3, 1, 1]);
});

test('whoever waits gets the place of the one that leaves, in order and realm by realm', async () => {
  const bulkhead = createBulkhead({ most: 4 });
  const a = crowd(bulkhead, 'a', 4);
  await soon();
  expect(a.inside).toBe(2);
  const b = crowd(bulkhead, 'b', 3);
  await soon();
  expect(b.inside).toBe(1);
  // a's place goes to a, unless b may have it and a may not
  bulkhead.release('a');
  await soon();
  expect([a.inside, b.inside]).toEqual([3, 1]);
  bulkhead.release('b');
  await soon();
  expect([a.inside, b.inside]).toEqual([3, 2]);
  for (let i = 0; i < 2; i += 1) bulkhead.release('a');
  bulkhead.release('b');
  await soon();
  expect([a.inside, b.inside]).toEqual([4, 3]);
  bulkhead.release('a');
  bulkhead.release('b');
  // nothing is counted that nobody holds
  const again = crowd(bulkhead, 'c', 9);
  await soon();
  expect(again.inside).toBe(2);
});

test('who waits for too long is refused, and holds no place', async () => {
  const bulkhead = createBulkhead({ most: 2, timeoutMs: 20 });
  const a = crowd(bulkhead, 'a', 3);
  await expect.poll(() => [a.inside, a.refused.length]).toEqual([1, 2]);
  expect(a.refused[0]).toBeInstanceOf(Overloaded);
  bulkhead.release('a');
  expect(bulkhead.acquire('a')).toBe(undefined);
});

test('however many realms are stuck, a fifth of the connections is left to those that meet no lock', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 5, max: 40 }),
      fc.array(fc.record({ realm: fc.integer({ min: 0, max: 30 }), leaves: fc.boolean() }), { maxLength: 200 }),
      async (most, steps) => {
        const bulkhead = createBulkhead({ most, timeoutMs: 2 ** 30 });
        // A stuck one keeps its place as long as it may, which is for ever where it may wait for the lock.
        const patient: string[] = [];
        for (const { realm, leaves } of steps) {
          const leaving = leaves && patient.shift();
          if (leaving) bulkhead.release(leaving);
          const name = String(realm);
          if (bulkhead.acquire(name)) break;
          if (bulkhead.nearlyFull()) bulkhead.release(name);
          else patient.push(name);
          expect(patient.length).toBeLessThanOrEqual(most - Math.floor(most / 5));
        }
      },
    ),
  );
});

test('who meets a lock on one of the last connections gives it back and asks again, until it is free or enough is enough', async () => {
  const bulkhead = createBulkhead({ most: 5 });
  const stuck = ['a', 'b', 'c', 'd'].map((realm) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    void withinShare(bulkhead, realm, (shortLocks) => {
      resolve(shortLocks);
      return new Promise(() => {});
    });
    return promise;
  });
  expect(await Promise.all(stuck)).toEqual([false, false, false, false]);
  const locked = Object.assign(new Error('locked'), { code: '55P03' });
  let tries = 0;
  const lucky = withinShare(bulkhead, 'e', async (shortLocks) => {
    tries += 1;
    expect(shortLocks).toBe(true);
    if (tries < 7) throw locked;
    return 'written';
  });
  expect([await lucky, tries]).toEqual(['written', 7]);
  tries = 0;
  const unlucky = withinShare(bulkhead, 'e', async () => {
    tries += 1;
    throw locked;
  });
  await expect(unlucky).rejects.toBe(locked);
  expect(tries).toBe(100);
  // Whatever else goes wrong is no matter of another try; nor is a lock that was waited for as long as anybody waits.
  await expect(withinShare(bulkhead, 'e', () => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong');
  await expect(withinShare(createBulkhead({ most: 5 }), 'e', () => Promise.reject(locked))).rejects.toBe(locked);
});
