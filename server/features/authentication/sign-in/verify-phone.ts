// A required action: to prove one's phone number (VERIFY_PHONE), by a code that is sent there. Whoever wants it on their own account,
// or has none, says which.
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { codeField } from '../../../http/code-field.ts';
import { invalidState } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { said, text, textHtml } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import { type OwnPhones, plainNumber } from '../../people/users/own-phone.ts';
import type { Complaint, RequiredStep, Step, StepPage } from '../authenticators/authenticator.ts';
import type { MailedCodes } from '../authenticators/mailed-code.ts';

export interface VerifyPhoneDeps {
  phones: OwnPhones;
  codes: MailedCodes;
  credentials: Pick<Credentials, 'guess'>;
  sends(realm: string, channel: 'SMS'): Promise<boolean>;
  transact: Transact;
  notify: Notify;
}

export function createVerifyPhone(deps: VerifyPhoneDeps): RequiredStep {
  const { phones, codes, credentials, sends, transact, notify } = deps;
  const contextOf = ({ realm, user }: Step, number: string) => `verify-phone:${realm}:${user?.id}:${number}`;

  function sendTo(step: Step, number: string) {
    const { realm, by, user } = step;
    const texting = { realm, by, userId: user?.id ?? '', number, context: contextOf(step, number) };
    return transact(realm, (tx) => codes.text(tx, texting));
  }

  return {
    action: 'VERIFY_PHONE',
    async begin({ realm, user, kept }, complaint) {
      if (!user) throw new Error('a number is somebody’s');
      if (kept.code !== undefined) return codePage(kept.phone ?? '', complaint);
      const { number, mayChange } = await phones.of(realm, user.id);
      if (!(await sends(realm, 'SMS')) || (number === null && !mayChange)) return nowherePage();
      return numberPage(number, mayChange, complaint);
    },

    async verify(step, form) {
      const { realm, user, proven, kept, by, byThem } = step;
      if (!user || !proven) throw new Error('a number is somebody’s');
      const again = (field: string, message: string) =>
        ({ do: 'again', complaint: { field, message, values: { phone: form.phone ?? '' } }, reason: '' }) as const;
      const { number: present, verified, mayChange } = await phones.of(realm, user.id);
      if (form.other !== undefined && mayChange) return { do: 'kept', keep: {} };
      if (kept.code === undefined) {
        if (form.phone === undefined || !(await sends(realm, 'SMS'))) return again('form', text('phone.nowhere'));
        const number = mayChange ? plainNumber(form.phone) : (present ?? '');
        const fault = number === present && !mayChange ? undefined : await phones.fault(realm, user.id, number);
        if (fault !== undefined)
          return again('phone', text('profile.fault', { label: text('phone.number'), fault: said(fault) }));
        if (verified && number === present) return again('phone', text('phone.yours'));
        return { do: 'kept', keep: await sendTo(step, number) };
      }
      const number = kept.phone ?? '';
      if (form.resend !== undefined) {
        if (!codes.mayResend(kept)) return again('code', text('messageCode.sentJustNow'));
        return { do: 'kept', keep: await sendTo(step, number) };
      }
      const proof = await codes.check(realm, kept, form, contextOf(step, number));
      const isProven = await codes.countGuess(credentials, { realm, user, by }, proof);
      if (proof.do === 'again') {
        const { message, keep } = proof;
        return { do: 'again', complaint: { field: 'code', message }, reason: '', ...(keep && { keep }) };
      }
      if (!isProven) return again('code', text('messageCode.wrong'));
      const confirmed = await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, proven);
        await phones.confirm(tx, byThem, realm, { userId: user.id, number });
        await notify(tx, { realm, by: byThem, userId: user.id, what: 'credential-added' });
        return true;
      }).catch((error: unknown) => {
        if (phones.isTaken(error)) return false;
        throw error;
      });
      return confirmed ? { do: 'done' } : again('code', text('phone.taken'));
    },
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
  }${complaint && invalidState('phone')}>
</div>`,
});

const codePage = (number: string, complaint: Complaint | undefined): StepPage => ({
  title: text('otp.title'),
  submit: text('otp.submit'),
  body: html`<p class="lead">${textHtml('phone.sent', { number: html`<bdi>${number}</bdi>` })}</p>
${codeField({ wrong: complaint !== undefined, required: false })}`,
  below: html`<button class="link" name="resend" value="1">${text('messageCode.sendNew')}</button>
<button class="link" name="other" value="1">${text('phone.other')}</button>`,
});

const nowherePage = (): StepPage => ({
  title: text('phone.which'),
  submit: text('error.tryAgain'),
  body: html`<p class="lead">${text('phone.nowhere')}</p>`,
});
