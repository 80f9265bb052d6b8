// SQL of removing what a deleted realm held. The catalogue says which tables hold something of realms, so that none is forgotten.
import { Fragment, type Sql } from '../../../db/sql.ts';
import { forgetRealm } from '../../../events/log.ts';

export interface Table {
  name: string;
  /** The primary key's columns, by whose index a batch finds its rows; '' if it has none. */
  key: string;
}

/** Every table whose rows go with their realm. A table comes before those that its rows name. */
export async function tablesInOrder(sql: Sql): Promise<Table[]> {
  const rows = await sql<{ name: string; parent: string; key: string }>`
    select t.relname as name, p.relname as parent, coalesce((
      select string_agg(quote_ident(a.attname), ', ' order by array_position(i.indkey::int[], a.attnum::int))
      from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
      where i.indrelid = t.oid and i.indisprimary), '') as key
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class p on p.oid = c.confrelid
    where c.contype = 'f' and c.conrelid <> c.confrelid and t.relnamespace = 'public'::regnamespace
      and exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'realm_id')
    order by t.relname, p.relname`;
  const keys = new Map(rows.map(({ name, key }) => [name, key]));
  const children = (parent: string) => rows.filter((row) => row.parent === parent).map(({ name }) => name);
  const ordered = new Set<string>();
  const entered = new Set<string>();
  const visit = (name: string): void => {
    if (entered.has(name)) return;
    entered.add(name);
    for (const child of children(name)) visit(child);
    ordered.add(name);
  };
  visit('realm');
  ordered.delete('realm');
  return [...ordered].map((name) => ({ name, key: keys.get(name) ?? '' }));
}

export const beingDeleted = async (sql: Sql): Promise<string[]> =>
  (
    await sql<{ realm_id: string }>`
      select realm_id from realm where deleted_at is not null order by deleted_at, realm_id`
  ).map(({ realm_id: realm }) => realm);

export async function isBeingDeleted(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`select from realm where realm_id = ${realm} and deleted_at is not null`;
  return row !== undefined;
}

/** Until the transaction ends no other server removes anything of the realm. False: another one does, or nothing is left. */
export async function claim(sql: Sql, realm: string): Promise<boolean> {
  const [row] = await sql`
    select from realm where realm_id = ${realm} and deleted_at is not null for no key update skip locked`;
  return row !== undefined;
}

/** In the order of the key: PostgreSQL then passes over what earlier batches removed without looking at each row again. */
export async function removeRows(sql: Sql, realm: string, { name, key }: Table, most: number): Promise<number> {
  const table = Fragment.once(name);
  const order = Fragment.once(key === '' ? '' : `order by ${key}`);
  const [row] = await sql<{ deleted: number }>`
    with gone as (
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where realm_id = ${realm} ${order} limit ${most}))
      returning 1
    ) select count(*)::int as deleted from gone`;
  return row?.deleted ?? 0;
}

/** The realm itself, with what a request that had begun before has still written. Its name is free afterwards. */
export async function removeRest(sql: Sql, realm: string): Promise<void> {
  await forgetRealm(sql, realm);
  await sql`
    update former_realm f set revision = greatest(f.revision, r.revision) from realm r
    where r.realm_id = ${realm} and f.name = r.realm_id`;
  // It keeps the roles that it names, also while both go with their realm.
  await sql`delete from application where realm_id = ${realm}`;
  await sql`delete from realm where realm_id = ${realm}`;
  await sql`select pg_notify('realm_changed', ${realm})`;
}
