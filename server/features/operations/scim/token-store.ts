// SQL of the tokens for a realm's SCIM server.
import type { ScimPermission } from '../../../contract/scim-tokens.ts';
import type { Sql } from '../../../db/sql.ts';

export interface TokenRow {
  id: string;
  name: string;
  permissions: ScimPermission[];
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

export const list = (
  sql: Sql,
  realm: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<TokenRow[]> => sql<TokenRow>`
  select id, name, permissions, created_at, expires_at, last_used_at from scim_token
  where realm_id = ${realm} and (${after ?? null}::uuid is null or id > ${after ?? null}) order by id limit ${limit}`;

export const insert = (sql: Sql, realm: string, hash: Buffer, row: TokenRow) => sql`
  insert into scim_token (realm_id, id, name, permissions, token_hash, created_at, expires_at)
  values (${realm}, ${row.id}, ${row.name}, ${row.permissions}, ${hash}, ${row.created_at}, ${row.expires_at})`;

export async function remove(sql: Sql, realm: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }>`
    delete from scim_token where realm_id = ${realm} and id = ${id} returning name`;
  return row?.name;
}

export async function find(sql: Sql, realm: string, hash: Buffer, now: Date): Promise<TokenRow | undefined> {
  const [row] = await sql<TokenRow>`
    select id, name, permissions, created_at, expires_at, last_used_at from scim_token
    where realm_id = ${realm} and token_hash = ${hash} and (expires_at is null or expires_at > ${now})`;
  return row;
}

export const touch = (sql: Sql, realm: string, id: string, now: Date) => sql`
  update scim_token set last_used_at = ${now} where realm_id = ${realm} and id = ${id}`;
