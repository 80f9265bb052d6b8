// SQL of the way from an admin session to the administrator's own account.
import type { Sql } from '../../../db/sql.ts';
import type { Factor } from '../../../domain/factors.ts';

/** Stores a ticket in place of the former one. False: the session has ended in the meantime. */
export async function putAccountTicket(
  sql: Sql,
  realm: string,
  tokenHash: Buffer,
  { ticket, at }: { ticket: Buffer; at: Date },
): Promise<boolean> {
  const [row] = await sql`
    update admin_session set account_ticket_hash = ${ticket}, account_ticket_at = ${at}
    where realm_id = ${realm} and token_hash = ${tokenHash} returning id`;
  return row !== undefined;
}

/** A live admin session with a valid ticket. */
export interface AccountTicketRow {
  id: string;
  userId: string;
  username: string;
  factors: Factor[];
  startedAt: Date;
  expiresAt: Date;
  /** The realm's session that began by it before. */
  accountSession: string | null;
}
export async function ofAccountTicket(
  sql: Sql,
  realm: string,
  { ticket, at, givenAfter, seenAfter }: { ticket: Buffer; at: Date; givenAfter: Date; seenAfter: Date },
): Promise<AccountTicketRow | undefined> {
  const [row] = await sql<AccountTicketRow>`
    select s.id, s.user_id as "userId", u.username, s.factors, s.started_at as "startedAt", s.expires_at as "expiresAt",
      s.account_session as "accountSession"
    from admin_session s join realm_user u on u.realm_id = s.realm_id and u.id = s.user_id and u.enabled
    where s.realm_id = ${realm} and s.account_ticket_hash = ${ticket} and s.account_ticket_at > ${givenAfter}
      and s.expires_at > ${at} and s.last_seen_at > ${seenAfter}`;
  return row;
}

/** Uses the ticket up. False: another request was first, or the session has ended. */
export async function useAccountTicket(sql: Sql, realm: string, ticket: Buffer): Promise<boolean> {
  const [row] = await sql`
    update admin_session set account_ticket_hash = null, account_ticket_at = null
    where realm_id = ${realm} and account_ticket_hash = ${ticket} returning id`;
  return row !== undefined;
}

export const putAccountSession = (sql: Sql, realm: string, id: string, session: string) => sql`
  update admin_session set account_session = ${session} where realm_id = ${realm} and id = ${id}`;
