// Confirming an e-mail address or a phone number by the account API: a code is sent there, and the code with its ticket confirms it.
// The two differ in the data that the caller passes; the proof is authenticators/contact.ts's.
import { z } from 'zod';
import { faultAt, Problem } from '../../../contract/problem.ts';
import type { Contact } from '../authenticators/contact.ts';
import type { AsThemselves } from './as-themselves.ts';
import type { AccountWrite } from './own-details.ts';
import type { Starts } from './starts.ts';
import { type Tickets, ticketAlreadyUsed } from './tickets.ts';

const Kept = z.record(z.string(), z.string());

export interface OwnContactDeps {
  contact: Contact;
  /** The purpose that tickets and codes are bound to. */
  purpose: 'email' | 'phone';
  /** The request's field with the address or number. */
  field: 'email' | 'number';
  words: {
    keptByRealm: string;
    sendsNothing: string;
  };
  /** The answer if another user got the address or number in the meantime. */
  taken(): Problem;
  sends(realm: string, channel: 'EMAIL' | 'SMS'): Promise<boolean>;
  starts: Starts;
  asThemselves: AsThemselves;
  tickets: Tickets;
}

export function createOwnContact(deps: OwnContactDeps) {
  const { contact, purpose, field, words, taken, sends, starts, asThemselves, tickets } = deps;
  const contextOf = ({ realm, holder }: AccountWrite, value: string) =>
    `account-${purpose}:${realm}:${holder.userId}:${value}`;

  return {
    async start(write: AccountWrite, written: string) {
      const { realm, holder, by, origin } = write;
      const { userId } = holder;
      const value = contact.plain(written);
      const refusal = await contact.refusal(realm, userId, await contact.of(realm, userId), value);
      if (refusal?.why === 'kept-by-realm') throw new Problem('forbidden', words.keptByRealm);
      if (refusal?.why === 'confirmed-already') throw faultAt(field, 'is yours already');
      if (refusal) throw faultAt(field, refusal.fault);
      if (!(await sends(realm, contact.channel))) throw new Problem('wrong-state', words.sendsNothing);
      starts(realm, userId, contact.channel);
      const mailing = { realm, origin, by, userId, context: contextOf(write, value) };
      const kept = await contact.send(mailing, value, (work) => asThemselves.write(realm, holder, work));
      return tickets.issue(realm, holder, purpose, kept);
    },

    async confirm(write: AccountWrite, { ticket, code }: { ticket: string; code: string }): Promise<void> {
      const { realm, holder, by } = write;
      const { userId, username } = holder;
      const kept = Kept.parse(tickets.open(realm, holder, purpose, ticket));
      const value = contact.sentTo(kept);
      const before = await contact.of(realm, userId);
      if (contact.isConfirmed(before, value)) throw ticketAlreadyUsed();
      const confirmed = await contact.confirm(
        { realm, user: { id: userId, username }, by, byThem: by, context: contextOf(write, value), kept, before },
        { code },
        (work) => asThemselves.write(realm, holder, work),
        (tx) => tickets.use(tx.sql, realm, ticket),
      );
      if (confirmed.do === 'again') throw faultAt('code', confirmed.message);
      if (confirmed.do === 'wrong') throw faultAt('code', 'is wrong');
      if (confirmed.do === 'taken') throw taken();
    },
  };
}
