// The user's phone number for codes, on the account page and in the account API: showing, confirming and removing it.
import type { FastifyInstance } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { faultAt, Problem } from '../../../contract/problem.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { userParty } from '../../../domain/party.ts';
import type { OwnSession } from '../../../domain/principal.ts';
import { html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { OwnPhones } from '../../people/users/own-phone.ts';
import type { Contacts } from '../authenticators/contact.ts';
import type { AsThemselves } from './as-themselves.ts';
import { createOwnContact, type OwnContactDeps } from './own-contact.ts';
import type { AccountWrite } from './own-details.ts';
import type { AccountSection } from './section.ts';
import type { Starts } from './starts.ts';
import type { Tickets } from './tickets.ts';

type Sends = (realm: string, channel: 'SMS') => Promise<boolean>;

/** Removes the confirmation, and ends the sessions that were signed in with the number. */
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
  view: 'security',
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
  phones: Pick<OwnPhones, 'of'>;
  contacts: Pick<Contacts, 'phone'>;
  forgetPhone: ForgetPhone;
  sends: OwnContactDeps['sends'];
  starts: Starts;
  asThemselves: AsThemselves;
  tickets: Tickets;
}

/** Confirming and removing the number through the API. */
export function createOwnPhoneWrites(deps: OwnPhoneDeps) {
  const { phones, contacts, forgetPhone, sends, starts, asThemselves, tickets } = deps;
  const { start, confirm } = createOwnContact({
    contact: contacts.phone,
    purpose: 'phone',
    field: 'number',
    words: {
      keptByRealm: 'Only administrators change phone numbers in this realm',
      sendsNothing: 'The realm sends no SMS',
    },
    taken: () => faultAt('ticket', 'is for a number that can’t be used: it is taken'),
    sends,
    starts,
    asThemselves,
    tickets,
  });
  return {
    of: phones.of,
    start,
    confirm,

    remove: ({ realm, holder, by }: AccountWrite): Promise<void> =>
      asThemselves.write(realm, holder, async (tx) => {
        if (!(await forgetPhone(tx, by, realm, holder.userId, asThemselves.keep(holder))))
          throw new Problem('not-found', 'You have no confirmed phone number');
      }),
  };
}
export type OwnPhoneWrites = ReturnType<typeof createOwnPhoneWrites>;
