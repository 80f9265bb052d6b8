// The contents of the pages for creating an account, and the notice when registration is unavailable.
import type { FastifyReply } from 'fastify';
import type { RealmSettingsDto, Settings } from '../../../contract/settings.ts';
import { faultsOf, invalidState, noteAt } from '../../../http/field-errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { sendPage } from '../../../http/pages.ts';
import { passwordFields } from '../../../http/password-fields.ts';
import { passwordScript } from '../../../http/password-script.ts';
import { type ProfileInput, profileFields, usernameField, valuesIn } from '../../../http/profile-fields.ts';
import { signUpWays, signUpWaysScript } from '../../../http/sign-up-ways.ts';
import { termsBox } from '../../../http/terms.ts';
import { text } from '../../../http/texts.ts';
import type { CaptchaWidget } from '../../configuration/captchas/check.ts';
import type { Complaint, StepPage } from '../authenticators/authenticator.ts';
import { mailedCodeFields } from '../authenticators/mailed-code.ts';
import { workScript } from './proof-of-work.ts';

const EMAIL_MAX = 254;

export interface RegisterForm {
  settings: Settings;
  inputs: readonly ProfileInput[];
  complaint: Complaint | undefined;
  /** The challenge of a proof of work. */
  work: string | undefined;
  /** The hosted CAPTCHA. */
  captcha: CaptchaWidget | undefined;
  /** Whether the account may have a passkey instead of a password. */
  takesPasskey: boolean;
}

export function formPage({ settings, inputs, complaint, work, captcha, takesPasskey }: RegisterForm): StepPage {
  const values = complaint?.values ?? {};
  const wrong = complaint?.field;
  const faults = faultsOf(complaint, complaint?.others);
  const first = settings.registrationEmailAsUsername ? 'email' : 'username';
  const state = (field: string): Html =>
    html`${faults.has(field) && invalidState(field)}${(wrong ?? first) === field && html` autofocus`}`;
  const { registrationEmailAsUsername: byEmail } = settings;
  return {
    title: text('register.title'),
    submit: text('register.submit'),
    plain: true,
    script: [
      passwordScript,
      ...(takesPasskey ? [signUpWaysScript] : []),
      ...(work === undefined ? [] : [workScript]),
    ].join('\n'),
    ...(captcha && { foreign: captcha.page }),
    body: html`${!byEmail && usernameField(values.username, state('username'), faults)}
<div class="field">
<label for="email">${text('account.email')}</label>
<input type="email" id="email" name="email" value="${values.email}" maxlength="${EMAIL_MAX}" autocomplete="${byEmail ? 'username' : 'email'}"
 required${state('email')}>
${noteAt(faults, 'email')}
</div>
${profileFields(inputs, valuesIn(inputs, values), { faults, focus: wrong })}
${takesPasskey && signUpWays(values.how)}
<div data-password>
${passwordFields(settings, { isFirst: true, faults, focus: wrong === 'password' || wrong === 'repeated' })}
</div>
${termsBox(settings, values, state('terms'), faults)}
${
  work !== undefined &&
  html`<input type="hidden" name="work" value="" data-work="${work}" data-bits="${settings.proofOfWorkBits}">
<noscript><p class="error">${text('register.needsScript')}</p></noscript>
<p class="hint" role="status" data-working="${text('register.working')}"></p>`
}
${
  captcha &&
  html`<div class="field ${captcha.className}" data-sitekey="${captcha.siteKey}"></div><noscript><p class="error">${text('register.needsScript')}</p></noscript>`
}`,
  };
}

/** The realm's CAPTCHA is not available, so no account can be created. */
export const notNowPage = (): StepPage => ({
  title: text('register.title'),
  body: html`<p role="alert">${text('register.notNow')}</p>`,
});

/** A user who can't create a passkey can choose a password instead. */
export const passkeyPage = (page: StepPage): StepPage => ({
  ...page,
  below: html`<button class="link" name="instead" value="1" data-instead>${text('register.instead')}</button>`,
});

export const passwordPage = (settings: Settings, complaint: Complaint | undefined): StepPage => ({
  title: text('register.passwordTitle'),
  submit: text('register.submit'),
  plain: true,
  script: passwordScript,
  body: passwordFields(settings, { isFirst: true, faults: faultsOf(complaint, complaint?.others) }),
});

export const codePage = (email: string, complaint: Complaint | undefined): StepPage => ({
  title: text('verify.title'),
  submit: text('otp.submit'),
  ...mailedCodeFields(email, { faults: faultsOf(complaint), other: text('verify.other') }),
});

export function sendClosed(
  reply: FastifyReply,
  realm: string,
  settings: RealmSettingsDto,
  status: 200 | 403,
): FastifyReply {
  const body = html`<div class="note" role="status"><p>${text('register.closedLead')}</p></div>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('password.title')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('register.closed'), body }, { status });
}
