// SQL of permission tickets.
import { jsonText } from '../../../db/json.ts';
import type { Sql } from '../../../db/sql.ts';
import type { RequestedPermission } from '../../configuration/authorization-services/decisions.ts';

export interface NewTicket {
  hash: Buffer;
  /** The resource server. */
  client: string;
  permissions: readonly RequestedPermission[];
  context: Readonly<Record<string, readonly string[]>>;
  /** The only client that may use the ticket. */
  issuedTo?: string;
  userId?: string | null;
  expiresAt: Date;
}
export const insertTicket = (sql: Sql, realm: string, ticket: NewTicket) => sql`
  insert into permission_ticket (realm_id, ticket_hash, client, permissions, context, issued_to, user_id, expires_at)
  values (${realm}, ${ticket.hash}, ${ticket.client}, ${jsonText(ticket.permissions)}::jsonb, ${jsonText(ticket.context)}::jsonb,
    ${ticket.issuedTo ?? null}, ${ticket.userId ?? null}, ${ticket.expiresAt})`;

export interface TicketRow {
  client: string;
  /** The resource server's clientId. */
  client_id: string;
  permissions: RequestedPermission[];
  context: Record<string, string[]>;
  issued_to: string | null;
  user_id: string | null;
  expires_at: Date;
  used_at: Date | null;
}
export async function readTicket(sql: Sql, realm: string, hash: Buffer): Promise<TicketRow | undefined> {
  const [row] = await sql<TicketRow>`
    select t.client, c.client_id, t.permissions, t.context, t.issued_to, t.user_id, t.expires_at, t.used_at
    from permission_ticket t join client c on c.realm_id = t.realm_id and c.id = t.client
    where t.realm_id = ${realm} and t.ticket_hash = ${hash}`;
  return row;
}
/** @returns false if another request has used it first */
export const takeTicket = async (sql: Sql, realm: string, hash: Buffer, now: Date): Promise<boolean> =>
  (
    await sql`
      update permission_ticket set used_at = ${now}
      where realm_id = ${realm} and ticket_hash = ${hash} and used_at is null and expires_at > ${now} returning true`
  ).length > 0;
