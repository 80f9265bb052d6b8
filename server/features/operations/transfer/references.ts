// Finds the objects that need what a document removes. resource/references.ts checks the names in declared objects.
// Decisions "Import, export, plan".
import type { Sql } from '../../../db/sql.ts';
import type { PlannedChange, RealmPart, Section } from '../../../resource/part.ts';
import { chunks, nameOf, namesOf } from '../../../resource/references.ts';
import type { Need } from './kept.ts';
import * as store from './store.ts';

/** The objects that need what the plan removes, without the references that this import itself removes. */
export async function needsOf(
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
): Promise<Need[]> {
  const gone = namesOf(changes, 'delete');
  if (gone.size === 0) return [];
  const byKey = new Map(changes.map((c) => [nameOf(c.kind, c.key), c]));
  const needs: Need[] = [];
  for (const part of parts) {
    const removed = changes.filter((c) => c.kind === part.kind && c.action === 'delete').map((c) => c.key);
    if (removed.length === 0 || !part.dependents) continue;
    for (const { kind, key, on, field } of await part.dependents(sql, realm, removed)) {
      const change = byKey.get(nameOf(kind, key));
      const freed = field && change?.fields.some((f) => f.path === field);
      // a deleted part doesn't prevent the deletion of its whole
      const isPart = change?.action === 'delete' && wholeOf(parts, change)?.key === on;
      if (!freed && !isPart) needs.push({ kind, key, on: { kind: part.kind, key: on } });
    }
  }
  const declaredNames = new Set(
    declared.flatMap(({ part, items }) => items.map((item) => nameOf(part.kind, item.key))),
  );
  return [...needs, ...(await neededElsewhere(sql, { realm, parts, manager, gone, declaredNames }))];
}

const wholeOf = (parts: readonly RealmPart[], { kind, key }: PlannedChange) =>
  parts.find((part) => part.kind === kind)?.partOf?.(key);

/** Objects of other managers that refer to a removed object: they would lose the reference without a trace in any plan. */
async function neededElsewhere(
  sql: Sql,
  {
    realm,
    parts,
    manager,
    gone,
    declaredNames,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    manager: string;
    gone: ReadonlySet<string>;
    declaredNames: ReadonlySet<string>;
  },
): Promise<Need[]> {
  const needs: Need[] = [];
  for (const part of parts) {
    const { references } = part;
    if (!references) continue;
    const owned = (await store.readOwnedElsewhere(sql, realm, part.kind, manager)).filter(
      ({ key }) => !declaredNames.has(nameOf(part.kind, key)),
    );
    for (const chunk of chunks(owned)) {
      const keys = chunk.map(({ key }) => key);
      const current = await part.read(sql, realm, keys);
      for (const { key, fields, manager: owner } of chunk) {
        const there = current.get(key)?.fields;
        if (!there) continue;
        const theirs = Object.fromEntries(fields.map((field) => [field, there[field]]));
        for (const on of references({ key, fields: theirs, path: '' }))
          if (gone.has(nameOf(on.kind, on.key))) needs.push({ kind: part.kind, key, on, manager: owner });
      }
    }
  }
  return needs;
}
