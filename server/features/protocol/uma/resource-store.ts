// SQL of the resources that resource servers register.
import { fragment, type Sql } from '../../../db/sql.ts';
import { idOfUserNamed } from '../../../domain/user-names.ts';

export interface RegisteredRow {
  id: string;
  owner: string | null;
  name: string | null;
  description: string | null;
  type: string | null;
  icon_uri: string | null;
  uris: string[];
  scopes: string[];
}
/** The owner of resources: a resource server, or a user at it if the token is that user's. */
export interface Of {
  client: string;
  userId: string | undefined;
}
const those = ({ client, userId }: Of) => fragment`
  r.client = ${client} and (${userId ?? null}::uuid is null or r.user_id = ${userId ?? null}::uuid)`;

export const listRegistered = (
  sql: Sql,
  realm: string,
  of: Of,
  { name, most }: { name: string | null; most: number },
) =>
  sql<{ id: string }>`
    select r.id from uma_resource r where r.realm_id = ${realm} and ${those(of)} and (${name}::text is null or r.name = ${name}::text)
    order by r.id limit ${most}`;

export async function readRegistered(sql: Sql, realm: string, of: Of, id: string): Promise<RegisteredRow | undefined> {
  const [row] = await sql<RegisteredRow>`
    select r.id, o.username as owner, r.name, r.description, r.type, r.icon_uri, r.uris, r.scopes
    from uma_resource r left join realm_user o on o.realm_id = r.realm_id and o.id = r.user_id
    where r.realm_id = ${realm} and ${those(of)} and r.id = ${id}`;
  return row;
}

export const userIdOf = async (sql: Sql, realm: string, username: string): Promise<string | undefined> =>
  (
    await sql<{ id: string }>`
      select id from realm_user where realm_id = ${realm} and id = (${idOfUserNamed(realm, username)}) and enabled`
  )[0]?.id;

/** The numbers of the resource server's and of the owner's resources. */
export async function countRegistered(
  sql: Sql,
  realm: string,
  { client, owner }: { client: string; owner: string | null },
): Promise<{ all: number; owned: number }> {
  const [row] = await sql<{ all: number; owned: number }>`
    select count(*)::int as all, count(*) filter (where user_id = ${owner})::int as owned
    from uma_resource where realm_id = ${realm} and client = ${client}`;
  return row ?? { all: 0, owned: 0 };
}

export interface Described {
  name: string | null;
  description: string | null;
  type: string | null;
  iconUri: string | null;
  uris: readonly string[];
  scopes: readonly string[];
}
export const insertRegistered = (
  sql: Sql,
  realm: string,
  { id, client, owner, at, ...d }: Described & { id: string; client: string; owner: string | null; at: Date },
) => sql`
  insert into uma_resource (realm_id, id, client, user_id, name, description, type, icon_uri, uris, scopes, created_at)
  values (${realm}, ${id}, ${client}, ${owner}, ${d.name}, ${d.description}, ${d.type}, ${d.iconUri}, ${d.uris}, ${d.scopes}, ${at})`;

/** Updates a resource. Scopes that it no longer has are removed from its shares. */
export const updateRegistered = async (sql: Sql, realm: string, of: Of, id: string, d: Described): Promise<boolean> =>
  (
    await sql`
      with changed as (
        update uma_resource r set name = ${d.name}, description = ${d.description}, type = ${d.type}, icon_uri = ${d.iconUri},
          uris = ${d.uris}, scopes = ${d.scopes}
        where r.realm_id = ${realm} and ${those(of)} and r.id = ${id} returning r.realm_id, r.client, r.id, r.scopes
      ), narrowed as (
        update uma_share s set scopes = array(select unnest(s.scopes) intersect select unnest(c.scopes) order by 1),
          requested = array(select unnest(s.requested) intersect select unnest(c.scopes) order by 1)
        from changed c where s.realm_id = c.realm_id and s.client = c.client and s.resource = c.id::text
      )
      select from changed`
  ).length > 0;

export const deleteRegistered = async (sql: Sql, realm: string, of: Of, id: string): Promise<boolean> =>
  (
    await sql`
      with gone as (
        delete from uma_resource r where r.realm_id = ${realm} and ${those(of)} and r.id = ${id} returning r.realm_id, r.client, r.id
      ), ended as (
        delete from uma_share s using gone g where s.realm_id = g.realm_id and s.client = g.client and s.resource = g.id::text
      )
      select from gone`
  ).length > 0;
