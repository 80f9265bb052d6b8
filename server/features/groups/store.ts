// SQL of groups.
import { fragment, type Sql } from '../../db/sql.ts';

export interface GroupRow {
  id: string;
  name: string;
  path: string;
  parent_id: string | null;
  attributes: Record<string, string[]>;
}
export interface GroupWithRoles extends GroupRow {
  roles: string[];
}

const columns = fragment`
  g.id, g.name, g.path, g.parent_id, g.attributes, array(
    select r.name from group_role gr join role r on r.realm_id = gr.realm_id and r.id = gr.role_id
    where gr.realm_id = g.realm_id and gr.group_id = g.id and r.client is null order by r.name collate "C"
  ) as roles`;

export const list = (
  sql: Sql,
  realm: string,
  { after, limit, search }: { after: string; limit: number; search: string | undefined },
): Promise<GroupWithRoles[]> => sql<GroupWithRoles>`
  select ${columns} from user_group g
  where g.realm_id = ${realm} and g.path > ${after}
    ${search === undefined ? fragment`` : fragment`and g.path ilike ${search}`}
  order by g.path limit ${limit}`;

export async function find(sql: Sql, realm: string, id: string): Promise<GroupWithRoles | undefined> {
  const [row] = await sql<GroupWithRoles>`
    select ${columns} from user_group g where g.realm_id = ${realm} and g.id = ${id}`;
  return row;
}

/** False where the path is taken. */
export async function insert(sql: Sql, realm: string, group: GroupRow): Promise<boolean> {
  const [row] = await sql`
    insert into user_group (realm_id, id, parent_id, name, path, attributes)
    values (${realm}, ${group.id}, ${group.parent_id}, ${group.name}, ${group.path}, ${JSON.stringify(group.attributes)})
    on conflict do nothing returning id`;
  return row !== undefined;
}

/** Gives the group the realm roles of these names; answers those that there are. */
export async function addRoles(sql: Sql, realm: string, id: string, roles: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ name: string }>`
    with named as (
      select id, name from role where realm_id = ${realm} and client is null and name = any(${roles}::text[])
    ), added as (
      insert into group_role (realm_id, group_id, role_id) select ${realm}, ${id}, id from named on conflict do nothing
    ) select name from named`;
  return new Set(rows.map((row) => row.name));
}

export async function remove(sql: Sql, realm: string, id: string): Promise<boolean> {
  const [row] = await sql`delete from user_group where realm_id = ${realm} and id = ${id} returning id`;
  return row !== undefined;
}
