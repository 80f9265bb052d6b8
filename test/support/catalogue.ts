// Owns: reading what a database's catalogue says of our tables, and printing it as SQL that a reviewer can read.
// Does not own: what must hold of them (test/guards).
// Implements: "Migrations": one file shows the end state of all of them.
import type { Sql } from '../../server/db/sql.ts';

export interface Column {
  table: string;
  column: string;
  type: string;
  required: boolean;
  default: string | null;
}
export interface Key {
  table: string;
  name: string;
  kind: 'primary' | 'unique' | 'index' | 'foreign' | 'check';
  columns: string[];
  /** Of a foreign key: the table and columns it points to. */
  target: string | null;
  targetColumns: string[];
  definition: string;
}

export const columns = (sql: Sql) => sql<Column>`
  select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
    a.attnotnull as required, pg_get_expr(d.adbin, d.adrelid) as default
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  order by c.relname, a.attnum`;

/** Indexes (an expression's place is '') and constraints; not-null stands with the column. */
export const keys = (sql: Sql) => sql<Key>`
  select t.relname as table, i.relname as name,
    case when x.indisprimary then 'primary' when x.indisunique then 'unique' else 'index' end as kind,
    array(select coalesce(a.attname::text, '') from unnest(x.indkey::int2[]) with ordinality as k (attnum, n)
      left join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum and k.attnum > 0 order by k.n) as columns,
    null as target, array[]::text[] as "targetColumns", pg_get_indexdef(x.indexrelid) as definition
  from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
  where t.relnamespace = 'public'::regnamespace
  union all
  select t.relname, c.conname, case c.contype when 'f' then 'foreign' else 'check' end,
    array(select a.attname::text from unnest(c.conkey) with ordinality as k (attnum, n)
      join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum order by k.n),
    f.relname,
    array(select a.attname::text from unnest(c.confkey) with ordinality as k (attnum, n)
      join pg_attribute a on a.attrelid = f.oid and a.attnum = k.attnum order by k.n),
    pg_get_constraintdef(c.oid)
  from pg_constraint c join pg_class t on t.oid = c.conrelid left join pg_class f on f.oid = c.confrelid
  where t.relnamespace = 'public'::regnamespace and c.contype in ('f', 'c')
  order by 1, 3, 2`;

/** Pure: the tables as SQL, sorted, so that two databases with the same schema print the same. */
export function printSchema(all: readonly Column[], constraints: readonly Key[]): string {
  const tables = [...new Set(all.map(({ table }) => table))].sort();
  return tables
    .map((table) => {
      const own = constraints.filter((key) => key.table === table);
      const lines = [
        ...all
          .filter((column) => column.table === table)
          .map(
            (c) =>
              `  ${c.column} ${c.type}${c.required ? ' not null' : ''}${c.default === null ? '' : ` default ${c.default}`}`,
          ),
        ...own.filter(({ kind }) => kind === 'primary').map((key) => `  primary key (${key.columns.join(', ')})`),
        ...own
          .filter(({ kind }) => kind === 'foreign' || kind === 'check')
          .map((key) => `  constraint ${key.name} ${key.definition}`),
      ];
      const indexes = own
        .filter(({ kind }) => kind === 'unique' || kind === 'index')
        .map(({ definition }) => `${definition.replaceAll('public.', '')};\n`);
      return `create table ${table} (\n${lines.join(',\n')}\n);\n${indexes.join('')}`;
    })
    .join('\n');
}
