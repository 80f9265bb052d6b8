// Planning all sections of a document against the realm, and carrying the plan out: the phases that no part can forget.
// Comparing is plan.ts's; rows are the parts'. Decisions "Import, export, plan".
import { Problem, unknownName } from '../../contract/problem.ts';
import type { Conflict } from '../../contract/transfer.ts';
import type { Sql } from '../../db/sql.ts';
import { refuse, type Section } from './document.ts';
import type { RealmPart, Reference } from './part.ts';
import {
  type Ask,
  type Move,
  type Owner,
  type Planned,
  type PlannedChange,
  planDropped,
  planObjects,
  savedOf,
} from './plan.ts';
import { compareSecrets } from './secrets.ts';
import * as store from './store.ts';

/** Objects that are planned or written in one go, so that neither memory nor the event loop is held for long. */
const CHUNK = 2000;

export interface EnginePlan {
  changes: PlannedChange[];
  conflicts: Conflict[];
  moves: Move[];
}

const chunks = <T>(list: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / CHUNK) }, (_, i) => list.slice(i * CHUNK, (i + 1) * CHUNK));

const yieldLoop = () => new Promise((resolve) => setImmediate(resolve));

/** What `declared` asks for, and with `prune` what the manager's other objects come to. */
export async function planRealm(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    ask,
  }: { realm: string; parts: readonly RealmPart[]; declared: readonly Section[]; ask: Ask },
): Promise<EnginePlan> {
  const all: Planned = { changes: [], conflicts: [], moves: [], faults: [] };
  for (const section of declared) await planSection(sql, { realm, section, ask, all });
  if (ask.prune) await planPruned(sql, { realm, parts, declared, ask, all });
  refuse(all.faults);
  refuse(await danglingReferences(sql, { realm, parts, declared, changes: all.changes }));
  await refuseDependents(sql, { realm, parts, changes: all.changes });
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
    const saved = planned.changes.map(savedOf);
    all.faults.push(...planned.faults, ...(part.check?.(realm, saved, current) ?? []));
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

/** Names that a changed object uses and that are neither there nor made by this document, or that it removes. */
async function danglingReferences(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    changes,
  }: { realm: string; parts: readonly RealmPart[]; declared: readonly Section[]; changes: readonly PlannedChange[] },
) {
  const id = (kind: string, key: string) => `${kind} ${key}`;
  const changed = new Set(changes.map((c) => id(c.kind, c.key)));
  const made = new Set(changes.filter((c) => c.action === 'create').map((c) => id(c.kind, c.key)));
  const gone = new Set(changes.filter((c) => c.action === 'delete').map((c) => id(c.kind, c.key)));
  const asked: (Reference & { at: string; by: string })[] = declared.flatMap(({ part, items }) =>
    items
      .filter((item) => changed.has(id(part.kind, item.key)))
      .flatMap((item) =>
        (part.references?.(item) ?? []).map((r) => ({ ...r, at: item.path, by: `${part.kind} ${item.key}` })),
      ),
  );
  const there = new Set<string>();
  for (const part of parts) {
    const keys = [...new Set(asked.filter((r) => r.kind === part.kind).map((r) => r.key))];
    const unknown = keys.filter((key) => !made.has(id(part.kind, key)));
    for (const chunk of chunks(unknown))
      for (const key of (await part.read(sql, realm, chunk)).keys()) there.add(id(part.kind, key));
  }
  return asked
    .filter((r) => {
      const name = id(r.kind, r.key);
      return gone.has(name) || !(made.has(name) || there.has(name));
    })
    .map((r) => unknownName(r.path === '' ? r.at : `${r.at}.${r.path}`, r.kind, r.key));
}

/** @throws Problem `flow-in-use`, `in-use` where something stays that needs what is removed */
async function refuseDependents(
  sql: Sql,
  { realm, parts, changes }: { realm: string; parts: readonly RealmPart[]; changes: readonly PlannedChange[] },
): Promise<void> {
  const byKey = new Map(changes.map((c) => [`${c.kind} ${c.key}`, c]));
  for (const part of parts) {
    const removed = changes.filter((c) => c.kind === part.kind && c.action === 'delete').map((c) => c.key);
    if (removed.length === 0 || !part.dependents) continue;
    const left = (await part.dependents(sql, realm, removed)).filter(({ kind, key, field }) => {
      const change = byKey.get(`${kind} ${key}`);
      if (change?.action === 'delete') return false;
      return field === undefined || !change?.fields.some((f) => f.path === field);
    });
    const [first] = left;
    if (!first) continue;
    throw new Problem(
      part.kind === 'flow' ? 'flow-in-use' : 'in-use',
      `The ${part.kind} ${first.on} is needed by the ${first.kind} ${first.key}${left.length > 1 ? ` and ${left.length - 1} more` : ''}`,
      { extra: { dependents: left.slice(0, 100).map(({ kind, key, on }) => ({ kind, key, on })) } },
    );
  }
}

/** Creates and updates in the parts' order, then ties, then removes in the reverse order. */
export async function applyRealm(
  sql: Sql,
  { realm, parts, changes }: { realm: string; parts: readonly RealmPart[]; changes: readonly PlannedChange[] },
): Promise<void> {
  const of = (part: RealmPart, action: PlannedChange['action']) =>
    changes.filter((c) => c.kind === part.kind && c.action === action);
  for (const part of parts) {
    for (const chunk of chunks(of(part, 'create'))) {
      await part.write(sql, realm, { create: chunk.map(savedOf), update: [], remove: [] });
      await yieldLoop();
    }
    for (const chunk of chunks(of(part, 'update')))
      await part.write(sql, realm, { create: [], update: chunk.map(savedOf), remove: [] });
  }
  for (const part of parts) {
    if (!part.link) continue;
    for (const chunk of chunks([...of(part, 'create'), ...of(part, 'update')]))
      await part.link(sql, realm, chunk.map(savedOf));
  }
  for (const part of [...parts].reverse()) {
    for (const chunk of chunks(of(part, 'delete')))
      await part.write(sql, realm, { create: [], update: [], remove: chunk.map((c) => c.key) });
  }
}

/** Ownership as the plan has it. */
export async function applyMoves(sql: Sql, realm: string, moves: readonly Move[]): Promise<void> {
  const owned = moves.flatMap(({ kind, key, owner }) => (owner ? [{ kind, key, ...fieldsOf(owner) }] : []));
  for (const chunk of chunks(owned)) await store.own(sql, realm, chunk);
  for (const chunk of chunks(moves.filter((m) => !m.owner))) await store.release(sql, realm, chunk);
}
const fieldsOf = ({ manager, fields }: Owner) => ({ manager, fields: [...fields] });
