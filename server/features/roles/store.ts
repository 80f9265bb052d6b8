// SQL of realm roles and what they contain.
import { fragment, type Sql } from '../../db/sql.ts';

export interface RoleRow {
  id: string;
  name: string;
  description: string | null;
  is_default: boolean;
  attributes: Record<string, string[]>;
}
export interface RoleWithChildren extends RoleRow {
  /** [clientId or null, role name], sorted. */
  children: [string | null, string][];
}

const columns = fragment`
  r.id, r.name, r.description, r.is_default, r.attributes, (
    select coalesce(jsonb_agg(jsonb_build_array(o.client_id, c.name) order by o.client_id collate "C", c.name collate "C"), '[]')
    from role_composite rc join role c on c.realm_id = rc.realm_id and c.id = rc.child_id
      left join client o on o.realm_id = c.realm_id and o.id = c.client
    where rc.realm_id = r.realm_id and rc.role_id = r.id
  ) as children`;

export const list = (
  sql: Sql,
  realm: string,
  { after, limit, search }: { after: string; limit: number; search: string | undefined },
): Promise<RoleWithChildren[]> => sql<RoleWithChildren>`
  select ${columns} from role r
  where r.realm_id = ${realm} and r.client is null and r.name > ${after}
    ${search === undefined ? fragment`` : fragment`and (r.name ilike ${search} or r.description ilike ${search})`}
  order by r.name limit ${limit}`;

export async function find(sql: Sql, realm: string, id: string): Promise<RoleWithChildren | undefined> {
  const [row] = await sql<RoleWithChildren>`
    select ${columns} from role r where r.realm_id = ${realm} and r.id = ${id} and r.client is null`;
  return row;
}

/** Composites of a realm change one after the other, so that two can't close a circle together. */
export async function lockComposites(sql: Sql, realm: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('role_composite ' || ${realm}, 0))`;
}

/** False where the name is taken. */
export async function insert(sql: Sql, realm: string, role: RoleRow): Promise<boolean> {
  const [row] = await sql`
    insert into role (realm_id, id, name, description, is_default, attributes)
    values (${realm}, ${role.id}, ${role.name}, ${role.description}, ${role.is_default}, ${JSON.stringify(role.attributes)})
    on conflict do nothing returning id`;
  return row !== undefined;
}

/** False where the new name is taken. */
export async function update(sql: Sql, realm: string, role: RoleRow): Promise<boolean> {
  const [row] = await sql`
    update role set name = ${role.name}, description = ${role.description}, is_default = ${role.is_default},
      attributes = ${JSON.stringify(role.attributes)}
    where realm_id = ${realm} and id = ${role.id} and not exists (
      select from role where realm_id = ${realm} and client is null and name = ${role.name} and id <> ${role.id})
    returning id`;
  return row !== undefined;
}

export async function remove(sql: Sql, realm: string, id: string): Promise<boolean> {
  const [row] = await sql`
    delete from role where realm_id = ${realm} and id = ${id} and client is null returning id`;
  return row !== undefined;
}

export interface NamedRole {
  id: string;
  client_id: string | null;
  name: string;
}

/** The roles that the pairs name; the clientId null is a realm role. */
export const named = (
  sql: Sql,
  realm: string,
  pairs: readonly { clientId: string | null; role: string }[],
): Promise<NamedRole[]> => sql<NamedRole>`
  select r.id, o.client_id, r.name
  from unnest(${pairs.map((p) => p.clientId)}::text[], ${pairs.map((p) => p.role)}::text[]) as wanted (client_id, name)
  left join client o on o.realm_id = ${realm} and o.client_id = wanted.client_id
  join role r on r.realm_id = ${realm} and r.name = wanted.name
    and (wanted.client_id is null and r.client is null or r.client = o.id)`;

/** Whether any of the roles contains `id`, directly or further down. */
export async function anyContains(sql: Sql, realm: string, roleIds: readonly string[], id: string): Promise<boolean> {
  const [row] = await sql`
    with recursive inside (role_id) as (
      select unnest(${roleIds}::uuid[])
      union
      select rc.child_id from inside i join role_composite rc on rc.realm_id = ${realm} and rc.role_id = i.role_id
    ) select role_id from inside where role_id = ${id} limit 1`;
  return row !== undefined;
}

export async function setChildren(sql: Sql, realm: string, id: string, children: readonly string[]): Promise<void> {
  await sql`delete from role_composite where realm_id = ${realm} and role_id = ${id}`;
  await sql`
    insert into role_composite (realm_id, role_id, child_id)
    select ${realm}, ${id}, unnest(${children}::uuid[])`;
}
