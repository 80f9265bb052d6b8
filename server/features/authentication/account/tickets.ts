// Tickets: the account API's state between two requests, sealed for one user and one purpose, and carried by the client.
import { z } from 'zod';
import { faultAt } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { AccountHolder } from '../../../domain/principal.ts';
import { singleUseProof, spendProof } from '../../../domain/spent-proofs.ts';

const LIFETIME_MS = 600_000;
const Ticket = z.object({ expiresAt: z.number(), kept: z.unknown() });
type Purpose = 'email' | 'phone' | 'otp' | 'webauthn';

export function createTickets({ seal, now }: { seal: Seal; now: () => Date }) {
  const contextOf = (realm: string, { userId }: AccountHolder, purpose: Purpose) =>
    `account:${purpose}:${realm}:${userId}`;
  return {
    issue(realm: string, holder: AccountHolder, purpose: Purpose, kept: unknown) {
      const expiresAt = now().getTime() + LIFETIME_MS;
      const sealed = seal.seal(JSON.stringify({ expiresAt, kept }), contextOf(realm, holder, purpose));
      return { ticket: sealed.toString('base64url'), expiresAt };
    },

    /**
     * Marks the ticket as used, in the transaction of its purpose. @throws Problem `invalid-request`: it was used before
     */
    async use(sql: Sql, realm: string, ticket: string): Promise<void> {
      const expiresAt = new Date(now().getTime() + LIFETIME_MS);
      if (!(await spendProof(sql, realm, singleUseProof('account-ticket', ticket, expiresAt))))
        throw ticketAlreadyUsed();
    },

    /** @throws Problem `invalid-request`: it is no ticket, belongs to another user or purpose, or has expired */
    open(realm: string, holder: AccountHolder, purpose: Purpose, ticket: string): unknown {
      // Only one spelling of a ticket is accepted: otherwise another spelling of a used one would count again.
      if (Buffer.from(ticket, 'base64url').toString('base64url') !== ticket) throw over();
      const { expiresAt, kept } = read();
      if (expiresAt <= now().getTime()) throw over();
      return kept;

      function read() {
        try {
          const opened = seal.open(Buffer.from(ticket, 'base64url'), contextOf(realm, holder, purpose));
          return Ticket.parse(JSON.parse(opened.toString()));
        } catch {
          throw over();
        }
      }
    },
  };
}
export type Tickets = ReturnType<typeof createTickets>;

/** The ticket was used before. */
export const ticketAlreadyUsed = () => faultAt('ticket', 'was used already');
const over = () => faultAt('ticket', 'is not valid or has expired: start again');
