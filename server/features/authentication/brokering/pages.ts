// The pages of sign-ins with identity providers. Links lead to the provider instead of forms, because a page's policy
// limits the targets of forms.
import type { FastifyReply } from 'fastify';
import type { RealmSettingsDto, Settings } from '../../../contract/settings.ts';
import { faultsOf, invalidState, noteAt } from '../../../http/field-errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { sendPage } from '../../../http/pages.ts';
import { type ProfileInput, profileFields, usernameField, valuesIn, valuesOf } from '../../../http/profile-fields.ts';
import { type ProviderWay, providerWays } from '../../../http/provider-ways.ts';
import { revealScript, withReveal } from '../../../http/reveal.ts';
import { text } from '../../../http/texts.ts';
import type { NewPerson } from '../../people/users/own-account.ts';
import type { StepPage } from '../authenticators/authenticator.ts';
import { mailedCodeFields } from '../authenticators/mailed-code.ts';

const EMAIL_MAX = 254;
const PASSWORD_MAX = 512;

type Complaint = { field: string; message: string; values?: Record<string, string> | undefined } | undefined;

const state = (complaint: Complaint, field: string): Html | false => complaint?.field === field && invalidState(field);

export const goOnPage = (title: string, path: string): StepPage => ({
  title: text('provider.title', { provider: title }),
  body: html`<p class="lead">${text('provider.lead', { provider: title })}</p>
<a class="button full" href="${path}">${text('provider.goOn', { provider: title })}</a>`,
});

export const waysPage = (ways: readonly ProviderWay[]): StepPage => ({
  title: text('provider.choose'),
  body: html`${providerWays(ways)}`,
});

export const nonePage = (): StepPage => ({
  title: text('signIn.nothingToDo'),
  body: html`<p class="lead">${text('signIn.nothingToDoWhy')}</p>`,
});

export const codePage = ({ email, complaint }: { email: string; complaint: Complaint }): StepPage => ({
  title: text('verify.title'),
  submit: text('otp.submit'),
  ...mailedCodeFields(email, { faults: faultsOf(complaint), other: text('verify.other') }),
});

export interface Review {
  title: string;
  settings: Settings;
  inputs: readonly ProfileInput[];
  person: NewPerson;
  complaint: Complaint;
}

export function reviewPage({ title, settings, inputs, person, complaint }: Review): StepPage {
  const values = { username: person.username, email: person.email, ...complaint?.values };
  const filled = { ...valuesOf(inputs, person), ...(complaint?.values && valuesIn(inputs, complaint.values)) };
  return {
    title: text('provider.review'),
    submit: text('provider.create'),
    body: html`<p class="lead">${text('provider.reviewLead', { provider: title })}</p>
${!settings.registrationEmailAsUsername && usernameField(values.username, state(complaint, 'username'), faultsOf(complaint))}
<div class="field">
<label for="email">${text('account.email')}</label>
<input type="email" id="email" name="email" value="${values.email}" maxlength="${EMAIL_MAX}" autocomplete="email" required${state(complaint, 'email')}>
${noteAt(faultsOf(complaint), 'email')}
</div>
${profileFields(inputs, filled, { faults: faultsOf(complaint), focus: complaint?.field })}`,
  };
}

export interface LinkView {
  title: string;
  /** The user's name at the provider. */
  them: string;
  email: string;
  /** Whether the account's password, and a code to its address, can prove it. */
  password: boolean;
  mail: boolean;
  complaint: Complaint;
}

export const linkPage = ({ title, them, email, password, mail, complaint }: LinkView): StepPage => ({
  title: text('provider.link'),
  submit: text(password ? 'provider.connect' : 'verify.send'),
  plain: true,
  body: html`<p class="lead">${text('provider.linkLead', { email, them, provider: title })}</p>
${
  password &&
  html`<div class="field">
<label for="password">${text('password.password')}</label>
${withReveal(
  html`<input type="password" id="password" name="password" maxlength="${PASSWORD_MAX}" autocomplete="current-password"
 autocapitalize="none" spellcheck="false" autofocus${state(complaint, 'password')}>`,
)}
${noteAt(faultsOf(complaint), 'password')}
</div>`
}`,
  ...(password && { script: revealScript }),
  ...(password &&
    mail && { below: html`<button class="link" name="mail" value="1">${text('provider.byMail')}</button>` }),
});

/** The page for a browser that returns from a provider without a sign-in here. */
export function sendOver(reply: FastifyReply, realm: string, settings: RealmSettingsDto): FastifyReply {
  const body = html`<p role="alert">${text('provider.overLead')}</p>
<div class="actions"><a class="button full" href="/realms/${realm}/login?for=account">${text('signIn.startAgain')}</a></div>`;
  return sendPage(reply, { realm, brand: settings, title: text('provider.over'), body }, { status: 400 });
}
