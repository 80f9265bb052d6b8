// SQL of ownership, adoption and the realm's revision. The parts store their objects; users have a column for their
// owner.
import type { Sql } from '../../../db/sql.ts';
import type { OwnedRow } from '../../../domain/ownership.ts';
import type { Owner } from './plan.ts';

const KEY = 7_164_202_502;

/** Runs one import at a time in a realm: the lock ends with the transaction. */
export async function lockRealm(sql: Sql, realm: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${KEY}::bigint # hashtextextended(${realm}, 0))`;
}

export async function readRevision(sql: Sql, realm: string): Promise<number | undefined> {
  const [row] = await sql<{
    revision: number;
  }>`select revision from realm where realm_id = ${realm} and deleted_at is null`;
  return row?.revision;
}

/** Until the end of the transaction, no other transaction can commit a configuration change of the realm. */
export async function lockRevision(sql: Sql, realm: string): Promise<number | undefined> {
  const [row] = await sql<{ revision: number }>`
    select revision from realm where realm_id = ${realm} and deleted_at is null for no key update`;
  return row?.revision;
}

/** Owners of these objects of a kind. */
export async function readOwners(
  sql: Sql,
  realm: string,
  kind: string,
  keys: readonly string[],
): Promise<Map<string, Owner>> {
  const rows = await sql<Omit<OwnedRow, 'kind'>>`
    select key, manager, fields, kept from managed_object where realm_id = ${realm} and kind = ${kind} and key = any(${keys}::text[])`;
  return new Map(rows.map(({ key, ...owner }) => [key, owner]));
}

export async function readOwned(sql: Sql, realm: string, manager: string): Promise<OwnedRow[]> {
  return sql<OwnedRow>`
    select kind, key, manager, fields, kept from managed_object
    where realm_id = ${realm} and manager = ${manager} order by kind, key`;
}

/** The objects of a kind that other managers own. */
export async function readOwnedElsewhere(sql: Sql, realm: string, kind: string, manager: string): Promise<OwnedRow[]> {
  return sql<OwnedRow>`
    select kind, key, manager, fields, kept from managed_object
    where realm_id = ${realm} and kind = ${kind} and manager <> ${manager} order by key`;
}

/** Stores the manager if it is new; its time changes only when it writes something. */
export async function touchManager(
  sql: Sql,
  realm: string,
  manager: string,
  { at, users }: { at: Date; users: boolean },
): Promise<void> {
  await sql`
    insert into manager (realm_id, name, last_applied_at, users) values (${realm}, ${manager}, ${at}, ${users})
    on conflict (realm_id, name) do update set last_applied_at = excluded.last_applied_at,
      users = manager.users or excluded.users`;
}

/** Deletes managers that no longer own anything. */
export async function forgetIdleManagers(sql: Sql, realm: string): Promise<void> {
  await sql`
    delete from manager m where m.realm_id = ${realm} and not m.users
      and not exists (select from managed_object o where o.realm_id = ${realm} and o.manager = m.name)`;
}

export interface ManagerRow {
  name: string;
  last_applied_at: Date;
  owns: { kind: string; key: string; fields: string[] }[];
}

export async function listManagers(sql: Sql, realm: string, after: string, limit: number): Promise<ManagerRow[]> {
  return sql<ManagerRow>`
    select m.name, m.last_applied_at, coalesce(
      jsonb_agg(jsonb_build_object('kind', o.kind, 'key', o.key, 'fields', o.fields) order by o.kind, o.key)
        filter (where o.key is not null), '[]') as owns
    from manager m left join managed_object o on o.realm_id = m.realm_id and o.manager = m.name
    where m.realm_id = ${realm} and m.name > ${after} group by m.name, m.last_applied_at order by m.name limit ${limit}`;
}

export async function managerExists(sql: Sql, realm: string, manager: string): Promise<boolean> {
  const [row] = await sql`select from manager where realm_id = ${realm} and name = ${manager}`;
  return row !== undefined;
}

export async function releaseUsers(sql: Sql, realm: string, manager: string): Promise<void> {
  await sql`update realm_user set manager = null where realm_id = ${realm} and manager = ${manager}`;
}

export async function dropManager(sql: Sql, realm: string, manager: string): Promise<void> {
  await sql`delete from manager where realm_id = ${realm} and name = ${manager}`;
}

export interface AdoptionRow {
  managers: string[];
  created_by: string;
}

export async function readAdoption(sql: Sql, realm: string): Promise<AdoptionRow | undefined> {
  const [row] = await sql<AdoptionRow>`
    select adoption as managers, created_by from realm where realm_id = ${realm}`;
  return row;
}

export async function writeAdoption(sql: Sql, realm: string, managers: readonly string[]): Promise<void> {
  await sql`update realm set adoption = ${managers}::text[] where realm_id = ${realm}`;
}
