// The authenticator otp: a code of an authenticator application (RFC 6238), and setting one up within the sign-in.

import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { newOtpSecret, otpAddress } from '../../../crypto/otp.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { codeField } from '../../../http/code-field.ts';
import { faultsOf } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { codeForApp } from '../../../http/qr-picture.ts';
import { text } from '../../../http/texts.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { Complaint, Method, Step, StepPage, StepVerdict } from './authenticator.ts';
import { lockedWords } from './locked-words.ts';

export interface OtpDeps {
  credentials: Pick<Credentials, 'tryOtp' | 'enrolOtp'>;
  transact: Transact;
  seal: Seal;
}

export function createOtp({ credentials, transact, seal }: OtpDeps): Method {
  const context = ({ realm }: Step, user: KnownUser) => `enrol-otp:${realm}:${user.id}`;

  function secretOf(step: Step, user: KnownUser): string | undefined {
    const { secret } = step.kept;
    return secret === undefined ? undefined : seal.open(Buffer.from(secret, 'base64'), context(step, user)).toString();
  }

  async function enrol(step: Step, user: KnownUser, code: string, label: string): Promise<StepVerdict> {
    const secret = secretOf(step, user);
    const wrong = {
      do: 'again',
      complaint: { field: 'code', message: text('otp.wrong'), values: { label } },
      reason: '',
    } as const;
    if (secret === undefined || !step.proven) return wrong;
    const { realm, proven } = step;
    const shown = { secret, code, label: label === '' ? null : label };
    const credentialId = await transact(realm, async (tx) => {
      const enrolled = await credentials.enrolOtp(tx, step.byThem, realm, user, shown);
      if (enrolled !== undefined) await mustHold(tx.sql, realm, proven);
      return enrolled;
    });
    return credentialId === undefined ? wrong : { do: 'passed', credentialId };
  }

  return {
    id: 'otp',
    displayName: phrase('otp'),
    factorClass: 'POSSESSION',
    levelOfAssurance: 2,
    category: 'METHOD',
    identifies: false,
    amr: ['otp'],
    credential: { type: 'otp', name: phrase('app'), setUpBy: 'CONFIGURE_OTP' },
    configSchema: z.strictObject({}),
    answers: ({ otp }) => (otp === undefined ? undefined : { code: otp }),
    async begin(step, complaint) {
      if (!step.user) throw new Error('otp checks somebody who is known');
      if (!step.enrol) return codePage(step.user, complaint);
      const secret = secretOf(step, step.user) ?? newOtpSecret();
      const keep = { secret: seal.seal(secret, context(step, step.user)).toString('base64') };
      return { ...enrolmentPage(step, step.user, secret, complaint), keep };
    },
    async verify(step, form) {
      if (!step.user) throw new Error('otp checks somebody who is known');
      const code = (form.code ?? '').replace(/[\s-]/g, '');
      const label = (form.label ?? '').trim().slice(0, 100);
      if (!/^\d{6,8}$/.test(code))
        return {
          do: 'again',
          complaint: { field: 'code', message: text('otp.digits'), values: { label } },
          reason: '',
        };
      if (step.enrol) return enrol(step, step.user, code, label);
      const verdict = await credentials.tryOtp(step.realm, step.user, code, step.by);
      if (verdict.ok) return { do: 'passed', credentialId: verdict.credentialId };
      const words = { used: text('otp.used'), wrong: text('otp.wrong'), locked: lockedWords(step, text('otp.wrong')) };
      const message = words[verdict.reason];
      return { do: 'again', complaint: { field: 'code', message }, reason: `otp-${verdict.reason}` };
    },
  };
}

const codePage = (user: KnownUser, complaint: Complaint | undefined): StepPage => ({
  title: text('otp.title'),
  submit: text('otp.submit'),
  body: html`<p class="lead">${text('otp.lead', { username: user.username })}</p>
${codeField({ faults: faultsOf(complaint), required: true })}`,
});

function enrolmentPage(step: Step, user: KnownUser, secret: string, complaint: Complaint | undefined): StepPage {
  const address = otpAddress(secret, { issuer: step.settings.displayName, account: user.username });
  // The QR library draws from numbers alone: no text of the address gets into the markup.
  return {
    title: text('otp.setUp'),
    plain: true,
    submit: text('otp.confirm'),
    body: html`<p class="lead">${text(step.wanted ? 'otp.setUpWanted' : 'otp.setUpLead')}</p>
<ol class="steps">
<li>${text('otp.scan')}
${codeForApp(address, text('otp.picture'))}
<p class="hint" id="secret-hint">${text('otp.typeKey')}</p>
<code class="secret" aria-describedby="secret-hint">${secret.match(/.{1,4}/g)?.join(' ')}</code></li>
<li>${text('otp.enter')}</li>
</ol>
${codeField({ faults: faultsOf(complaint), required: true })}
<div class="field">
<label for="label">${text('otp.label')} <span class="soft">${text('otp.optional')}</span></label>
<input type="text" id="label" name="label" value="${complaint?.values?.label}" maxlength="100" autocomplete="off">
</div>`,
  };
}
