// The required action VERIFY_PHONE: the user proves a phone number by a code sent to it. Users who started it from their
// account, or have no number, enter the number first.
import type { Transact } from '../../../db/transact.ts';
import { codeField } from '../../../http/code-field.ts';
import { faultsOf, invalidState, noteAt } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { Complaint, RequiredStep, StepPage } from '../authenticators/authenticator.ts';
import type { Contact } from '../authenticators/contact.ts';
import { createVerifyContact } from './verify-contact.ts';

export interface VerifyPhoneDeps {
  contact: Contact;
  sends(realm: string, channel: 'SMS'): Promise<boolean>;
  transact: Transact;
}

export function createVerifyPhone({ contact, sends, transact }: VerifyPhoneDeps): RequiredStep {
  const { verify } = createVerifyContact({
    contact,
    transact,
    field: 'phone',
    words: {
      label: () => text('phone.number'),
      nowhere: () => text('phone.nowhere'),
      yours: () => text('phone.yours'),
      taken: () => text('phone.taken'),
    },
    other: (_step, { mayChange }) => (mayChange ? {} : undefined),
    async chosen({ realm }, { phone }, { value, mayChange }) {
      if (phone === undefined || !(await sends(realm, 'SMS'))) return undefined;
      return mayChange ? contact.plain(phone) : (value ?? undefined);
    },
  });

  return {
    action: 'VERIFY_PHONE',
    async begin({ realm, user, kept }, complaint) {
      if (!user) throw new Error('a number is confirmed for a user');
      if (kept.code !== undefined) return codePage(contact.sentTo(kept), complaint);
      const { value: number, mayChange } = await contact.of(realm, user.id);
      if (!(await sends(realm, 'SMS')) || (number === null && !mayChange)) return nowherePage();
      return numberPage(number, mayChange, complaint);
    },
    verify,
  };
}

const numberPage = (number: string | null, mayChange: boolean, complaint: Complaint | undefined): StepPage => ({
  title: text('phone.which'),
  submit: text('verify.send'),
  body: html`<p class="lead">${text('phone.lead')}</p>
<div class="field">
<label for="phone">${text('phone.number')}</label>
<input type="tel" id="phone" name="phone" value="${complaint?.values?.phone ?? number}" maxlength="40" autocomplete="tel" required${
    mayChange ? html` autofocus` : html` readonly`
  }${complaint?.field === 'phone' && invalidState('phone')}>
${noteAt(faultsOf(complaint), 'phone')}
</div>`,
});

const codePage = (number: string, complaint: Complaint | undefined): StepPage => ({
  title: text('otp.title'),
  submit: text('otp.submit'),
  body: html`<p class="lead">${textHtml('phone.sent', { number: html`<bdi>${number}</bdi>` })}</p>
${codeField({ faults: faultsOf(complaint), required: false })}`,
  below: html`<button class="link" name="resend" value="1">${text('messageCode.sendNew')}</button>
<button class="link" name="other" value="1">${text('phone.other')}</button>`,
});

const nowherePage = (): StepPage => ({
  title: text('phone.which'),
  submit: text('error.tryAgain'),
  body: html`<p class="lead">${text('phone.nowhere')}</p>`,
});
