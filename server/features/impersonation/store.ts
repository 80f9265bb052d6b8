// SQL of who is to be acted for.
import type { Sql } from '../../db/sql.ts';

/** They stay as they are until the transaction ends. */
export async function person(sql: Sql, realm: string, id: string) {
  const [row] = await sql<{ id: string; username: string; enabled: boolean }>`
    select id, username, enabled from realm_user where realm_id = ${realm} and id = ${id} for share`;
  return row;
}
