// The tables of realms as the database has them: columns with their types, keys, and the order in which rows can be inserted.
import { Fragment, type Sql } from '../db/sql.ts';

export interface Table {
  name: string;
  columns: { name: string; type: string }[];
  /** The primary key's columns, by which rows are read in batches. */
  key: string[];
  /** Whether its rows name rows of the same table. */
  namesItself: boolean;
}

/** The server's own names, never a user's. */
export const raw = (text: string): Fragment => Fragment.once(text);

/** Every table with a realm; a table comes after those that its rows name. */
export async function tablesOfRealms(sql: Sql): Promise<Table[]> {
  const rows = await sql<{ name: string; columns: { name: string; type: string }[]; key: string[]; parents: string[] }>`
    select t.relname as name,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum)
        from pg_attribute a where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      coalesce((select json_agg(a.attname order by array_position(i.indkey::int[], a.attnum::int))
        from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
        where i.indrelid = t.oid and i.indisprimary), '[]') as key,
      coalesce((select json_agg(distinct p.relname) from pg_constraint c join pg_class p on p.oid = c.confrelid
        where c.conrelid = t.oid and c.contype = 'f'), '[]') as parents
    from pg_class t where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace
      and exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'realm_id')
    order by t.relname`;
  const byName = new Map(rows.map((row) => [row.name, row]));
  const ordered = new Map<string, Table>();
  const entered = new Set<string>();
  const visit = (name: string): void => {
    const row = byName.get(name);
    if (!row || entered.has(name)) return;
    entered.add(name);
    for (const parent of row.parents) visit(parent);
    const { columns, key, parents } = row;
    ordered.set(name, { name, columns, key, namesItself: parents.includes(name) });
  };
  for (const { name } of rows) visit(name);
  return [...ordered.values()];
}

/** The newest migration: a backup is restored into the same tables. */
export async function schemaNumber(sql: Sql): Promise<number> {
  const [row] = await sql<{ number: number }>`select max(number)::int as number from schema_migration`;
  return row?.number ?? 0;
}
