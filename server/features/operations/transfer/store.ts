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
  /** It has applied users. */
  users: boolean;
  /** It owns objects of the kinds `others`. */
  others: boolean;
}
export interface ManagedRow {
  manager: string;
  kind: string;
  key: string;
  fields: string[];
}
/** A place in the list of managers and what they own; `kind` empty: behind all that the manager owns. */
export interface ManagersPlace {
  manager: string;
  kind: string;
  key: string;
}

export const listManagers = (
  sql: Sql,
  realm: string,
  { after: { manager, kind }, limit, others }: { after: ManagersPlace; limit: number; others: readonly string[] },
) =>
  sql<ManagerRow>`
    select name, last_applied_at, users, exists (
        select from managed_object o
        where o.realm_id = ${realm} and o.manager = manager.name and o.kind = any(${others}::text[])) as others
    from manager
    where realm_id = ${realm} and (name > ${manager} or name = ${manager} and ${kind}::text <> '')
    order by name limit ${limit}`;

/** The objects of these managers and kinds behind the place. */
export const listManaged = (
  sql: Sql,
  realm: string,
  managers: readonly string[],
  { after, limit, kinds }: { after: ManagersPlace; limit: number; kinds: readonly string[] },
) =>
  sql<ManagedRow>`
    select manager, kind, key, fields from managed_object
    where realm_id = ${realm} and manager = any(${managers}::text[]) and kind = any(${kinds}::text[])
      and (manager, kind, key) > (${after.manager}, ${after.kind}, ${after.key})
    order by manager, kind, key limit ${limit}`;

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
