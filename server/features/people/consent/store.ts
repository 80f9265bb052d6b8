// SQL of consents: what a user has agreed to for a client.
import type { Sql } from '../../../db/sql.ts';
import type { Agreement } from '../../../domain/agreement.ts';

export async function read(sql: Sql, realm: string, userId: string, client: string): Promise<Agreement | undefined> {
  const [row] = await sql<Agreement>`
    select scopes, resources, claims from consent where realm_id = ${realm} and user_id = ${userId} and client = ${client}`;
  return row;
}

/** Adds to what the user agreed to before. @returns the username */
export async function add(
  sql: Sql,
  realm: string,
  { userId, client, agreed, now }: { userId: string; client: string; agreed: Agreement; now: Date },
): Promise<string | null> {
  const [row] = await sql<{ username: string | null }>`
    insert into consent as c (realm_id, user_id, client, scopes, resources, claims, granted_at, updated_at)
    values (${realm}, ${userId}, ${client}, ${agreed.scopes}, ${agreed.resources}, ${agreed.claims}, ${now}, ${now})
    on conflict (realm_id, user_id, client) do update set updated_at = excluded.updated_at,
      scopes = array(select distinct unnest(c.scopes || excluded.scopes) order by 1),
      resources = array(select distinct unnest(c.resources || excluded.resources) order by 1),
      claims = array(select distinct unnest(c.claims || excluded.claims) order by 1)
    returning (select u.username from realm_user u where u.realm_id = c.realm_id and u.id = c.user_id) as username`;
  return row?.username ?? null;
}
