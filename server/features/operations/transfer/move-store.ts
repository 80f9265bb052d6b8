// SQL of renamed managers: a manager, and those whose names begin with its name and a slash.
import type { ManagersMove } from '../../../contract/transfer.ts';
import type { Sql } from '../../../db/sql.ts';
import { moveOwned, moveOwnedObjects, type OwnedObject } from '../../../domain/ownership.ts';
import { forgetIdleManagers } from './store.ts';

export interface Rename {
  from: string;
  to: string;
}

export async function readMoves(sql: Sql, { from, to }: Rename): Promise<ManagersMove['managers']> {
  return sql<ManagersMove['managers'][number]>`
    select m.realm_id as realm, m.name as "from", ${to}::text || substr(m.name, length(${from}::text) + 1) as "to",
      (select count(*)::int from managed_object o where o.realm_id = m.realm_id and o.manager = m.name) as objects
    from manager m where m.name = ${from} or starts_with(m.name, ${from}::text || '/') order by 1, 2`;
}

/** Realms, existing or deleted, that such a manager created or may adopt. */
export async function readRealms(sql: Sql, { from }: Rename): Promise<{ name: string; former: boolean }[]> {
  return sql<{ name: string; former: boolean }>`
    select name, former from (
      select realm_id as name, false as former, created_by, adoption from realm where deleted_at is null
      union all select name, true, created_by, adoption from former_realm
    ) known
    where exists (select from unnest(adoption || created_by) one
      where one = ${from} or starts_with(one, ${from}::text || '/'))
    order by name`;
}

/** Locks the realms in the order that all transactions use for several realms. */
export async function lockRealms(sql: Sql, realms: readonly string[]): Promise<void> {
  await sql`select from realm where realm_id = any(${realms}::text[]) order by realm_id for no key update`;
}

export async function renameManagers(sql: Sql, { from, to }: Rename): Promise<void> {
  await sql`
    insert into manager (realm_id, name, last_applied_at, users)
    select realm_id, ${to}::text || substr(name, length(${from}::text) + 1), last_applied_at, users from manager
    where name = ${from} or starts_with(name, ${from}::text || '/')
    on conflict (realm_id, name) do update set users = manager.users or excluded.users,
      last_applied_at = greatest(manager.last_applied_at, excluded.last_applied_at)`;
  await moveOwned(sql, { from, to });
  await sql`
    update realm_user u set manager = ${to}::text || substr(u.manager, length(${from}::text) + 1)
    from manager m
    where m.users and (m.name = ${from} or starts_with(m.name, ${from}::text || '/'))
      and u.realm_id = m.realm_id and u.manager = m.name`;
  await sql`delete from manager where name = ${from} or starts_with(name, ${from}::text || '/')`;
}

/**
 * Undo compares owners: with the old names, every object would seem to have been taken over since. Manager names
 * contain no character that JSON escapes.
 */
export async function renameInHistory(sql: Sql, { from, to }: Rename, realms: readonly string[]): Promise<void> {
  const named = (name: string, end: string) => `"manager": "${name}${end}`;
  await sql`
    update applied_plan set
      manager = case when manager = ${from} or starts_with(manager, ${from}::text || '/')
        then ${to}::text || substr(manager, length(${from}::text) + 1) else manager end,
      ownership = replace(replace(ownership::text, ${named(from, '"')}, ${named(to, '"')}),
        ${named(from, '/')}, ${named(to, '/')})::jsonb
    where realm_id = any(${realms}::text[])`;
}

export async function countOwned(
  sql: Sql,
  realm: string,
  { from, objects }: { from: string; objects: readonly OwnedObject[] },
): Promise<number> {
  const [row] = await sql<{ count: number }>`
    select count(*)::int as count from managed_object m
    join jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as o (kind text, key text) on m.kind = o.kind and m.key = o.key
    where m.realm_id = ${realm} and m.manager = ${from}`;
  return row?.count ?? 0;
}

/** Objects that were kept without a manager's declaration have an owner again. */
export async function handOver(
  sql: Sql,
  realm: string,
  { from, to, objects }: Rename & { objects: readonly OwnedObject[] },
): Promise<OwnedObject[]> {
  await sql`
    insert into manager (realm_id, name, last_applied_at)
    select realm_id, ${to}, last_applied_at from manager where realm_id = ${realm} and name = ${from}
    on conflict do nothing`;
  const moved = await moveOwnedObjects(sql, realm, { from, to, objects });
  await forgetIdleManagers(sql, realm);
  return moved;
}
