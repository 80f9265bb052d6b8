// The diff, as pure functions: from declared objects, present objects and owners to changes, conflicts, changes of
// ownership. It reads and writes nothing; secrets.ts has compared the secrets before. Decisions "Import, export, plan".
import type { FieldError } from '../../../contract/problem.ts';
import type { Conflict, OwnershipMove } from '../../../contract/transfer.ts';
import { isSameJson } from '../../../resource/compare.ts';
import type { Existing, Fields, Item, PlannedChange } from '../../../resource/part.ts';

/** The rules of a part that the planner uses. */
export interface Rules {
  kind: string;
  fieldwise: boolean;
  required: readonly string[];
  fresh(key: string): Fields;
}

/** The manager that applies the document, and its options. */
export interface PlanOptions {
  manager: string;
  prune: boolean;
  force: boolean;
}

export interface Owner {
  manager: string;
  /** The fields that its document declares; sorted. */
  fields: readonly string[];
  /**
   * The manager no longer declares the object, but other objects still need it: any manager that declares it takes it
   * over.
   */
  kept?: boolean;
}

/** A planned change of ownership; without `owner` the object is released. */
export interface Move extends OwnershipMove {
  owner?: Owner;
}

export interface Planned {
  changes: PlannedChange[];
  conflicts: Conflict[];
  moves: Move[];
  faults: FieldError[];
}

/** The plan for the objects of one kind. `owners`: the owners of the declared keys, and all objects of the manager. */
export function planObjects(
  rules: Rules,
  options: PlanOptions,
  {
    items,
    current,
    owners,
  }: { items: readonly Item[]; current: ReadonlyMap<string, Existing>; owners: ReadonlyMap<string, Owner> },
): Planned {
  const out: Planned = { changes: [], conflicts: [], moves: [], faults: [] };
  for (const item of items) planDeclared(rules, options, item, current.get(item.key), owners.get(item.key), out);
  return out;
}

function planDeclared(
  rules: Rules,
  options: PlanOptions,
  item: Item,
  existing: Existing | undefined,
  known: Owner | undefined,
  out: Planned,
) {
  const owner = known?.kept && known.manager !== options.manager ? undefined : known;
  const { kind } = rules;
  const { key } = item;
  const foreign = owner !== undefined && owner.manager !== options.manager;
  if (foreign && !options.force) {
    out.conflicts.push({ kind, key, manager: owner.manager });
    return;
  }
  const before = owner !== undefined && !foreign ? owner.fields : [];
  const mine = Object.keys(item.fields).sort();
  move(out, options, { rules, key, owner, foreign, mine });
  if (!existing) {
    create(rules, item, out);
    return;
  }
  // A field that is no longer declared is released; with pruning, it is reset to its fresh value.
  const fresh = rules.fresh(key);
  const dropped = options.prune ? before.filter((f) => !(f in item.fields) && f in fresh) : [];
  const wanted: Record<string, unknown> = { ...item.fields };
  for (const field of dropped) wanted[field] = fresh[field];
  update(rules, { key, path: item.path, wanted, existing }, out);
}

function move(
  out: Planned,
  options: PlanOptions,
  {
    rules: { kind, fieldwise },
    key,
    owner,
    foreign,
    mine,
  }: { rules: Rules; key: string; owner: Owner | undefined; foreign: boolean; mine: string[] },
): void {
  const next = { manager: options.manager, fields: mine };
  if (!owner || foreign) {
    const declares = fieldwise ? [key] : mine.filter((field) => owner?.fields.includes(field));
    out.moves.push({ action: 'take', kind, key, ...(owner ? { from: owner.manager, declares } : {}), owner: next });
  } else if (owner.kept || !isSameJson([...owner.fields].sort(), mine)) {
    out.moves.push({ action: 'fields', kind, key, owner: next });
  }
}

function create(rules: Rules, { key, path, fields }: Item, out: Planned): void {
  const missing = rules.required.filter((field) => fields[field] === undefined);
  out.faults.push(
    ...missing.map((field) => ({ path: `${path}.${field}`, message: `is needed to create the ${rules.kind} ${key}` })),
  );
  const shown = Object.keys(fields)
    .sort()
    .map((field) => ({ path: field, from: null, to: fields[field] }));
  out.changes.push({
    action: 'create',
    kind: rules.kind,
    key,
    path,
    fields: shown,
    save: { ...rules.fresh(key), ...fields },
  });
}

function update(
  rules: Rules,
  { key, path, wanted, existing }: { key: string; path: string; wanted: Fields; existing: Existing },
  out: Planned,
): void {
  const fields = Object.keys(wanted)
    .sort()
    .filter((field) => !isSameJson(existing.fields[field] ?? null, wanted[field] ?? null))
    .map((field) => ({ path: field, from: existing.fields[field] ?? null, to: wanted[field] ?? null }));
  if (fields.length === 0) return;
  out.changes.push({
    action: 'update',
    kind: rules.kind,
    key,
    ...idOf(existing),
    path,
    fields,
    before: existing.fields,
    save: { ...existing.fields, ...wanted },
  });
}

/**
 * Plans the pruning of an object that the manager owns and the document no longer declares. The object is deleted, or
 * reset if it can't be deleted; a built-in one is only released.
 */
export function planDropped(rules: Rules, key: string, existing: Existing | undefined, out: Planned): void {
  const { kind } = rules;
  out.moves.push({ action: 'release', kind, key });
  if (!existing || (existing.permanent && !rules.fieldwise)) return;
  if (rules.fieldwise) update(rules, { key, path: '', wanted: rules.fresh(key), existing }, out);
  else out.changes.push(deletion(kind, key, existing));
}

const idOf = ({ id }: Existing) => (id === undefined ? {} : { id });

export const deletion = (kind: string, key: string, existing: Existing): PlannedChange => ({
  action: 'delete',
  kind,
  key,
  ...idOf(existing),
  path: '',
  fields: [],
  before: existing.fields,
  save: {},
});
