// SQL of consents: which of a client's scopes a person has agreed to.
import type { Sql } from '../../db/sql.ts';

export async function read(sql: Sql, realm: string, userId: string, client: string): Promise<string[]> {
  const [row] = await sql<{ scopes: string[] }>`
    select scopes from consent where realm_id = ${realm} and user_id = ${userId} and client = ${client}`;
  return row?.scopes ?? [];
}

/** Adds to what was agreed to before. */
export async function add(
  sql: Sql,
  realm: string,
  { userId, client, scopes, now }: { userId: string; client: string; scopes: readonly string[]; now: Date },
): Promise<void> {
  await sql`
    insert into consent as c (realm_id, user_id, client, scopes, granted_at, updated_at)
    values (${realm}, ${userId}, ${client}, ${scopes}, ${now}, ${now})
    on conflict (realm_id, user_id, client) do update set updated_at = excluded.updated_at,
      scopes = array(select distinct unnest(c.scopes || excluded.scopes) order by 1)`;
}
