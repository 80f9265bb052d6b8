// The authenticator username-password: identifies the user by name and checks the password.

import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { providerPath } from '../../../domain/links.ts';
import { type Faults, faultsOf, invalidState, noteAt } from '../../../http/field-errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { revealScript, withReveal } from '../../../http/reveal.ts';
import { text } from '../../../http/texts.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { Complaint, Form, Method, Step, StepPage } from './authenticator.ts';

const NAME_MAX = 255;
const PASSWORD_MAX = 512;

export interface UsernamePasswordDeps {
  credentials: Pick<Credentials, 'checkPassword'>;
  /** Maps e-mail domains to identity providers (features/authentication/brokering). */
  homes: {
    any(realm: string): Promise<boolean>;
    /** The alias of the provider for this name; undefined: it has none. */
    of(realm: string, name: string): Promise<string | undefined>;
    /** The providers' addresses, as sources of the page's policy. */
    sources(realm: string): Promise<string[]>;
  };
  /** Whether a password is known from breaches. */
  breached(plain: string): Promise<boolean>;
}

export const createUsernamePassword = ({ credentials, homes, breached }: UsernamePasswordDeps): Method => ({
  id: 'username-password',
  displayName: phrase('usernamePassword'),
  factorClass: 'KNOWLEDGE',
  levelOfAssurance: 1,
  category: 'METHOD',
  identifies: true,
  amr: ['pwd'],
  credential: { type: 'password', name: phrase('password') },
  configSchema: z.strictObject({}),
  answers: ({ username, password }) =>
    username === undefined || password === undefined ? undefined : { username, password },
  async begin(step, complaint) {
    const sources = await homes.sources(step.realm);
    if (sources.length === 0) return page(step, complaint);
    // In a realm with such domains the first page asks for the name alone: users of a provider must not enter a password
    // here.
    const asksForName = step.kept.username === undefined && complaint?.field !== 'password';
    return { ...(asksForName ? namePage(step, complaint) : page(step, complaint)), formAction: sources };
  },
  async verify(step, form) {
    const username = (form.username ?? '').trim().slice(0, NAME_MAX);
    const password = form.password ?? '';
    const again = (message: string, reason: string, field = 'password') => ({
      do: 'again' as const,
      complaint: { field, message, values: { username, ...(form.remember ? { remember: 'on' } : {}) } },
      reason,
    });
    if (username === '') {
      const noName = again(text('password.noUsername'), '', 'username');
      const others = form.password === '' ? [{ field: 'password', message: text('password.noPassword') }] : [];
      return { ...noName, complaint: { ...noName.complaint, others } };
    }
    const home = await homes.of(step.realm, username);
    if (home !== undefined)
      return { do: 'kept', keep: { username }, leadsTo: providerPath(step.realm, home, username) };
    if (form.password === undefined && step.kept.username === undefined && (await homes.any(step.realm)))
      return { do: 'kept', keep: { username } };
    if (password === '') return again(text('password.noPassword'), '');
    if (password.length > PASSWORD_MAX) return again(text('password.refused'), 'wrong');
    const checked = await credentials.checkPassword({ realm: step.realm, username, password, by: step.by });
    if (!checked.ok) {
      const words = checked.reason === 'away' ? text('password.away') : text('password.refused');
      return { ...again(words, checked.reason), user: checked.user };
    }
    const { user, credentialId, standing, away } = checked;
    const note = away ? 'away-known' : undefined;
    const { riskPolicyEnabled, breachedPasswordCheck, riskWeights } = step.settings;
    const counts = riskPolicyEnabled && breachedPasswordCheck && riskWeights['breached-password'] !== 0;
    const signals = counts && (await breached(password)) ? { signals: ['breached-password' as const] } : {};
    return { do: 'passed', credentialId, user, standing, note, rememberMe: form.remember === 'on', ...signals };
  },
});

function page({ settings, loginHint, kept }: Step, complaint: Complaint | undefined): StepPage {
  const values: Form = complaint?.values ?? {};
  const username = values.username ?? kept.username ?? loginHint;
  const faults = faultsOf(complaint, complaint?.others);
  const bad = (field: string) => (faults.has(field) ? invalidState(field) : undefined);
  const focus = (field: string) =>
    (complaint ? complaint.field === field : field === (username === '' ? 'username' : 'password')) && html` autofocus`;
  return {
    title: text('password.title'),
    submit: text('password.submit'),
    script: revealScript,
    body: html`${nameField(username, html`${bad('username')}${focus('username')}`, faults)}
<div class="field">
<label for="password">${text('password.password')}</label>
${withReveal(
  html`<input type="password" id="password" name="password" maxlength="${PASSWORD_MAX}" autocomplete="current-password"
 autocapitalize="none" spellcheck="false" required${bad('password')}${focus('password')}>`,
)}
${noteAt(faults, 'password')}
</div>
${
  settings.rememberMe &&
  html`<div class="check">
<input type="checkbox" id="remember" name="remember" value="on"${values.remember === 'on' && html` checked`}>
<label for="remember">${text('password.remember')}</label>
</div>`
}`,
  };
}

const nameField = (username: string, state: Html, faults: Faults): Html => html`<div class="field">
<label for="username">${text('password.username')}</label>
<input type="text" id="username" name="username" value="${username}" maxlength="${NAME_MAX}" autocomplete="username"
 autocapitalize="none" autocorrect="off" spellcheck="false" required${state}>
${noteAt(faults, 'username')}
</div>`;

/** The page that asks for the name alone. */
function namePage({ loginHint }: Step, complaint: Complaint | undefined): StepPage {
  const bad = complaint?.field === 'username' && invalidState('username');
  return {
    title: text('password.title'),
    submit: text('password.next'),
    body: nameField(complaint?.values?.username ?? loginHint, html`${bad} autofocus`, faultsOf(complaint)),
  };
}
