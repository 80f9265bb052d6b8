// SQL of authorization codes as they are issued; features/token takes them.

import { fragment, type Sql } from '../../db/sql.ts';
import type { Tx } from '../../db/transact.ts';
import { type PersonRow, personColumns, rolesOf } from '../../domain/person.ts';
import type { GrantData } from '../token/store.ts';

/** Whether the person holds one of these roles, directly or by what they are in. */
export async function holdsOneOf(sql: Sql, realm: string, userId: string, roles: readonly string[]): Promise<boolean> {
  const [row] = await sql<PersonRow>`
    select ${personColumns} from realm_user u where u.realm_id = ${realm} and u.id = ${userId}`;
  return row !== undefined && rolesOf(row.roles).realm.some((role) => roles.includes(role));
}

export interface CodeRow {
  hash: Buffer;
  client: string;
  sessionId: string;
  userId: string;
  data: GrantData;
  expiresAt: Date;
}

const request = (code: CodeRow) => fragment`${JSON.stringify(code.data)}::jsonb, ${code.expiresAt}::timestamptz`;

/** Keeps a code and notes that the session has this client, in one statement. False: the session has ended. */
export const insertCode = async (sql: Sql, realm: string, code: CodeRow): Promise<boolean> =>
  (
    await sql`
      with live as (
        select realm_id, id, user_id from session where realm_id = ${realm} and id = ${code.sessionId} for key share
      ), noted as (
        insert into session_client (realm_id, session_id, client)
        select realm_id, id, ${code.client}::uuid from live on conflict do nothing
      )
      insert into authorization_code (realm_id, code_hash, client, session_id, user_id, request, expires_at)
      select realm_id, ${code.hash}, ${code.client}::uuid, id, user_id, ${request(code)} from live returning user_id`
  ).length > 0;

/** The same for a session that begins in the same transaction: there is nothing to look for. */
export const insertFirstCode = (run: Tx['atLast'], realm: string, code: CodeRow) => run`
  with noted as (
    insert into session_client (realm_id, session_id, client) values (${realm}, ${code.sessionId}, ${code.client})
  )
  insert into authorization_code (realm_id, code_hash, client, session_id, user_id, request, expires_at)
  values (${realm}, ${code.hash}, ${code.client}, ${code.sessionId}, ${code.userId}, ${request(code)})`;
