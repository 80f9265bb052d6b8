// What objects have several of, said by name: rows of two ids in a table of each field's own.
// What a role contains or gives is domain/role-ties.ts's.
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
  /** What the names are of; `only` says which rows, of `n`. */
  names: { table: string; key: string; only?: string };
}
const raw = (text: string): Fragment => new Fragment([text], []);

/** What changed holds what its field names, and no more. */
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
