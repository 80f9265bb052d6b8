// SQL of client scopes.
import type { Claim } from '../../contract/client-scopes.ts';
import type { Sql } from '../../db/sql.ts';

export interface ScopeRow {
  id: string;
  name: string;
  description: string | null;
  include_in_token_scope: boolean;
  claims: Claim[];
}

export const list = (sql: Sql, realm: string, after: string, limit: number): Promise<ScopeRow[]> => sql<ScopeRow>`
  select id, name, description, include_in_token_scope, claims from client_scope
  where realm_id = ${realm} and name > ${after} order by name limit ${limit}`;

export async function find(sql: Sql, realm: string, id: string): Promise<ScopeRow | undefined> {
  const [row] = await sql<ScopeRow>`
    select id, name, description, include_in_token_scope, claims from client_scope
    where realm_id = ${realm} and id = ${id}`;
  return row;
}

/** False where the name is taken. */
export async function insert(sql: Sql, realm: string, scope: ScopeRow): Promise<boolean> {
  const [row] = await sql`
    insert into client_scope (realm_id, id, name, description, include_in_token_scope, claims)
    values (${realm}, ${scope.id}, ${scope.name}, ${scope.description}, ${scope.include_in_token_scope},
      ${JSON.stringify(scope.claims)})
    on conflict do nothing returning id`;
  return row !== undefined;
}

export async function insertMany(sql: Sql, realm: string, scopes: readonly ScopeRow[]): Promise<void> {
  await sql`
    insert into client_scope (realm_id, id, name, description, include_in_token_scope, claims)
    select ${realm}, * from unnest(
      ${scopes.map((s) => s.id)}::uuid[], ${scopes.map((s) => s.name)}::text[],
      ${scopes.map((s) => s.description)}::text[], ${scopes.map((s) => s.include_in_token_scope)}::boolean[],
      ${scopes.map((s) => JSON.stringify(s.claims))}::jsonb[])
    on conflict do nothing`;
}

export async function remove(sql: Sql, realm: string, id: string): Promise<boolean> {
  const [row] = await sql`delete from client_scope where realm_id = ${realm} and id = ${id} returning id`;
  return row !== undefined;
}
