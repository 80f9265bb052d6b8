// What a hold keeps back of a plan, on all shapes of plans without a server.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type HeldChange,
  type Holdable,
  holdsOf,
  keepDependents,
  keepHeld,
  keptByHolds,
  NO_HOLDS,
} from '../../../server/features/operations/holds/holds.ts';
import type { HeldRow } from '../../../server/features/operations/holds/store.ts';
import type { PlannedChange } from '../../../server/resource/part.ts';
import { nameOf } from '../../../server/resource/references.ts';

type Move = { action: 'take' | 'release' | 'fields'; kind: string; key: string };
const row = (kind: string, key: string, more: Partial<HeldRow> = {}): HeldRow => ({
  kind,
  key,
  id: '00000000-0000-7000-8000-000000000001',
  reason: 'an outage',
  actor: { type: 'user', id: 'x', name: 'ana' },
  until: new Date(5000),
  ...more,
});
const change = (action: PlannedChange['action'], kind: string, key: string): PlannedChange => ({
  action,
  kind,
  key,
  path: '',
  fields: [],
  save: {},
});
const planOf = (...changes: PlannedChange[]): Holdable<Move> => ({
  changes,
  moves: changes.map(({ action, kind, key }) => ({ action: action === 'delete' ? 'release' : 'take', kind, key })),
});
const names = (of: readonly { kind: string; key: string }[]) => of.map(({ kind, key }) => nameOf(kind, key));
const heldNames = (held: readonly HeldChange[]) => names(held.map((one) => one.change));

describe('which objects are held', () => {
  const on = holdsOf([row('client', 'shop'), row('role', ''), row('settings', 'requireMfa')]);
  test.each([
    ['client', 'shop', true],
    ['client', 'blog', false],
    ['role', 'reader', true],
    ['clientRole', 'shop/reader', false],
    ['settings', 'requireMfa', true],
    ['settings', 'rememberMe', false],
  ])('%s %s: %s', (kind, key, is) => {
    expect(on(kind, key) !== undefined).toBe(is);
  });

  test('of several holds on one object the longest is told, with the name of who placed it', () => {
    // as the store orders them
    const both = holdsOf([row('client', 'shop', { until: new Date(9000), actor: null }), row('client', 'shop')]);
    expect(both('client', 'shop')).toMatchObject({ until: 9000, by: null });
    expect(on('client', 'shop')).toMatchObject({ until: 5000, by: 'ana', reason: 'an outage' });
  });

  test('without holds there is nothing to look at', () => {
    expect(holdsOf([])).toBe(NO_HOLDS);
  });
});

test('a held object keeps its state and its manager, its neighbours go on', () => {
  const plan = planOf(
    change('update', 'client', 'shop'),
    change('delete', 'client', 'blog'),
    change('create', 'role', 'x'),
  );
  const held = keepHeld(plan, holdsOf([row('client', 'shop'), row('client', 'blog')]));
  expect(heldNames(held)).toEqual(['client shop', 'client blog']);
  expect([names(plan.changes), names(plan.moves)]).toEqual([['role x'], ['role x']]);
});

test('what names an object that is not made waits with it, and so on; other changes of it do not', () => {
  const plan = planOf(
    change('create', 'role', 'held'),
    change('update', 'group', '/a'),
    change('create', 'client', 'b'),
    change('create', 'workloadIdentity', 'c'),
    change('update', 'client', 'free'),
    change('delete', 'client', 'gone'),
  );
  const namedBy: Record<string, string[]> = {
    'group /a': ['role held'],
    'client b': ['role held'],
    'workloadIdentity c': ['client b'],
    'client free': ['group /a', 'role other'],
    'client gone': ['role held'],
  };
  const held = keepHeld(plan, holdsOf([row('role', 'held')]));
  const more = keepDependents(plan, held, ({ kind, key }) => namedBy[nameOf(kind, key)] ?? []);
  expect(heldNames(more)).toEqual(['group /a', 'client b', 'workloadIdentity c']);
  expect(new Set(more.map(({ hold }) => hold.id))).toEqual(new Set([row('', '').id]));
  expect(names(plan.changes)).toEqual(['client free', 'client gone']);
});

test('what only held objects need waits for the same hold; what others need is kept as ever', () => {
  const held = keepHeld(planOf(change('update', 'client', 'shop')), holdsOf([row('client', 'shop')]));
  const role = (key: string, ...users: string[]) => ({
    kind: 'role',
    key,
    usedBy: users.map((user) => ({ kind: 'client', key: user })),
  });
  const split = keptByHolds([role('a', 'shop'), role('b', 'shop', 'blog'), role('c', 'blog')], held);
  expect(heldNames(split.held)).toEqual(['role a']);
  expect(names(split.kept)).toEqual(['role b', 'role c']);
});

const Kind = fc.constantFrom('client', 'role', 'settings');
const Key = fc.constantFrom('a', 'b', 'c', 'd');
const Changes = fc.uniqueArray(
  fc.record({ action: fc.constantFrom('create', 'update', 'delete'), kind: Kind, key: Key }),
  { selector: ({ kind, key }) => nameOf(kind, key) },
);
const Rows = fc.array(fc.record({ kind: Kind, key: fc.oneof(Key, fc.constant('')) }), { maxLength: 4 });
const References = fc.array(fc.tuple(fc.tuple(Kind, Key), fc.tuple(Kind, Key)), { maxLength: 12 });

test('of any plan: no held object changes, nothing is lost, all else stays, and nothing that stays names what is not made', () => {
  fc.assert(
    fc.property(Changes, Rows, References, (changes, rows, references) => {
      const all = changes.map(({ action, kind, key }) => change(action, kind, key));
      const on = holdsOf(rows.map(({ kind, key }) => row(kind, key)));
      const namesIn = ({ kind, key }: PlannedChange) =>
        references.filter(([[of, name]]) => of === kind && name === key).map(([, [of, name]]) => nameOf(of, name));
      const plan = planOf(...all);
      const held = keepHeld(plan, on);
      held.push(...keepDependents(plan, held, namesIn));
      // nothing is lost, nothing is twice
      expect([...names(plan.changes), ...heldNames(held)].sort()).toEqual(names(all).sort());
      expect(names(plan.moves)).toEqual(names(plan.changes));
      expect(plan.changes.filter(({ kind, key }) => on(kind, key))).toEqual([]);
      // a change waits for a reason: its own hold, or an object that waits to be made
      const unmade = new Set(heldNames(held.filter((one) => one.change.action === 'create')));
      const names1 = (one: PlannedChange) => namesIn(one).some((name) => unmade.has(name));
      for (const one of plan.changes) if (one.action !== 'delete') expect(names1(one)).toBe(false);
      for (const { change: one } of held) expect(on(one.kind, one.key) !== undefined || names1(one)).toBe(true);
    }),
  );
});

test('without holds every plan stays as it is', () => {
  fc.assert(
    fc.property(Changes, (changes) => {
      const plan = planOf(...changes.map(({ action, kind, key }) => change(action, kind, key)));
      const before = structuredClone(plan);
      expect(keepHeld(plan, holdsOf([]))).toEqual([]);
      expect(plan).toEqual(before);
    }),
  );
});
