import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Owner,
  type Planned,
  type PlanOptions,
  planDropped,
  planObjects,
} from '../../../server/features/operations/transfer/plan.ts';
import { stableJson } from '../../../server/resource/compare.ts';
import type { Existing, Item } from '../../../server/resource/part.ts';

// A realm of one kind of object in memory, which does what a plan says: the planner is tried on it without a server.
interface World {
  objects: Map<string, Existing>;
  owners: Map<string, Owner>;
}
const FRESH = { colour: 'none', size: 0 };
const rules = { kind: 'thing', fieldwise: false, required: [], fresh: () => FRESH };

function plan(world: World, ask: PlanOptions, items: readonly Item[]): Planned {
  const out = planObjects(rules, ask, { items, current: world.objects, owners: world.owners });
  const declaredNames = new Set(items.map((item) => item.key));
  if (ask.prune)
    for (const [key, owner] of world.owners)
      if (owner.manager === ask.manager && !declaredNames.has(key))
        planDropped(rules, key, world.objects.get(key), out);
  return out;
}

function apply(world: World, { changes, moves }: Planned): World {
  const objects = new Map(world.objects);
  const owners = new Map(world.owners);
  for (const change of changes) {
    if (change.action === 'delete') objects.delete(change.key);
    else objects.set(change.key, { fields: change.save, permanent: objects.get(change.key)?.permanent ?? false });
  }
  for (const { key, owner } of moves) {
    if (owner) owners.set(key, owner);
    else owners.delete(key);
  }
  return { objects, owners };
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const manager = fc.constantFrom('m1', 'm2', 'm3');
const fields = fc.record({ colour: fc.constantFrom('red', 'blue'), size: fc.nat(2) }, { requiredKeys: [] });
const items = fc
  .uniqueArray(fc.record({ key, fields }), { selector: (item) => item.key })
  .map((list) => list.map((item, i): Item => ({ ...item, path: `things[${i}]` })));
const world = fc
  .record({
    objects: fc.dictionary(key, fc.record({ full: fields, permanent: fc.boolean() })),
    owners: fc.dictionary(key, fc.record({ manager, fields: fc.subarray(['colour', 'size']) })),
  })
  .map(
    ({ objects, owners }): World => ({
      objects: new Map(
        Object.entries(objects).map(([k, { full, permanent }]) => [k, { fields: { ...FRESH, ...full }, permanent }]),
      ),
      owners: new Map(Object.entries(owners)),
    }),
  );
const ask = fc.record({ manager, prune: fc.boolean(), force: fc.boolean() });

const empty = { changes: [], conflicts: [], moves: [], faults: [] };

describe('whatever the realm holds and the document declares,', () => {
  test('what was applied plans nothing when it is applied again', () => {
    fc.assert(
      fc.property(world, ask, items, (before, how, declared) => {
        const planned = plan(before, how, declared);
        fc.pre(planned.conflicts.length === 0);
        expect(plan(apply(before, planned), how, declared)).toEqual(empty);
      }),
    );
  });

  test('what was applied stands: every declared field has its value and its owner', () => {
    fc.assert(
      fc.property(world, ask, items, (before, how, declared) => {
        const planned = plan(before, how, declared);
        fc.pre(planned.conflicts.length === 0);
        const after = apply(before, planned);
        for (const item of declared) {
          expect(after.objects.get(item.key)?.fields).toMatchObject(item.fields);
          expect(after.owners.get(item.key)).toEqual({ manager: how.manager, fields: Object.keys(item.fields).sort() });
        }
      }),
    );
  });

  test('prune takes away what its manager owns alone, and never what is built in', () => {
    fc.assert(
      fc.property(world, ask, items, (before, how, declared) => {
        for (const { action, key: gone } of plan(before, how, declared).changes) {
          if (action !== 'delete') continue;
          expect(how.prune).toBe(true);
          expect(before.owners.get(gone)?.manager).toBe(how.manager);
          expect(before.objects.get(gone)?.permanent).toBe(false);
          expect(declared.map((item) => item.key)).not.toContain(gone);
        }
      }),
    );
  });

  test('without force nobody’s object is touched but one’s own and the unowned', () => {
    fc.assert(
      fc.property(world, ask, items, (before, how, declared) => {
        const { changes, moves, conflicts } = plan(before, { ...how, force: false }, declared);
        const foreign = [...before.owners].filter(([, o]) => o.manager !== how.manager).map(([k]) => k);
        for (const { key: touched } of [...changes, ...moves]) expect(foreign).not.toContain(touched);
        const wanted = declared.map((item) => item.key).filter((k) => foreign.includes(k));
        expect(conflicts.map((c) => c.key).sort()).toEqual(wanted.sort());
      }),
    );
  });

  test('of two managers that declare the same, whoever comes second is in conflict', () => {
    fc.assert(
      fc.property(items, fields, (declared, other) => {
        fc.pre(declared.length > 0);
        const nothing: World = { objects: new Map(), owners: new Map() };
        const [first, second] = ['m1', 'm2'].map(
          (name): PlanOptions => ({ manager: name, prune: false, force: false }),
        );
        if (!first || !second) return;
        const theirs = declared.map((item) => ({ ...item, fields: other }));
        const keys = (conflicts: Planned['conflicts']) => conflicts.map((c) => c.key);
        const one = plan(apply(nothing, plan(nothing, first, declared)), second, theirs);
        const two = plan(apply(nothing, plan(nothing, second, theirs)), first, declared);
        expect(keys(one.conflicts)).toEqual(keys(two.conflicts));
        expect(keys(one.conflicts)).toEqual(declared.map((item) => item.key));
      }),
    );
  });

  test('only declared fields change, but for those that pruning resets', () => {
    fc.assert(
      fc.property(world, ask, items, (before, how, declared) => {
        const mine = new Map(declared.map((item) => [item.key, Object.keys(item.fields)]));
        for (const { action, key: k, fields: changed } of plan(before, how, declared).changes) {
          if (action !== 'update') continue;
          const owned = how.prune ? (before.owners.get(k)?.fields ?? []) : [];
          for (const { path } of changed) expect([...(mine.get(k) ?? []), ...owned]).toContain(path);
        }
      }),
    );
  });
});

test('equal values have the same text, whatever the order of their keys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(stableJson(reversed)).toBe(stableJson(value));
      expect(JSON.parse(stableJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
