// Names that objects use: the named objects must exist, or be created by the same changes. Each part says which names its objects use.
// Decisions "Import, export, plan".
import { type FieldError, unknownName } from '../contract/problem.ts';
import type { Sql } from '../db/sql.ts';
import { joinPaths } from './items.ts';
import type { Item, PlannedChange, RealmPart } from './part.ts';

/**
 * The most objects that are planned or written at once, so that memory stays bounded and the event loop is not blocked.
 */
const CHUNK = 2000;

/** The list in pieces of at most 2,000. */
export const chunks = <T>(list: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / CHUNK) }, (_, i) => list.slice(i * CHUNK, (i + 1) * CHUNK));

/** A name that is unique over all kinds. */
export const nameOf = (kind: string, key: string): string => `${kind} ${key}`;

/** The names of the objects that the plan creates, updates or deletes. */
export const namesOf = (changes: readonly PlannedChange[], action: PlannedChange['action']): Set<string> =>
  new Set(changes.filter((c) => c.action === action).map((c) => nameOf(c.kind, c.key)));

/** A field that names an object which the same import removes; waiting would not help. */
export const prunedName = (path: string, kind: string, key: string): FieldError => ({
  path,
  message: `names the ${kind} ${key}, which pruning deletes, as the document no longer holds it`,
});

/** The names that these changes create, by new objects and by renames. */
const broughtBy = (changes: readonly PlannedChange[]): Set<string> =>
  new Set(
    changes.filter((c) => c.action === 'create' || c.renamedFrom !== undefined).map((c) => nameOf(c.kind, c.key)),
  );

/**
 * Field errors for names that changed objects use and that neither exist nor are created by these changes; and for names that any
 * declared object uses and that these changes remove. Otherwise the next import of the same document would find them missing.
 */
export async function danglingReferences(
  sql: Sql,
  {
    realm,
    parts,
    declared,
    changes,
    mayAsk = () => true,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    declared: readonly { part: RealmPart; items: readonly Item[] }[];
    changes: readonly PlannedChange[];
    /** Whether to look up names of the kind `of` that objects of the kind `by` use. */
    mayAsk?: (by: string, of: string) => boolean;
  },
): Promise<FieldError[]> {
  const changed = new Set(changes.map((c) => nameOf(c.kind, c.key)));
  const made = broughtBy(changes);
  const former = new Set(changes.flatMap((c) => (c.renamedFrom === undefined ? [] : nameOf(c.kind, c.renamedFrom))));
  const gone = namesOf(changes, 'delete');
  const asked = declared.flatMap(({ part, items }) =>
    items.flatMap((item) => {
      const all = gone.size > 0 || changed.has(nameOf(part.kind, item.key)) ? (part.references?.(item) ?? []) : [];
      const now = changed.has(nameOf(part.kind, item.key)) ? all : all.filter((r) => gone.has(nameOf(r.kind, r.key)));
      return now
        .filter(({ kind }) => mayAsk(part.kind, kind))
        .map(({ kind, key, path }) => ({ kind, key, path: joinPaths(item.path, path) }));
    }),
  );
  const there = new Set<string>();
  for (const part of parts) {
    const keys = [...new Set(asked.filter((r) => r.kind === part.kind).map((r) => r.key))];
    const unknown = keys.filter((key) => !made.has(nameOf(part.kind, key)));
    for (const chunk of chunks(unknown))
      for (const key of (await part.read(sql, realm, chunk)).keys()) there.add(nameOf(part.kind, key));
  }
  return asked.flatMap(({ path, kind, key }) => {
    const name = nameOf(kind, key);
    if (gone.has(name)) return [prunedName(path, kind, key)];
    return made.has(name) || (there.has(name) && !former.has(name)) ? [] : [unknownName(path, kind, key)];
  });
}
