// SQL of authorization codes as they are issued; features/token takes them.
import type { Sql } from '../../db/sql.ts';
import type { GrantData } from '../token/store.ts';

/** Keeps a code and notes that the session has this client, in one statement. False: the session has ended. */
export async function insertCode(
  sql: Sql,
  realm: string,
  code: { hash: Buffer; client: string; sessionId: string; data: GrantData; expiresAt: Date },
): Promise<boolean> {
  const [row] = await sql<{ user_id: string }>`
    with live as (
      select realm_id, id, user_id from session where realm_id = ${realm} and id = ${code.sessionId} for key share
    ), noted as (
      insert into session_client (realm_id, session_id, client)
      select realm_id, id, ${code.client}::uuid from live on conflict do nothing
    )
    insert into authorization_code (realm_id, code_hash, client, session_id, user_id, request, expires_at)
    select realm_id, ${code.hash}, ${code.client}::uuid, id, user_id, ${JSON.stringify(code.data)}::jsonb,
      ${code.expiresAt}::timestamptz from live
    returning user_id`;
  return row !== undefined;
}
