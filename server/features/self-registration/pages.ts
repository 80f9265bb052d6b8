// The inside of the pages on which people make an account, and the panel where nobody can.
import type { FastifyReply } from 'fastify';
import type { RealmSettingsDto, Settings } from '../../contract/settings.ts';
import { invalidState } from '../../http/field-errors.ts';
import { type Html, html } from '../../http/html.ts';
import { sendPage } from '../../http/pages.ts';
import { passwordFields } from '../../http/password-fields.ts';
import { passwordScript } from '../../http/password-script.ts';
import { type ProfileInput, profileFields, usernameField, valuesIn } from '../../http/profile-fields.ts';
import { termsBox } from '../../http/terms.ts';
import { text } from '../../http/texts.ts';
import type { Complaint, StepPage } from '../authenticators/authenticator.ts';
import type { mailedCodeFields } from '../authenticators/mailed-code.ts';
import type { CaptchaWidget } from '../captchas/check.ts';
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
  /** Whether they may do without a password. */
  takesPasskey: boolean;
}

export function formPage({ settings, inputs, complaint, work, captcha, takesPasskey }: RegisterForm): StepPage {
  const values = complaint?.values ?? {};
  const wrong = complaint?.field;
  const first = settings.registrationEmailAsUsername ? 'email' : 'username';
  const state = (field: string): Html =>
    html`${wrong === field && invalidState(field)}${(wrong ?? first) === field && html` autofocus`}`;
  const { registrationEmailAsUsername: byEmail } = settings;
  return {
    title: text('register.title'),
    submit: text('register.submit'),
    plain: true,
    script: [passwordScript, ...(takesPasskey ? [wayScript] : []), ...(work === undefined ? [] : [workScript])].join(
      '\n',
    ),
    ...(captcha && { foreign: captcha.page }),
    body: html`${!byEmail && usernameField(values.username, state('username'))}
<div class="field">
<label for="email">${text('account.email')}</label>
<input type="email" id="email" name="email" value="${values.email}" maxlength="${EMAIL_MAX}" autocomplete="${byEmail ? 'username' : 'email'}"
 required${state('email')}>
</div>
${profileFields(inputs, valuesIn(inputs, values), { wrong })}
${takesPasskey && ways(values.how)}
<div data-password>
${passwordFields(settings, { wrong, focus: wrong === 'password' || wrong === 'repeated' })}
</div>
${termsBox(settings, values, state('terms'))}
${
  work !== undefined &&
  html`<input type="hidden" name="work" value="" data-work="${work}" data-bits="${settings.proofOfWorkBits}">
<p class="hint" role="status" data-working="${text('register.working')}"></p><noscript><p class="error">${text('register.needsScript')}</p></noscript>`
}
${
  captcha &&
  html`<div class="field ${captcha.className}" data-sitekey="${captcha.siteKey}"></div><noscript><p class="error">${text('register.needsScript')}</p></noscript>`
}`,
  };
}

/** Without its script there is nothing to choose, and a password it is. @param chosen the last time */
const ways = (chosen: string | undefined): Html => html`<fieldset class="field" data-ways hidden>
<legend>${text('register.how')}</legend>
<div class="check">
<input type="radio" id="how-passkey" name="how" value="passkey" aria-describedby="how-passkey-hint"${chosen === 'passkey' && html` checked`}>
<label for="how-passkey">${text('register.byPasskey')} <span class="hint" id="how-passkey-hint">${text('register.byPasskeyHint')}</span></label>
</div>
<div class="check">
<input type="radio" id="how-password" name="how" value="password"${chosen === 'password' && html` checked`}>
<label for="how-password">${text('register.byPassword')}</label>
</div>
</fieldset>`;

/** Shows what can be chosen where the browser has passkeys, and the fields of a password where that is. */
const wayScript = `(async () => {
const ways = document.querySelector('[data-ways]');
const fields = document.querySelector('[data-password]');
const [passkey, password] = ways.querySelectorAll('input');
const show = () => {
  fields.hidden = passkey.checked;
  for (const one of fields.querySelectorAll('input')) one.disabled = passkey.checked;
};
if (!window.PublicKeyCredential) {
  passkey.checked = false;
  return;
}
ways.addEventListener('change', show);
ways.hidden = false;
show();
if (passkey.checked || password.checked) return;
const here = await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable().catch(() => false);
if (passkey.checked || fields.querySelector('input').value) return;
(here ? passkey : password).checked = true;
show();
})();`;

/** Whoever can make none after all chooses a password. */
export const passkeyPage = (page: StepPage): StepPage => ({
  ...page,
  below: html`<button class="link" name="instead" value="1" data-instead>${text('register.instead')}</button>`,
});

export const passwordPage = (settings: Settings, complaint: Complaint | undefined): StepPage => ({
  title: text('register.passwordTitle'),
  submit: text('register.submit'),
  plain: true,
  script: passwordScript,
  body: passwordFields(settings, { wrong: complaint?.field }),
});

export const codePage = (
  fields: typeof mailedCodeFields,
  email: string,
  complaint: Complaint | undefined,
): StepPage => ({
  title: text('verify.title'),
  submit: text('otp.submit'),
  ...fields(email, { wrong: complaint?.field === 'code', other: text('verify.other') }),
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
