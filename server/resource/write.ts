// Owns: the one code path by which objects are written: the checks, the order of writes, their effects.
// Does not own: which changes to make (features/operations/transfer's plan, api.ts), the rows (each part), users' rows.
// Implements: decisions "Import, export, plan", "Rights": the admin API writes a batch of one, a document a batch of many.
import type { By } from '../contract/events.ts';
import { type FieldError, Problem } from '../contract/problem.ts';
import { isTaken } from '../db/error-code.ts';
import type { Sql } from '../db/sql.ts';
import type { Tx } from '../db/transact.ts';
import { renameOwned, renameOwnedBelow } from '../domain/ownership.ts';
import { deletionOf } from './change.ts';
import { wantedOf } from './compare.ts';
import { ofConfiguration, refuseDeclaredOnly, type Written } from './declared-only.ts';
import { eventsOf } from './events.ts';
import { joinPaths } from './items.ts';
import type { PlannedChange, RealmPart, Saved, Wanted } from './part.ts';
import { chunks } from './references.ts';
import { movedSecrets } from './secrets.ts';
import { hiddenFaults } from './shown-names.ts';

/** Lets the event loop run once, between pieces of long work. */
export const yieldLoop = () => new Promise((resolve) => setImmediate(resolve));

/** Field errors of the changed objects by the part's rules, each at its path. */
export const faultsOf = (part: RealmPart, realm: string, saved: readonly Saved[]): FieldError[] =>
  saved.flatMap((one) => {
    const faults = [...hiddenFaults(one), ...(part.check?.(one, realm) ?? [])];
    return (faults.length > 0 ? faults : movedSecrets(part, one)).map((fault) => ({
      ...fault,
      path: joinPaths(one.path, fault.path),
      message: one.path === '' ? fault.message : `${one.key}: ${fault.message}`,
    }));
  });

/**
 * Writes the changes with their effects, and records their events.
 * @throws Problem `declared-only` for a change by hand that only documents may make
 */
export async function writeChanges(
  tx: Tx,
  {
    realm,
    by,
    written,
    parts,
    changes,
    manager,
    newId,
  }: {
    realm: string;
    by: By;
    written: Written;
    parts: readonly RealmPart[];
    changes: readonly PlannedChange[];
    manager?: string;
    newId: () => string;
  },
): Promise<void> {
  const refuseLocked = async (those: readonly PlannedChange[]) => {
    if (written === 'byHand') await refuseDeclaredOnly(tx.sql, realm, ofConfiguration(parts, those));
  };
  await refuseLocked(changes);
  const withIds = new Set(parts.filter((part) => part.ids).map((part) => part.kind));
  const known = changes.map((change) =>
    change.action === 'create' && change.id === undefined && withIds.has(change.kind)
      ? { ...change, id: newId() }
      : change,
  );
  const wanted = known.map(wantedOf);
  const fallen = await writeRows(tx.sql, { realm, parts, wanted });
  await refuseLocked(fallen);
  const all = [...wanted, ...fallen.map(wantedOf)];
  for (const change of known) await renameOwnership(tx.sql, realm, parts, change);
  for (const part of parts) {
    const own = part.onChange ? all.filter((change) => change.kind === part.kind) : [];
    if (own.length > 0) await part.onChange?.(tx, realm, own, by);
  }
  for (const event of eventsOf({ realm, by, manager }, parts, [...known, ...fallen])) tx.record(event);
}

/**
 * Creates and updates in the parts' order, then ties, then removes in the reverse order.
 * @returns objects that the database deletes with the removed ones
 */
async function writeRows(
  sql: Sql,
  { realm, parts, wanted }: { realm: string; parts: readonly RealmPart[]; wanted: readonly Wanted[] },
): Promise<PlannedChange[]> {
  const of = (part: RealmPart, action: PlannedChange['action']) =>
    wanted.filter((c) => c.kind === part.kind && c.action === action);
  for (const part of parts) {
    const [create, update] = [of(part, 'create'), of(part, 'update')];
    if (part.atOnce) {
      const remove = of(part, 'delete').map((c) => c.key);
      if (create.length + update.length + remove.length > 0)
        await named(part, [...create, ...update], part.write(sql, realm, { create, update, remove }));
      continue;
    }
    // A parent's key is the beginning of its children's, so it comes before them.
    for (const chunk of chunks(create.sort((a, b) => (a.key < b.key ? -1 : 1)))) {
      await named(part, chunk, part.write(sql, realm, { create: chunk, update: [], remove: [] }));
      await yieldLoop();
    }
    for (const chunk of chunks(update))
      await named(part, chunk, part.write(sql, realm, { create: [], update: chunk, remove: [] }));
  }
  for (const part of parts) {
    if (!part.link) continue;
    for (const chunk of chunks([...of(part, 'create'), ...of(part, 'update')])) await part.link(sql, realm, chunk);
  }
  const fallen = await fallingWith(sql, { realm, parts, removed: wanted.filter(({ action }) => action === 'delete') });
  for (const part of [...parts].reverse()) {
    if (part.atOnce) continue;
    for (const chunk of chunks(of(part, 'delete').map((c) => c.key)))
      await part.write(sql, realm, { create: [], update: [], remove: chunk });
  }
  return fallen;
}

/** Call it after all other writes: an object that now refers to another one isn't deleted. */
async function fallingWith(
  sql: Sql,
  { realm, parts, removed }: { realm: string; parts: readonly RealmPart[]; removed: readonly Wanted[] },
): Promise<PlannedChange[]> {
  const gone = Map.groupBy(removed, ({ kind }) => kind);
  const fallen: PlannedChange[] = [];
  for (const part of parts) {
    const keys = (gone.get(part.fallsWith?.kind ?? '') ?? []).map(({ key }) => key);
    const themselves = new Set(gone.get(part.kind)?.map(({ key }) => key));
    for (const chunk of chunks(keys))
      for (const [key, { id, fields }] of (await part.fallsWith?.read(sql, realm, chunk)) ?? [])
        if (!themselves.has(key)) {
          themselves.add(key);
          fallen.push(deletionOf(part, { ...(id !== undefined && { id }), key, fields }));
        }
  }
  return fallen;
}

/** If another request has taken the name meanwhile, turns the database error into a Problem `name-taken`. */
async function named(part: RealmPart, saved: readonly Wanted[], written: Promise<void>): Promise<void> {
  try {
    await written;
  } catch (error) {
    if (!isTaken(error)) throw error;
    const [first] = saved;
    throw new Problem('name-taken', saved.length === 1 ? `The name ${first?.key} is taken` : undefined, {
      reason: `${part.kind}: unique`,
      cause: error,
    });
  }
}

/** The manager of a renamed object owns it under its new name, and so sees the drift. */
async function renameOwnership(
  sql: Sql,
  realm: string,
  parts: readonly RealmPart[],
  { kind, key, renamedFrom }: PlannedChange,
): Promise<void> {
  if (renamedFrom === undefined) return;
  const { same = [], below = [] } = parts.find((part) => part.kind === kind)?.renames ?? {};
  await renameOwned(sql, realm, [kind, ...same], renamedFrom, key);
  for (const { kind: other, prefix } of below)
    await renameOwnedBelow(sql, realm, other, prefix(renamedFrom), prefix(key));
}
