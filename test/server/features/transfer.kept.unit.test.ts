// What pruning leaves in place, tried on all shapes of need without a server.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keepNeeded, type Need } from '../../../server/features/operations/transfer/kept.ts';
import type { Owner, Planned } from '../../../server/features/operations/transfer/plan.ts';
import { nameOf } from '../../../server/resource/references.ts';

const kind = 'thing';
const need = (key: string, on: string): Need => ({ kind, key, on: { kind, key: on } });
const planned = (keys: readonly string[]): Planned => ({
  changes: keys.map((key) => ({ action: 'delete', kind, key, path: '', fields: [], save: {} })),
  conflicts: [],
  moves: keys.map((key) => ({ action: 'release', kind, key })),
  faults: [],
});
const ownersOf = (keys: readonly string[], kept = false) =>
  new Map(keys.map((key): [string, Owner] => [nameOf(kind, key), { manager: 'm', fields: ['f'], kept }]));

test('what is needed stays, and what that needs, but nothing that only what goes needs', () => {
  const plan = planned(['a', 'b', 'c', 'd']);
  const kept = keepNeeded(plan, [need('user', 'a'), need('a', 'b'), need('c', 'd')], ownersOf(['a', 'b', 'c', 'd']));
  expect(kept).toEqual([
    { kind, key: 'a', usedBy: [need('user', 'a')] },
    { kind, key: 'b', usedBy: [need('a', 'b')] },
  ]);
  expect(plan.changes.map(({ key }) => key)).toEqual(['c', 'd']);
  const owner = { manager: 'm', fields: ['f'], kept: true };
  expect(plan.moves).toEqual([
    { action: 'fields', kind, key: 'a', owner },
    { action: 'fields', kind, key: 'b', owner },
    { action: 'release', kind, key: 'c' },
    { action: 'release', kind, key: 'd' },
  ]);
});

test('what is kept already changes nothing, so that nothing is written at rest', () => {
  const plan = planned(['a']);
  expect(keepNeeded(plan, [need('user', 'a')], ownersOf(['a'], true))).toHaveLength(1);
  expect([plan.changes, plan.moves]).toEqual([[], []]);
});

test('whatever needs what: nothing that stays needs what goes, and everything kept is reached from something that stays', () => {
  const key: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const needs = fc.array(fc.tuple(key, key).map(([user, on]) => need(user, on)));
  fc.assert(
    fc.property(fc.uniqueArray(key), needs, (gone, all) => {
      const plan = planned(gone);
      const kept = new Map(keepNeeded(plan, all, ownersOf(gone)).map((one) => [one.key, one]));
      const removed = plan.changes.map((change) => change.key);
      expect([...removed, ...kept.keys()].sort()).toEqual(gone.toSorted());
      for (const { key: user, on } of all) if (removed.includes(on.key)) expect(removed).toContain(user);
      const reached = (name: string, seen: readonly string[]): boolean =>
        !gone.includes(name) ||
        (!seen.includes(name) && !!kept.get(name)?.usedBy.some((user) => reached(user.key, [...seen, name])));
      for (const name of kept.keys()) expect(reached(name, [])).toBe(true);
    }),
  );
});
