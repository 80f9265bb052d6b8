// Plans all sections of a document against the realm, in phases that apply to every part. plan.ts compares,
// resource/write.ts writes. Decisions "Import, export, plan".
import type { Conflict, Deletion, KeptSecret, Warning } from '../../../contract/transfer.ts';
import type { Sql } from '../../../db/sql.ts';
import type { OwnedRow } from '../../../domain/ownership.ts';
import { wantedOf } from '../../../resource/compare.ts';
import type { Item, PlannedChange, RealmPart, Section } from '../../../resource/part.ts';
import { chunks, danglingReferences, nameOf } from '../../../resource/references.ts';
import { compareSecrets, type GuessCount } from '../../../resource/secrets.ts';
import { faultsOf, yieldLoop } from '../../../resource/write.ts';
import { type HeldChange, type HoldOn, keepDependents, keepHeld, keptByHolds } from '../holds/holds.ts';
import { refuse } from './document.ts';
import { type KeptObject, keepNeeded, type Need } from './kept.ts';
import { deletion, type Move, type Owner, type Planned, type PlanOptions, planDropped, planObjects } from './plan.ts';
import { needsOf } from './references.ts';
import { keptSecrets, refuseValueless } from './secrets.ts';
import * as store from './store.ts';

export interface EnginePlan {
  changes: PlannedChange[];
  conflicts: Conflict[];
  moves: Move[];
  kept: KeptObject[];
  /** Changes that wait for the end of a hold. */
  held: HeldChange[];
  keptSecrets: KeptSecret[];
  warnings: Warning[];
  /** For a dry run: objects that the manager owns and the document neither declares nor prunes. */
  undeclared: { kind: string; key: string }[];
  deletions: Deletion[];
}

/** Plans the declared objects, and with `prune` the manager's other objects. */
export async function planRealm(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    options,
    guessCount,
    permit,
    anew,
    mayAsk,
    holdOn,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    declared: readonly Section[];
    options: PlanOptions & { dryRun: boolean };
    guessCount: GuessCount;
    /** @throws if the importer may not change these kinds, before the plan reveals their dependent objects */
    permit(touched: ReadonlySet<string>): void;
    /**
     * The realm was created for this document, which is a whole export: the document decides which seeded objects
     * exist.
     */
    anew: boolean;
    /** Whether the importer may learn that an object of kind `by` refers to a missing object of kind `of`. */
    mayAsk(by: string, of: string): boolean;
    /** The holds that stand in the realm. */
    holdOn: HoldOn;
  },
): Promise<EnginePlan> {
  const all: Planned = { changes: [], conflicts: [], moves: [], faults: [] };
  const secrets: KeptSecret[] = [];
  const held: HeldChange[] = [];
  const after: { part: RealmPart; objects: Pick<Item, 'key' | 'fields'>[] }[] = [];
  for (const section of declared) {
    const { kept, objects, ...own } = await planSection(sql, { realm, section, options, guessCount, all, holdOn });
    secrets.push(...kept);
    held.push(...own.held);
    if (section.part.warnings) after.push({ part: section.part, objects });
  }
  const pruned = options.prune ? await planPruned(sql, { realm, parts, declared, options, all }) : undefined;
  held.push(...keepHeld(all, holdOn));
  if (held.length > 0) held.push(...keepDependents(all, held, namesIn(declared)));
  if (anew) await planUnseeded(sql, { realm, declared, all });
  permit(new Set([...all.changes, ...all.moves].map((c) => c.kind)));
  refuse(all.faults);
  const { changes } = all;
  refuseValueless(parts, changes, options.dryRun);
  refuse(await danglingReferences(sql, { realm, parts, declared, changes, mayAsk }));
  const needs = pruned ? await needsOf(sql, { realm, parts, declared, manager: options.manager, changes }) : [];
  const needed = pruned ? keepNeeded(all, [...pruned.needs, ...needs, ...needsOfHeld(parts, held)], pruned.owners) : [];
  const { kept, held: keptByHold } = keptByHolds(needed, held);
  const wanted = all.changes.map(wantedOf);
  for (const part of parts) refuse((await part.whole?.(sql, realm, wanted)) ?? []);
  const warnings: Warning[] = [];
  for (const { part, objects } of after)
    for (const one of (await part.warnings?.(sql, realm, objects, changes)) ?? [])
      warnings.push({ kind: part.kind, ...one });
  const { dryRun, prune, manager } = options;
  return {
    changes: all.changes,
    conflicts: all.conflicts,
    moves: all.moves,
    kept,
    held: [...held, ...keptByHold],
    keptSecrets: secrets,
    warnings,
    undeclared: dryRun && !prune ? await droppedOf(sql, { realm, declared, manager }) : [],
    deletions: dryRun ? await deletionsOf(sql, { realm, parts, changes: all.changes }) : [],
  };
}

/** The objects that the manager owns and the document doesn't declare. */
async function droppedOf(
  sql: Sql,
  { realm, declared, manager }: { realm: string; declared: readonly Section[]; manager: string },
): Promise<OwnedRow[]> {
  const declaredNames = new Set(
    declared.flatMap(({ part, items }) => items.map((item) => nameOf(part.kind, item.key))),
  );
  return (await store.readOwned(sql, realm, manager)).filter((o) => !declaredNames.has(nameOf(o.kind, o.key)));
}

/** The number of deleted objects of each kind. */
async function deletionsOf(
  sql: Sql,
  { realm, parts, changes }: { realm: string; parts: readonly RealmPart[]; changes: readonly PlannedChange[] },
): Promise<Deletion[]> {
  const gone = Map.groupBy(
    changes.filter(({ action }) => action === 'delete'),
    ({ kind }) => kind,
  );
  const found: Deletion[] = [];
  for (const part of parts) {
    const count = gone.get(part.kind)?.length ?? 0;
    if (count > 0) found.push({ kind: part.kind, count, of: (await part.read(sql, realm)).size });
  }
  return found;
}

async function planSection(
  sql: Sql,
  {
    realm,
    section,
    options,
    guessCount,
    all,
    holdOn,
  }: {
    realm: string;
    section: Section;
    options: PlanOptions;
    guessCount: GuessCount;
    all: Planned;
    holdOn: HoldOn;
  },
): Promise<{ kept: KeptSecret[]; held: HeldChange[]; objects: Pick<Item, 'key' | 'fields'>[] }> {
  const { part, items } = section;
  const rules = rulesOf(part, realm);
  const kept: KeptSecret[] = [];
  const held: HeldChange[] = [];
  const objects: Pick<Item, 'key' | 'fields'>[] = [];
  for (const chunk of chunks(items)) {
    const keys = chunk.map((item) => item.key);
    const owners = await store.readOwners(sql, realm, part.kind, keys);
    const stored = await part.read(sql, realm, keys);
    kept.push(...keptSecrets(part, chunk, stored));
    const current = await compareSecrets(part, chunk, stored, { sql, guessCount });
    const settled = chunk.map((item): Item => {
      const stands = part.settled && current.get(item.key);
      return stands ? { ...item, fields: part.settled?.(item.fields, stands.fields) ?? item.fields } : item;
    });
    const planned = planObjects(rules, options, { items: settled, current, owners });
    // before its values are judged: what is held is not written
    held.push(...keepHeld(planned, holdOn));
    all.faults = [...all.faults, ...planned.faults, ...faultsOf(part, realm, planned.changes.map(wantedOf))];
    all.changes.push(...planned.changes);
    all.conflicts.push(...planned.conflicts);
    all.moves.push(...planned.moves);
    if (part.warnings) {
      const changed = new Map(planned.changes.map(({ key, save }) => [key, save]));
      for (const key of keys) {
        const fields = changed.get(key) ?? current.get(key)?.fields;
        if (fields) objects.push({ key, fields });
      }
    }
    await yieldLoop();
  }
  return { kept, held, objects };
}

/** The names that a declared object refers to, by its planned change. */
function namesIn(declared: readonly Section[]): (change: PlannedChange) => string[] {
  const items = new Map(
    declared.flatMap(({ part, items: all }) =>
      all.map((item) => [nameOf(part.kind, item.key), { part, item }] as const),
    ),
  );
  return ({ kind, key }) => {
    const { part, item } = items.get(nameOf(kind, key)) ?? {};
    return (item && part?.references?.(item))?.map((on) => nameOf(on.kind, on.key)) ?? [];
  };
}

/** The objects that held ones refer to as they are stored: pruning keeps these. */
const needsOfHeld = (parts: readonly RealmPart[], held: readonly HeldChange[]): Need[] =>
  held.flatMap(({ change: { kind, key, before } }) => {
    const part = before && parts.find((one) => one.kind === kind);
    return (part?.references?.({ key, fields: before ?? {}, path: '' }) ?? []).map((on) => ({ kind, key, on }));
  });

const rulesOf = (part: RealmPart, realm: string) => ({
  kind: part.kind,
  fieldwise: part.fieldwise ?? false,
  required: part.required ?? [],
  fresh: (key: string) => part.fresh(realm, key),
});

/** @returns the owners of pruned objects, and the references among them */
async function planPruned(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    options,
    all,
  }: { realm: string; parts: readonly RealmPart[]; declared: readonly Section[]; options: PlanOptions; all: Planned },
): Promise<{ owners: Map<string, Owner>; needs: Need[] }> {
  const dropped = await droppedOf(sql, { realm, declared, manager: options.manager });
  const owners = new Map(dropped.map((o) => [nameOf(o.kind, o.key), o]));
  const needs: Need[] = [];
  for (const part of parts) {
    const keys = dropped.filter((o) => o.kind === part.kind).map((o) => o.key);
    for (const chunk of chunks(keys)) {
      const current = await part.read(sql, realm, chunk);
      for (const key of chunk) {
        const existing = current.get(key);
        planDropped(rulesOf(part, realm), key, existing, all);
        if (existing) needs.push(...needsAmong(part, { key, fields: existing.fields, path: '' }, owners));
      }
    }
  }
  return { owners, needs };
}

/**
 * The objects that a removed object refers to. If it is a part of a whole that is pruned too, its reference to the whole
 * is replaced by one from the whole to the part.
 */
function needsAmong(
  { kind, fieldwise, references, partOf }: RealmPart,
  item: Item,
  pruned: ReadonlyMap<string, Owner>,
): Need[] {
  if (fieldwise) return [];
  const { key } = item;
  const whole = partOf?.(key);
  const needs = (references?.(item) ?? []).map((on): Need => ({ kind, key, on }));
  if (!whole || !pruned.has(nameOf(whole.kind, whole.key))) return needs;
  return [...needs.filter(({ on }) => on.kind !== whole.kind || on.key !== whole.key), { ...whole, on: { kind, key } }];
}

/** Plans the deletion of seeded objects of a new realm that its whole export doesn't contain. */
async function planUnseeded(
  sql: Sql,
  { realm, declared, all }: { realm: string; declared: readonly Section[]; all: Planned },
): Promise<void> {
  for (const { part, items } of declared) {
    if (!part.seeded) continue;
    const declaredNames = new Set(items.map((item) => item.key));
    for (const [key, existing] of await part.read(sql, realm))
      if (!declaredNames.has(key)) all.changes.push(deletion(part.kind, key, existing));
  }
}
