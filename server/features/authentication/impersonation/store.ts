// SQL of the user to impersonate and of the administrator's session.
import { fragment, type Sql } from '../../../db/sql.ts';
import type { OwnSession } from '../../../domain/principal.ts';

/** Locks the user's row against changes until the transaction ends. */
export async function person(sql: Sql, realm: string, id: string) {
  const [row] = await sql<{ id: string; username: string; enabled: boolean }>`
    select id, username, enabled from realm_user where realm_id = ${realm} and id = ${id} for share`;
  return row;
}

/** The id of the administrator's session, which can't end before the transaction does; undefined: it has ended. */
export async function sessionOf(sql: Sql, realm: string, session: OwnSession): Promise<string | undefined> {
  const [row] = await sql<{ id: string }>`${
    'sessionId' in session
      ? fragment`select id from session where realm_id = ${realm} and id = ${session.sessionId} for key share`
      : fragment`select id from admin_session where realm_id = ${realm} and token_hash = ${session.adminSession} for key share`
  }`;
  return row?.id;
}
