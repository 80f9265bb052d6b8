// Owns: which planned changes a hold keeps back, as pure functions: the held things, what can't be made without them, and
// what held objects still need.
// Does not own: the plan (features/operations/transfer), the holds' rows (store.ts).
// Implements: decisions "Holds": one held object never freezes its neighbours.
import type { PlannedChange } from '../../../resource/part.ts';
import { nameOf } from '../../../resource/references.ts';
import { ALL, type HeldRow } from './store.ts';

/** A hold as a plan names it. */
export interface StandingHold {
  id: string;
  reason: string;
  /** The name of the caller who placed it; null: erased. */
  by: string | null;
  until: number;
}
/** The hold on an object, if any. */
export type HoldOn = (kind: string, key: string) => StandingHold | undefined;

/** A planned change that waits for the end of a hold. */
export interface HeldChange {
  change: PlannedChange;
  hold: StandingHold;
}

/** The changes of a plan and of its ownership: both stay for a held object, so that its manager sees it again later. */
export interface Holdable<M extends { kind: string; key: string }> {
  changes: PlannedChange[];
  moves: M[];
}

export const NO_HOLDS: HoldOn = () => undefined;

export function holdsOf(rows: readonly HeldRow[]): HoldOn {
  if (rows.length === 0) return NO_HOLDS;
  const byName = new Map<string, StandingHold>();
  for (const { kind, key, id, reason, actor: by, until } of rows) {
    const name = nameOf(kind, key);
    if (!byName.has(name)) byName.set(name, { id, reason, by: by && (by.name ?? by.id), until: until.getTime() });
  }
  return (kind, key) => byName.get(nameOf(kind, key)) ?? byName.get(nameOf(kind, ALL));
}

/** Takes the changes of held objects out of the plan. */
export function keepHeld<M extends { kind: string; key: string }>(planned: Holdable<M>, holdOn: HoldOn): HeldChange[] {
  if (holdOn === NO_HOLDS) return [];
  return takeOut(planned, ({ kind, key }) => holdOn(kind, key));
}

function takeOut<M extends { kind: string; key: string }>(
  planned: Holdable<M>,
  holdOf: (of: PlannedChange | M) => StandingHold | undefined,
): HeldChange[] {
  const held = planned.changes.flatMap((change) => {
    const hold = holdOf(change);
    return hold ? [{ change, hold }] : [];
  });
  planned.changes = planned.changes.filter((change) => !holdOf(change));
  planned.moves = planned.moves.filter((move) => !holdOf(move));
  return held;
}

/**
 * Takes changes out of the plan that name an object which is not made because of a hold; then those that name these, and
 * so on.
 * @param namesIn the names of the objects that the changed object refers to
 */
export function keepDependents<M extends { kind: string; key: string }>(
  planned: Holdable<M>,
  held: readonly HeldChange[],
  namesIn: (change: PlannedChange) => readonly string[],
): HeldChange[] {
  const missing = new Map(
    held
      .filter(({ change }) => change.action === 'create')
      .map(({ change, hold }) => [nameOf(change.kind, change.key), hold]),
  );
  const all: HeldChange[] = [];
  for (let found = missing.size > 0; found; ) {
    const waiting = new Map<string, StandingHold>();
    for (const change of planned.changes) {
      const on = change.action === 'delete' ? undefined : namesIn(change).find((name) => missing.has(name));
      const hold = on === undefined ? undefined : missing.get(on);
      if (hold) waiting.set(nameOf(change.kind, change.key), hold);
    }
    const more = takeOut(planned, ({ kind, key }) => waiting.get(nameOf(kind, key)));
    for (const { change, hold } of more)
      if (change.action === 'create') missing.set(nameOf(change.kind, change.key), hold);
    all.push(...more);
    found = more.some(({ change }) => change.action === 'create');
  }
  return all;
}

/** Splits kept objects into those that only held objects need, which wait with these, and the others. */
export function keptByHolds<K extends { kind: string; key: string; usedBy: readonly { kind: string; key: string }[] }>(
  kept: readonly K[],
  held: readonly HeldChange[],
): { held: HeldChange[]; kept: K[] } {
  const holds = new Map(held.map(({ change, hold }) => [nameOf(change.kind, change.key), hold]));
  const out: { held: HeldChange[]; kept: K[] } = { held: [], kept: [] };
  for (const one of kept) {
    const of = one.usedBy.map(({ kind, key }) => holds.get(nameOf(kind, key)));
    const [hold] = of;
    if (!hold || of.includes(undefined)) {
      out.kept.push(one);
      continue;
    }
    const { kind, key } = one;
    out.held.push({ change: { action: 'delete', kind, key, path: '', fields: [], save: {} }, hold });
  }
  return out;
}
