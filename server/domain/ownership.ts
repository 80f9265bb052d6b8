// The manager of each object: features/operations/transfer takes and releases objects, renaming moves the ownership, resources show it.
import type { ObjectKind } from '../contract/sections.ts';
import type { Sql } from '../db/sql.ts';

/** Kinds as in a plan. A user's manager is stored in the user's row, since users are many. */
export type OwnedKind = Exclude<ObjectKind, 'user'>;

/** The object's manager, if any. @param key the natural key: clientId, name, alias, path */
export async function managerOf(sql: Sql, realm: string, kind: string, key: string): Promise<string | undefined> {
  const [row] =
    kind === 'user'
      ? await sql<{ manager: string | null }>`
          select manager from realm_user where realm_id = ${realm} and lower(username) = lower(${key})`
      : await sql<{ manager: string | null }>`
          select manager from managed_object where realm_id = ${realm} and kind = ${kind} and key = ${key}`;
  return row?.manager ?? undefined;
}

/** The managers of these objects of a kind, with the fields that they declare; an object without a manager is absent. */
export async function ownersOf(
  sql: Sql,
  realm: string,
  kind: string,
  keys: readonly string[],
): Promise<Map<string, Pick<OwnedRow, 'manager' | 'fields'>>> {
  const rows = await sql<Pick<OwnedRow, 'key' | 'manager' | 'fields'>>`
    select key, manager, fields from managed_object
    where realm_id = ${realm} and kind = ${kind} and key = any(${keys}::text[])`;
  return new Map(rows.map(({ key, ...owner }) => [key, owner]));
}

/** The owned fields of kinds that are owned field by field, so that there may be several managers. */
export const ownedFields = (
  sql: Sql,
  realm: string,
  kinds: readonly string[],
): Promise<Pick<OwnedRow, 'kind' | 'key' | 'manager'>[]> => sql<Pick<OwnedRow, 'kind' | 'key' | 'manager'>>`
  select kind, key, manager from managed_object
  where realm_id = ${realm} and kind = any(${kinds}::text[]) order by manager, kind, key`;

/** Call it after a rename: the manager owns the object under its new name, and so sees the drift. */
export async function renameOwned(
  sql: Sql,
  realm: string,
  kinds: readonly string[],
  from: string,
  to: string,
): Promise<void> {
  await sql`delete from managed_object where realm_id = ${realm} and kind = any(${kinds}::text[]) and key = ${to}`;
  await sql`
    update managed_object set key = ${to}
    where realm_id = ${realm} and kind = any(${kinds}::text[]) and key = ${from}`;
  // a hold names the object by both: documents still declare the former name
  await sql`
    insert into held_object (realm_id, hold_id, kind, key)
    select realm_id, hold_id, kind, ${to} from held_object
    where realm_id = ${realm} and kind = any(${kinds}::text[]) and key = ${from} on conflict do nothing`;
}

/** The same for objects below the renamed one, whose keys begin with `from`. */
export async function renameOwnedBelow(sql: Sql, realm: string, kind: string, from: string, to: string): Promise<void> {
  await sql`delete from managed_object where realm_id = ${realm} and kind = ${kind} and starts_with(key, ${to})`;
  await sql`
    update managed_object set key = ${to}::text || substr(key, length(${from}::text) + 1)
    where realm_id = ${realm} and kind = ${kind} and starts_with(key, ${from})`;
  await sql`
    insert into held_object (realm_id, hold_id, kind, key)
    select realm_id, hold_id, kind, ${to}::text || substr(key, length(${from}::text) + 1) from held_object
    where realm_id = ${realm} and kind = ${kind} and starts_with(key, ${from}) on conflict do nothing`;
}

export interface OwnedRow {
  kind: string;
  key: string;
  manager: string;
  fields: string[];
  kept: boolean;
}

/** Writes the manager and the owned fields of these objects, in one statement. */
export async function saveOwnership(sql: Sql, realm: string, rows: readonly OwnedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into managed_object (realm_id, kind, key, manager, fields, kept)
    select ${realm}, kind, key, manager, fields, kept
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r (kind text, key text, manager text, fields text[], kept boolean)
    on conflict (realm_id, kind, key) do update set manager = excluded.manager, fields = excluded.fields,
      kept = excluded.kept`;
}

/** Deletes the ownership of these objects, in one statement; the objects stay. */
export async function releaseOwnership(
  sql: Sql,
  realm: string,
  rows: readonly { kind: string; key: string }[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    delete from managed_object m using unnest(${rows.map((r) => r.kind)}::text[], ${rows.map((r) => r.key)}::text[]) as r (kind, key)
    where m.realm_id = ${realm} and m.kind = r.kind and m.key = r.key`;
}

export interface OwnedObject {
  kind: string;
  key: string;
}

/** Gives those of the objects that `from` owns to `to`. An object kept for the next manager that declares it has an owner again. */
export const moveOwnedObjects = (
  sql: Sql,
  realm: string,
  { from, to, objects }: { from: string; to: string; objects: readonly OwnedObject[] },
): Promise<OwnedObject[]> => sql<OwnedObject>`
  update managed_object m set manager = ${to}, kept = false
  from jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as o (kind text, key text)
  where m.realm_id = ${realm} and m.manager = ${from} and m.kind = o.kind and m.key = o.key
  returning m.kind, m.key`;

/** Gives `to` all objects of `from` in every realm, and those of managers whose names begin with `from` and a slash. */
export async function moveOwned(sql: Sql, { from, to }: { from: string; to: string }): Promise<void> {
  await sql`
    update managed_object set manager = ${to}::text || substr(manager, length(${from}::text) + 1)
    where manager = ${from} or starts_with(manager, ${from}::text || '/')`;
}
