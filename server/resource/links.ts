// Fields that list other objects by name. Each field has a table of its own with rows of two ids. domain/role-ties.ts has the lists of
// roles.
import { jsonText } from '../db/json.ts';
import { Fragment, type Sql } from '../db/sql.ts';
import { strings } from './items.ts';
import type { Saved } from './part.ts';

export interface Link {
  field: string;
  table: string;
  /** Its columns. */
  owner: string;
  member: string;
  /** The table and the column of the names. `only`: a condition on its rows `n`. */
  names: { table: string; key: string; only?: string };
}
const raw = (text: string): Fragment => new Fragment([text], []);

/** Makes each changed object hold the named objects and no others. */
export async function writeLinks(
  sql: Sql,
  realm: string,
  { table: owners, key }: { table: string; key: string },
  links: readonly Link[],
  saved: readonly Saved[],
): Promise<void> {
  for (const { field, table, owner, member, names } of links) {
    const changed = saved.filter((one) => one.changed.includes(field));
    if (changed.length === 0) continue;
    const pairs = changed.flatMap((one) => strings(one.fields[field]).map((name) => ({ owner: one.key, name })));
    await sql`
      delete from ${raw(table)} l using ${raw(owners)} o
      where o.realm_id = ${realm} and o.${raw(key)} = any(${changed.map((one) => one.key)}::text[])
        and l.realm_id = o.realm_id and l.${raw(owner)} = o.id`;
    await sql`
      insert into ${raw(table)} (realm_id, ${raw(owner)}, ${raw(member)}) select o.realm_id, o.id, n.id
      from jsonb_to_recordset(${jsonText(pairs)}::jsonb) as x (owner text, name text)
      join ${raw(owners)} o on o.realm_id = ${realm} and o.${raw(key)} = x.owner
      join ${raw(names.table)} n on n.realm_id = o.realm_id and n.${raw(names.key)} = x.name ${raw(names.only ? `and ${names.only}` : '')}
      on conflict do nothing`;
  }
}
