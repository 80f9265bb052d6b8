// Reads and writes the roles that an object holds or contains: rows of two ids, named by names on the wire. The roles of a group and
// the roles in a composite role are such rows; this file knows neither feature. Decisions "Role", "Group".
import { jsonText } from '../db/json.ts';
import { Fragment, fragment, type Sql } from '../db/sql.ts';

/** A table of ties: `owner` holds `role`. */
interface Ties {
  table: string;
  owner: string;
  role: string;
}
const raw = (text: string): Fragment => new Fragment([text], []);

/** The names of the realm roles that the row `t` holds, and those of client roles by clientId. Each role is found by its key. */
export function rolesOfRow({ table, owner, role }: Ties): { roles: Fragment; clientRoles: Fragment } {
  const mine = `from ${table} h where h.realm_id = t.realm_id and h.${owner} = t.id`;
  const of = (column: string) => `(select r.${column} from role r where r.realm_id = h.realm_id and r.id = h.${role})`;
  const name = of('name');
  return {
    roles: raw(`array(select ${name} ${mine} and ${of('client')} is null)`),
    clientRoles: raw(`coalesce((select jsonb_object_agg(x.client_id, x.names) from (
      select k.client_id, jsonb_agg(k.name) as names from (
        select ${name} as name, (
          select c.client_id from client c where c.realm_id = h.realm_id and c.id = ${of('client')}) as client_id
        ${mine} and ${of('client')} is not null) k
      group by k.client_id) x), '{}')`),
  };
}

/**
 * Makes the owners hold the named roles and no others. The query finds names by their key without a choice for the planner, which
 * assumes an empty table just after many roles were made.
 */
export async function tieRoles(
  sql: Sql,
  realm: string,
  { table, owner, role }: Ties,
  holders: readonly {
    id: string | undefined;
    /** The owner existed before, so it may hold roles already. */
    existed: boolean;
    roles: readonly string[];
    clientRoles: Readonly<Record<string, readonly string[]>>;
  }[],
): Promise<void> {
  if (holders.length === 0) return;
  const ties = holders.flatMap(({ id, roles, clientRoles }) => [
    ...roles.map((name) => ({ id, client: null, name })),
    ...Object.entries(clientRoles).flatMap(([client, names]) => names.map((name) => ({ id, client, name }))),
  ]);
  const wanted = fragment`(
    select x.id as owner_id, case when x.client is null
      then (select r.id from role r where r.realm_id = ${realm} and r.client is null and r.name = x.name)
      else (select r.id from role r where r.realm_id = ${realm} and r.name = x.name and r.client = (
        select c.id from client c where c.realm_id = ${realm} and c.client_id = x.client)) end as role_id
    from jsonb_to_recordset(${jsonText(ties)}::jsonb) as x (id uuid, client text, name text))`;
  const existed = holders.flatMap(({ id, existed: there }) => (there && id !== undefined ? [id] : []));
  if (existed.length > 0)
    await sql`
      with wanted as materialized ${wanted}
      delete from ${raw(table)} h where h.realm_id = ${realm} and h.${raw(owner)} = any(${existed}::uuid[])
        and (h.${raw(owner)}, h.${raw(role)}) not in (select owner_id, role_id from wanted where role_id is not null)`;
  if (ties.length > 0)
    await sql`
      insert into ${raw(table)} (realm_id, ${raw(owner)}, ${raw(role)})
      select ${realm}, owner_id, role_id from ${wanted} wanted where role_id is not null on conflict do nothing`;
}
