// Fields that name users by username. A named user must exist, or be among the document's own users.
// contract/sections.ts lists these fields. Decisions "Organization".
import { type FieldError, unknownName } from '../contract/problem.ts';
import { fragment, type Sql } from '../db/sql.ts';
import { staging } from '../db/staging.ts';
import { wantedOf } from './compare.ts';
import { joinPaths, strings } from './items.ts';
import type { Item, PlannedChange, RealmPart } from './part.ts';

/** Whether an item of the section names users. */
export const namesPeople = ({ part, items }: { part: RealmPart; items: readonly Item[] }): boolean =>
  items.some(({ fields }) => part.people?.some((field) => fields[field] !== undefined) ?? false);

interface InDocument {
  realm: string;
  parts: readonly RealmPart[];
  changes: readonly PlannedChange[];
}

/** Field errors for unknown usernames. @param importId of the import that stages the document's users */
export async function unknownPeople(
  sql: Sql,
  { realm, parts, changes, importId }: InDocument & { importId: string | undefined },
): Promise<FieldError[]> {
  const people = new Map(parts.map((part) => [part.kind, part.people ?? []]));
  const named = changes.flatMap(({ kind, path, fields, save }) =>
    (people.get(kind) ?? [])
      .filter((field) => fields.some((f) => f.path === field))
      .flatMap((field) => strings([save[field]].flat()).map((name) => ({ name, path: joinPaths(path, field) }))),
  );
  if (named.length === 0) return [];
  // import_user, the template of the imports' tables, has no rows
  const staged = importId === undefined ? fragment`import_user` : staging(realm, importId);
  const unknown = await sql<{ name: string }>`
    select n.name from unnest(${[...new Set(named.map(({ name }) => name))]}::text[]) as n (name)
    where not exists (
      select from realm_user u where u.realm_id = ${realm} and lower(u.username) = lower(n.name) and u.username = n.name
        and not exists (select from ${staged} i where i.realm_id = ${realm} and i.id = u.id and i.action = 'delete'))
      and not exists (select from ${staged} i where i.realm_id = ${realm} and i.username = n.name and i.action = 'create')`;
  const names = new Set(unknown.map(({ name }) => name));
  return named.flatMap(({ name, path }) => (names.has(name) ? [unknownName(path, 'user', name)] : []));
}

/** Writes the ties to users; call it after all users are written. */
export async function linkPeople(sql: Sql, { realm, parts, changes }: InDocument): Promise<void> {
  for (const part of parts) {
    const saved = changes.filter(({ kind, action }) => kind === part.kind && action !== 'delete').map(wantedOf);
    if (saved.length > 0) await part.linkPeople?.(sql, realm, saved);
  }
}
