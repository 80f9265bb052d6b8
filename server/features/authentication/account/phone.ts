// The phone number to which codes go, on a person's account page and by the account API: which it is, confirming one, removing it.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { faultAt, Problem } from '../../../contract/problem.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { userParty } from '../../../domain/party.ts';
import type { OwnSession } from '../../../domain/principal.ts';
import { html } from '../../../http/html.ts';
import { said, text } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import { type OwnPhones, plainNumber } from '../../people/users/own-phone.ts';
import type { MailedCodes } from '../authenticators/mailed-code.ts';
import type { AsThemselves } from './as-themselves.ts';
import type { AccountWrite } from './own-details.ts';
import type { AccountSection } from './section.ts';
import type { Starts } from './starts.ts';
import { type Tickets, used } from './tickets.ts';

type Sends = (realm: string, channel: 'SMS') => Promise<boolean>;

/** No codes go there any more, and what was signed in to by them ends. */
export const createForgetPhone =
  ({ phones, notify, now }: { phones: OwnPhones; notify: Notify; now: () => Date }) =>
  async (tx: Tx, by: By, realm: string, userId: string, keep: OwnSession | undefined): Promise<boolean> => {
    if (!(await phones.forget(tx, by, realm, userId))) return false;
    await notify(tx, { realm, by, userId, what: 'credential-removed' });
    await endAccess(tx, realm, { people: [userId], cause: 'credential-removed', by, at: now(), keep });
    return true;
  };
export type ForgetPhone = ReturnType<typeof createForgetPhone>;

export interface PhoneSectionDeps {
  phones: Pick<OwnPhones, 'of'>;
  forgetPhone: ForgetPhone;
  sends: Sends;
  transact: Transact;
}

export const createPhoneSection = ({ phones, forgetPhone, sends, transact }: PhoneSectionDeps): AccountSection => ({
  async show(realm, { userId }, { post, mayChange }) {
    const { number, verified, mayChange: isTheirs } = await phones.of(realm, userId);
    const reaches = await sends(realm, 'SMS');
    if (!verified && !(reaches && (isTheirs || number !== null))) return false;
    const words = verified ? text('phone.change') : text('phone.confirm');
    const change = html`<input type="hidden" name="action" value="VERIFY_PHONE"><button class="quiet">${words}</button>`;
    const remove = html`<button class="quiet">${text('account.removeMethod')}<span class="hidden"> ${number}</span></button>`;
    return html`<h2>${text('said.smsCode')}</h2>
${
  verified
    ? html`<ul class="rows"><li><div><strong><bdi>${number}</bdi></strong></div>${mayChange && post('phone/remove', remove)}</li></ul>`
    : html`<p class="soft">${text('phone.none')}</p>`
}
${mayChange && reaches && (isTheirs || !verified) && html`<div class="actions">${post('change', change)}</div>`}`;
  },
  mount(app: FastifyInstance, visit, { prove, isFresh }) {
    app.post('/realms/:realm/account/phone/remove', { schema: { hide: true } }, async (request, reply) => {
      const { realm, session } = await visit(request);
      if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
      if (!isFresh(session)) return prove(request, reply, realm, session);
      const { userId, username, id: sessionId } = session;
      const by = { actor: userParty(userId, username), ipAddress: request.ip };
      await transact(realm, (tx) => forgetPhone(tx, by, realm, userId, { sessionId }), { bookkeeping: true });
      return reply.redirect(`/realms/${realm}/account?said=removed`, 303);
    });
  },
});

export interface OwnPhoneDeps {
  phones: OwnPhones;
  forgetPhone: ForgetPhone;
  codes: MailedCodes;
  credentials: Pick<Credentials, 'guess'>;
  sends: Sends;
  starts: Starts;
  notify: Notify;
  asThemselves: AsThemselves;
  tickets: Tickets;
}

const Ticket = z.record(z.string(), z.string());

/** For the API. */
export function createOwnPhoneWrites(deps: OwnPhoneDeps) {
  const { phones, forgetPhone, codes, credentials, sends, starts, notify, asThemselves, tickets } = deps;
  const contextOf = ({ realm, holder }: AccountWrite, number: string) =>
    `account-phone:${realm}:${holder.userId}:${number}`;
  return {
    of: phones.of,

    async start(write: AccountWrite, written: string) {
      const { realm, holder, by } = write;
      const { userId } = holder;
      const number = plainNumber(written);
      const { number: present, verified, mayChange } = await phones.of(realm, userId);
      if (number !== present && !mayChange)
        throw new Problem('forbidden', 'The realm keeps phone numbers for its administrators');
      if (number === present && verified) throw faultAt('number', 'is yours already');
      const fault = await phones.fault(realm, userId, number);
      if (fault !== undefined) throw faultAt('number', said(fault));
      if (!(await sends(realm, 'SMS'))) throw new Problem('wrong-state', 'The realm sends no SMS');
      starts(realm, userId, 'SMS');
      const kept = await asThemselves.write(realm, holder, (tx) =>
        codes.text(tx, { realm, by, userId, number, context: contextOf(write, number) }),
      );
      return tickets.issue(realm, holder, 'phone', kept);
    },

    async confirm(write: AccountWrite, { ticket, code }: { ticket: string; code: string }): Promise<void> {
      const { realm, holder, by } = write;
      const { userId, username } = holder;
      const kept = Ticket.parse(tickets.open(realm, holder, 'phone', ticket));
      const number = kept.phone ?? '';
      const present = await phones.of(realm, userId);
      if (present.verified && present.number === number) throw used();
      const proof = await codes.check(realm, kept, { code }, contextOf(write, number));
      const user = { id: userId, username };
      const isProven = await codes.countGuess(credentials, { realm, user, by }, proof);
      if (proof.do === 'again') throw faultAt('code', proof.message);
      if (!isProven) throw faultAt('code', 'is wrong');
      await asThemselves
        .write(realm, holder, async (tx) => {
          await tickets.use(tx.sql, realm, ticket);
          await phones.confirm(tx, by, realm, { userId, number });
          await notify(tx, { realm, by, userId, what: 'credential-added' });
        })
        .catch((error: unknown) => {
          throw phones.isTaken(error) ? faultAt('ticket', 'is for a number that can’t be used: it is taken') : error;
        });
    },

    remove: ({ realm, holder, by }: AccountWrite): Promise<void> =>
      asThemselves.write(realm, holder, async (tx) => {
        if (!(await forgetPhone(tx, by, realm, holder.userId, asThemselves.keep(holder))))
          throw new Problem('not-found', 'You have no confirmed phone number');
      }),
  };
}
export type OwnPhoneWrites = ReturnType<typeof createOwnPhoneWrites>;
