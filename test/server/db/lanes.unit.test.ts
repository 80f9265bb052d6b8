import { expect, test } from 'vitest';
import { Crowded, createLanes } from '../../../server/db/lanes.ts';

/** Asks for a place `count` times at once; how many are in. */
function crowd(lanes: ReturnType<typeof createLanes>, realm: string, count: number) {
  const state = { inside: 0, refused: [] as unknown[] };
  for (let i = 0; i < count; i += 1)
    Promise.resolve(lanes.enter(realm)).then(
      () => {
        state.inside += 1;
      },
      (error: unknown) => state.refused.push(error),
    );
  return state;
}
const soon = () => new Promise((resolve) => setImmediate(resolve));

test('a realm alone holds half of the connections, and the next ones leave some for others still', async () => {
  const lanes = createLanes({ most: 10 });
  const realms = ['a', 'b', 'c', 'd'];
  const states = realms.map((realm) => crowd(lanes, realm, 20));
  await soon();
  expect(states.map(({ inside }) => inside)).toEqual([5, 3, 1, 1]);
});

test('whoever waits gets the place of the one that leaves, in order and realm by realm', async () => {
  const lanes = createLanes({ most: 4 });
  const a = crowd(lanes, 'a', 4);
  await soon();
  expect(a.inside).toBe(2);
  const b = crowd(lanes, 'b', 3);
  await soon();
  expect(b.inside).toBe(1);
  // a's place goes to a, unless b may have it and a may not
  lanes.leave('a');
  await soon();
  expect([a.inside, b.inside]).toEqual([3, 1]);
  lanes.leave('b');
  await soon();
  expect([a.inside, b.inside]).toEqual([3, 2]);
  for (let i = 0; i < 2; i += 1) lanes.leave('a');
  lanes.leave('b');
  await soon();
  expect([a.inside, b.inside]).toEqual([4, 3]);
  lanes.leave('a');
  lanes.leave('b');
  // nothing is counted that nobody holds
  const again = crowd(lanes, 'c', 9);
  await soon();
  expect(again.inside).toBe(2);
});

test('who waits for too long is refused, and holds no place', async () => {
  const lanes = createLanes({ most: 2, patienceMs: 20 });
  const a = crowd(lanes, 'a', 3);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([a.inside, a.refused.length]).toEqual([1, 2]);
  expect(a.refused[0]).toBeInstanceOf(Crowded);
  lanes.leave('a');
  expect(lanes.enter('a')).toBe(undefined);
});
