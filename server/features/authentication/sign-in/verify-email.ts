// The required action VERIFY_EMAIL: the user proves an e-mail address by a mailed code or link. Users who started it from
// their account, or have no address, enter the address first. Only the owner of a taken address learns that it is taken.
import type { Transact } from '../../../db/transact.ts';
import { faultsOf, invalidState, noteAt } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { Complaint, RequiredStep, StepPage } from '../authenticators/authenticator.ts';
import type { Contact } from '../authenticators/contact.ts';
import { mailedCodeFields } from '../authenticators/mailed-code.ts';
import { createVerifyContact } from './verify-contact.ts';

const EMAIL_MAX = 254;

export interface VerifyEmailDeps {
  contact: Contact;
  transact: Transact;
}

export function createVerifyEmail({ contact, transact }: VerifyEmailDeps): RequiredStep {
  const { sendTo, verify } = createVerifyContact({
    contact,
    transact,
    field: 'email',
    words: {
      label: () => text('account.email'),
      nowhere: () => text('verify.nowhere'),
      yours: () => text('verify.yours'),
      taken: () => text('verify.taken'),
    },
    other: ({ wanted }, { verified, mayChange }) => (mayChange && (wanted || !verified) ? { ask: '1' } : undefined),
    chosen: async (_step, { email }, { mayChange }) =>
      email === undefined || !mayChange ? undefined : contact.plain(email),
  });

  return {
    action: 'VERIFY_EMAIL',
    async begin(step, complaint) {
      const { realm, user, kept, wanted } = step;
      if (!user) throw new Error('an address is confirmed for a user');
      const { value: email, verified, mayChange } = await contact.of(realm, user.id);
      const other = mayChange && (wanted || !verified) ? text('verify.other') : undefined;
      if (kept.code !== undefined) return codePage(contact.sentTo(kept), complaint);
      if (mayChange && (wanted || email === null || kept.ask !== undefined)) return addressPage(email, complaint);
      if (email === null) return nowherePage();
      const keep = await sendTo(step, email);
      return { ...codePage(email, complaint), keep, ...(keep.address !== undefined && { address: keep.address }) };

      function codePage(to: string, about: Complaint | undefined): StepPage {
        return {
          title: text('verify.title'),
          submit: text('otp.submit'),
          ...mailedCodeFields(to, { faults: faultsOf(about), other }),
        };
      }
    },
    verify,
  };
}

const addressPage = (email: string | null, complaint: Complaint | undefined): StepPage => ({
  title: text('verify.which'),
  submit: text('verify.send'),
  body: html`<p class="lead">${text('verify.whichLead')}</p>
<div class="field">
<label for="email">${text('account.email')}</label>
<input type="email" id="email" name="email" value="${complaint?.values?.email ?? email}" maxlength="${EMAIL_MAX}" autocomplete="email"
 required autofocus${complaint?.field === 'email' && invalidState('email')}>
${noteAt(faultsOf(complaint), 'email')}
</div>`,
});

const nowherePage = (): StepPage => ({
  title: text('verify.title'),
  submit: text('error.tryAgain'),
  body: html`<p class="lead">${text('verify.nowhere')}</p>`,
});
