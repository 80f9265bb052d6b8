// Owns: permission tickets: a resource server's request for a client, stored for one presentation. UMA 2.0 Grant §3.3.
// Does not own: the use of a presented ticket (grant.ts).
import { newToken, sha256, wellFormed } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import * as store from './store.ts';

const LIFE_MS = 300_000;

/** Stores a ticket in an open transaction. @returns the ticket for the resource server, or for the client */
export async function newTicket(
  sql: Sql,
  realm: string,
  { now, ...ticket }: Omit<store.NewTicket, 'hash' | 'expiresAt'> & { now: Date },
): Promise<string> {
  const token = newToken('svc_pt_');
  const expiresAt = new Date(now.getTime() + LIFE_MS);
  await store.insertTicket(sql, realm, { ...ticket, hash: sha256(token), expiresAt });
  return token;
}

/** The same error for every fault of the ticket. */
export const invalidTicket = (reason: string) =>
  new OAuthError('invalid_grant', 'The ticket is not valid here', { reason });

export interface Presented extends store.TicketRow {
  hash: Buffer;
}

/** The ticket's present state; `store.takeTicket` uses it up. @throws OAuthError `invalid_grant` */
export async function presentedTicket(
  sql: Sql,
  realm: string,
  { ticket, client, userId, now }: { ticket: string; client: string; userId: string | null; now: Date },
): Promise<Presented> {
  if (!wellFormed(ticket, 'svc_pt_')) throw invalidTicket('no ticket');
  const hash = sha256(ticket);
  const row = await store.readTicket(sql, realm, hash);
  if (!row) throw invalidTicket('unknown in this realm');
  if (row.used_at) throw invalidTicket('it was used before');
  if (row.expires_at <= now) throw invalidTicket('it has expired');
  if (row.issued_to !== null && row.issued_to !== client) throw invalidTicket('it was given to another client');
  if (row.user_id !== null && row.user_id !== userId) throw invalidTicket('it was issued for another person');
  return { ...row, hash };
}
