// Names: what a document's objects name must be there and stay, and what is removed must not be needed by anybody else.
// Which names an object uses is its part's to say (part.ts). Decisions "Import, export, plan".
import { type FieldError, Problem, unknownName } from '../../contract/problem.ts';
import type { Sql } from '../../db/sql.ts';
import type { Section } from './document.ts';
import type { RealmPart } from './part.ts';
import type { PlannedChange } from './plan.ts';
import * as store from './store.ts';

/** Objects that are planned or written in one go, so that neither memory nor the event loop is held for long. */
const CHUNK = 2000;

export const chunks = <T>(list: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / CHUNK) }, (_, i) => list.slice(i * CHUNK, (i + 1) * CHUNK));

const id = (kind: string, key: string) => `${kind} ${key}`;
const idsOf = (changes: readonly PlannedChange[], action: PlannedChange['action']) =>
  new Set(changes.filter((c) => c.action === action).map((c) => id(c.kind, c.key)));

/** A field that names what this very import removes: nothing to wait for. */
export const prunedName = (path: string, kind: string, key: string): FieldError => ({
  path,
  message: `names the ${kind} ${key}, which pruning deletes, as the document no longer holds it`,
});

/**
 * Names that are neither there nor made by this document, asked of what changes; and names that it removes, asked of
 * everything that it declares: else the next import of the same document would find them missing.
 */
export async function danglingReferences(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    changes,
  }: { realm: string; parts: readonly RealmPart[]; declared: readonly Section[]; changes: readonly PlannedChange[] },
): Promise<FieldError[]> {
  const changed = new Set(changes.map((c) => id(c.kind, c.key)));
  const made = idsOf(changes, 'create');
  const gone = idsOf(changes, 'delete');
  const asked = declared.flatMap(({ part, items }) =>
    items.flatMap((item) => {
      const all = gone.size > 0 || changed.has(id(part.kind, item.key)) ? (part.references?.(item) ?? []) : [];
      const now = changed.has(id(part.kind, item.key)) ? all : all.filter((r) => gone.has(id(r.kind, r.key)));
      return now.map(({ kind, key, path }) => ({ kind, key, path: path === '' ? item.path : `${item.path}.${path}` }));
    }),
  );
  const there = new Set<string>();
  for (const part of parts) {
    const keys = [...new Set(asked.filter((r) => r.kind === part.kind).map((r) => r.key))];
    const unknown = keys.filter((key) => !made.has(id(part.kind, key)));
    for (const chunk of chunks(unknown))
      for (const key of (await part.read(sql, realm, chunk)).keys()) there.add(id(part.kind, key));
  }
  return asked.flatMap(({ path, kind, key }) => {
    const name = id(kind, key);
    if (gone.has(name)) return [prunedName(path, kind, key)];
    return made.has(name) || there.has(name) ? [] : [unknownName(path, kind, key)];
  });
}

interface Needed {
  kind: string;
  key: string;
  on: string;
  manager?: string;
}

/** @throws Problem `flow-in-use`, `in-use` where something stays that needs what is removed */
export async function refuseDependents(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    manager,
    changes,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    declared: readonly Section[];
    manager: string;
    changes: readonly PlannedChange[];
  },
): Promise<void> {
  const byKey = new Map(changes.map((c) => [id(c.kind, c.key), c]));
  for (const part of parts) {
    const removed = changes.filter((c) => c.kind === part.kind && c.action === 'delete').map((c) => c.key);
    if (removed.length === 0 || !part.dependents) continue;
    const left = (await part.dependents(sql, realm, removed)).filter(({ kind, key, field }) => {
      const change = byKey.get(id(kind, key));
      if (change?.action === 'delete') return false;
      return field === undefined || !change?.fields.some((f) => f.path === field);
    });
    refuseNeeded(part.kind, left);
  }
  const gone = idsOf(changes, 'delete');
  if (gone.size === 0) return;
  const held = new Set(declared.flatMap(({ part, items }) => items.map((item) => id(part.kind, item.key))));
  for (const [kind, left] of await neededElsewhere(sql, { realm, parts, manager, gone, held }))
    refuseNeeded(kind, left);
}

/** What other managers declare by the name of a removed object: it would vanish there without a word in any plan. */
async function neededElsewhere(
  sql: Sql,
  {
    realm,
    parts,
    manager,
    gone,
    held,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    manager: string;
    gone: ReadonlySet<string>;
    held: ReadonlySet<string>;
  },
): Promise<Map<string, Needed[]>> {
  const needed = new Map<string, Needed[]>();
  for (const part of parts) {
    const { references } = part;
    if (!references) continue;
    const owned = (await store.readOwnedElsewhere(sql, realm, part.kind, manager)).filter(
      ({ key }) => !held.has(id(part.kind, key)),
    );
    for (const chunk of chunks(owned)) {
      const keys = chunk.map(({ key }) => key);
      const current = await part.read(sql, realm, keys);
      for (const { key, fields, manager: owner } of chunk) {
        const there = current.get(key)?.fields;
        if (!there) continue;
        const theirs = Object.fromEntries(fields.map((field) => [field, there[field]]));
        for (const { kind, key: on } of references({ key, fields: theirs, path: '' }))
          if (gone.has(id(kind, on))) {
            const found = { kind: part.kind, key, on, manager: owner };
            const others = needed.get(kind);
            if (others) others.push(found);
            else needed.set(kind, [found]);
          }
      }
    }
  }
  return needed;
}

function refuseNeeded(removed: string, left: readonly Needed[]): void {
  const [first] = left;
  if (!first) return;
  const whose = first.manager === undefined ? '' : `, which ${first.manager} manages`;
  const more = left.length > 1 ? ` and ${left.length - 1} more` : '';
  throw new Problem(
    removed === 'flow' ? 'flow-in-use' : 'in-use',
    `The ${removed} ${first.on} is needed by the ${first.kind} ${first.key}${whose}${more}: change those first, or keep it`,
    { extra: { dependents: left.slice(0, 100).map(({ kind, key, on }) => ({ kind, key, on })) } },
  );
}
