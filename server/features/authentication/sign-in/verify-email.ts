// A required action: to prove one's e-mail address (VERIFY_EMAIL), by a code or a link sent there. Whoever wants it on their own
// account, or has no address, says first which; that it is somebody else's is told to them alone.
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { invalidState } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { said, text } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { OwnEmails } from '../../people/users/own-email.ts';
import type { Complaint, RequiredStep, Step, StepPage } from '../authenticators/authenticator.ts';
import { type MailedCodes, mailedCodeFields } from '../authenticators/mailed-code.ts';

const EMAIL_MAX = 254;

export interface VerifyEmailDeps {
  emails: OwnEmails;
  codes: MailedCodes;
  credentials: Pick<Credentials, 'guess'>;
  transact: Transact;
  notify: Notify;
}

export function createVerifyEmail(deps: VerifyEmailDeps): RequiredStep {
  const { emails, codes, credentials, transact, notify } = deps;
  const contextOf = ({ realm, user }: Step, email: string) => `verify-email:${realm}:${user?.id}:${email}`;

  async function sendTo(step: Step, email: string) {
    const { realm, by, site, user } = step;
    const userId = user?.id ?? null;
    const owner = await emails.ownerOf(realm, email, userId);
    const mailing = { realm, origin: site.origin, by, userId, email, context: contextOf(step, email), owner };
    return transact(realm, (tx) => codes.send(tx, mailing));
  }

  return {
    action: 'VERIFY_EMAIL',
    async begin(step, complaint) {
      const { realm, user, kept, wanted } = step;
      if (!user) throw new Error('an address is somebody’s');
      const { email, verified, mayChange } = await emails.of(realm, user.id);
      const other = mayChange && (wanted || !verified) ? text('verify.other') : undefined;
      if (kept.code !== undefined) return codePage(kept.email ?? '', complaint);
      if (mayChange && (wanted || email === null || kept.ask !== undefined)) return addressPage(email, complaint);
      if (email === null) return nowherePage();
      const keep = await sendTo(step, email);
      return { ...codePage(email, complaint), keep, ...(keep.address !== undefined && { address: keep.address }) };

      function codePage(to: string, about: Complaint | undefined): StepPage {
        return {
          title: text('verify.title'),
          submit: text('otp.submit'),
          ...mailedCodeFields(to, { wrong: about?.field === 'code', other }),
        };
      }
    },

    async verify(step, form) {
      const { realm, user, proven, kept, by, byThem, wanted } = step;
      if (!user || !proven) throw new Error('an address is somebody’s');
      const again = (field: string, message: string) =>
        ({ do: 'again', complaint: { field, message, values: { email: form.email ?? '' } }, reason: '' }) as const;
      const { email: present, verified, mayChange } = await emails.of(realm, user.id);
      if (form.other !== undefined && mayChange && (wanted || !verified)) return { do: 'kept', keep: { ask: '1' } };
      if (kept.code === undefined) {
        const email = (form.email ?? '').trim();
        if (form.email === undefined || !mayChange) return again('form', text('verify.nowhere'));
        const fault = await emails.fault(realm, user.id, email);
        if (fault !== undefined)
          return again('email', text('profile.fault', { label: text('account.email'), fault: said(fault) }));
        if (verified && present?.toLowerCase() === email.toLowerCase()) return again('email', text('verify.yours'));
        const keep = await sendTo(step, email);
        return { do: 'kept', keep, ...(keep.address !== undefined && { address: keep.address }) };
      }
      const email = kept.email ?? '';
      if (form.resend !== undefined) {
        if (!codes.mayResend(kept)) return again('code', text('messageCode.sentJustNow'));
        const keep = await sendTo(step, email);
        return { do: 'kept', keep, ...(keep.address !== undefined && { address: keep.address }) };
      }
      const proof = await codes.check(realm, kept, form, contextOf(step, email));
      const isProven = await codes.countGuess(credentials, { realm, user, by }, proof);
      if (proof.do === 'again') {
        const { message, keep } = proof;
        return { do: 'again', complaint: { field: 'code', message }, reason: '', ...(keep && { keep }) };
      }
      if (!isProven) return again('code', text('messageCode.wrong'));
      const confirmed = await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, proven);
        const before = await emails.confirm(tx, byThem, realm, { userId: user.id, email });
        if (before !== null && verified)
          await notify(tx, { realm, by: byThem, userId: user.id, what: 'email-changed', to: before });
        return true;
      }).catch((error: unknown) => {
        if (emails.isTaken(error)) return false;
        throw error;
      });
      return confirmed ? { do: 'done' } : again('code', text('verify.taken'));
    },
  };
}

const addressPage = (email: string | null, complaint: Complaint | undefined): StepPage => ({
  title: text('verify.which'),
  submit: text('verify.send'),
  body: html`<p class="lead">${text('verify.whichLead')}</p>
<div class="field">
<label for="email">${text('account.email')}</label>
<input type="email" id="email" name="email" value="${complaint?.values?.email ?? email}" maxlength="${EMAIL_MAX}" autocomplete="email"
 required autofocus${complaint && invalidState('email')}>
</div>`,
});

const nowherePage = (): StepPage => ({
  title: text('verify.title'),
  submit: text('error.tryAgain'),
  body: html`<p class="lead">${text('verify.nowhere')}</p>`,
});
