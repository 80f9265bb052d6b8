// Planning all sections of a document against the realm, and carrying the plan out: the phases that no part can forget.
// Comparing is plan.ts's; rows are the parts'. Decisions "Import, export, plan".
import type { Conflict } from '../../contract/transfer.ts';
import type { Sql } from '../../db/sql.ts';
import { refuse, type Section } from './document.ts';
import type { RealmPart } from './part.ts';
import {
  type Ask,
  type Move,
  type Owner,
  type Planned,
  type PlannedChange,
  planDropped,
  planObjects,
  wantedOf,
} from './plan.ts';
import { chunks, danglingReferences, refuseDependents } from './references.ts';
import { compareSecrets } from './secrets.ts';
import * as store from './store.ts';

export interface EnginePlan {
  changes: PlannedChange[];
  conflicts: Conflict[];
  moves: Move[];
}

const yieldLoop = () => new Promise((resolve) => setImmediate(resolve));

/** What `declared` asks for, and with `prune` what the manager's other objects come to. */
export async function planRealm(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    ask,
    permit,
    anew,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    declared: readonly Section[];
    ask: Ask;
    /** @throws where these kinds are not the importer's to change: before anything is told of what hangs on them */
    permit(touched: ReadonlySet<string>): void;
    /** The realm was made for this document, which is a whole export: its seeds are those that are declared. */
    anew: boolean;
  },
): Promise<EnginePlan> {
  const all: Planned = { changes: [], conflicts: [], moves: [], faults: [] };
  for (const section of declared) await planSection(sql, { realm, section, ask, all });
  if (ask.prune) await planPruned(sql, { realm, parts, declared, ask, all });
  if (anew) await planUnseeded(sql, { realm, declared, all });
  permit(new Set([...all.changes, ...all.moves].map((c) => c.kind)));
  refuse(all.faults);
  const { changes } = all;
  await refuseDependents(sql, { realm, parts, declared, manager: ask.manager, changes });
  refuse(await danglingReferences(sql, { realm, parts, declared, changes }));
  const wanted = changes.map(wantedOf);
  for (const part of parts) refuse((await part.whole?.(sql, realm, wanted)) ?? []);
  return all;
}

async function planSection(
  sql: Sql,
  { realm, section, ask, all }: { realm: string; section: Section; ask: Ask; all: Planned },
): Promise<void> {
  const { part, items } = section;
  const rules = rulesOf(part, realm);
  for (const chunk of chunks(items)) {
    const keys = chunk.map((item) => item.key);
    const owners = await store.readOwners(sql, realm, part.kind, keys);
    const current = await compareSecrets(part, chunk, await part.read(sql, realm, keys));
    const planned = planObjects(rules, ask, { items: chunk, current, owners });
    all.faults = [...all.faults, ...planned.faults, ...(part.check?.(planned.changes.map(wantedOf)) ?? [])];
    all.changes.push(...planned.changes);
    all.conflicts.push(...planned.conflicts);
    all.moves.push(...planned.moves);
    await yieldLoop();
  }
}

const rulesOf = (part: RealmPart, realm: string) => ({
  kind: part.kind,
  fieldwise: part.fieldwise ?? false,
  required: part.required ?? [],
  fresh: (key: string) => part.fresh(realm, key),
});

async function planPruned(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    ask,
    all,
  }: { realm: string; parts: readonly RealmPart[]; declared: readonly Section[]; ask: Ask; all: Planned },
): Promise<void> {
  const held = new Set(declared.flatMap(({ part, items }) => items.map((item) => `${part.kind} ${item.key}`)));
  const dropped = (await store.readOwned(sql, realm, ask.manager)).filter((o) => !held.has(`${o.kind} ${o.key}`));
  for (const part of parts) {
    const keys = dropped.filter((o) => o.kind === part.kind).map((o) => o.key);
    for (const chunk of chunks(keys)) {
      const current = await part.read(sql, realm, chunk);
      for (const key of chunk) planDropped(rulesOf(part, realm), key, current.get(key), all);
    }
  }
}

/** What a new realm was seeded with, and the whole export that it was made for doesn't have. */
async function planUnseeded(
  sql: Sql,
  { realm, declared, all }: { realm: string; declared: readonly Section[]; all: Planned },
): Promise<void> {
  for (const { part, items } of declared) {
    if (!part.seeded) continue;
    const held = new Set(items.map((item) => item.key));
    for (const key of (await part.read(sql, realm)).keys())
      if (!held.has(key)) all.changes.push({ action: 'delete', kind: part.kind, key, path: '', fields: [], save: {} });
  }
}

/** Creates and updates in the parts' order, then ties, then removes in the reverse order. */
export async function applyRealm(
  sql: Sql,
  { realm, parts, changes }: { realm: string; parts: readonly RealmPart[]; changes: readonly PlannedChange[] },
): Promise<void> {
  const all = changes.map(wantedOf);
  const of = (part: RealmPart, action: PlannedChange['action']) =>
    all.filter((c) => c.kind === part.kind && c.action === action);
  for (const part of parts) {
    const [create, update] = [of(part, 'create'), of(part, 'update')];
    if (part.atOnce) {
      const remove = of(part, 'delete').map((c) => c.key);
      if (create.length + update.length + remove.length > 0) await part.write(sql, realm, { create, update, remove });
      continue;
    }
    // A parent's key is the beginning of its children's, so it comes before them.
    for (const chunk of chunks(create.sort((a, b) => (a.key < b.key ? -1 : 1)))) {
      await part.write(sql, realm, { create: chunk, update: [], remove: [] });
      await yieldLoop();
    }
    for (const chunk of chunks(update)) await part.write(sql, realm, { create: [], update: chunk, remove: [] });
  }
  for (const part of parts) {
    if (!part.link) continue;
    for (const chunk of chunks([...of(part, 'create'), ...of(part, 'update')])) await part.link(sql, realm, chunk);
  }
  for (const part of [...parts].reverse()) {
    if (part.atOnce) continue;
    for (const chunk of chunks(of(part, 'delete').map((c) => c.key)))
      await part.write(sql, realm, { create: [], update: [], remove: chunk });
  }
}

/** Ownership as the plan has it. */
export async function applyMoves(sql: Sql, realm: string, moves: readonly Move[]): Promise<void> {
  const owned = moves.flatMap(({ kind, key, owner }) => (owner ? [{ kind, key, ...fieldsOf(owner) }] : []));
  for (const chunk of chunks(owned)) await store.own(sql, realm, chunk);
  for (const chunk of chunks(moves.filter((m) => !m.owner))) await store.release(sql, realm, chunk);
}
const fieldsOf = ({ manager, fields }: Owner) => ({ manager, fields: [...fields] });
