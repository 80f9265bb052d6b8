// The two fields of a new password, with the realm's rules. features/people/credentials checks the password.
import { type PasswordRules, passwordClasses } from '../contract/password-rules.ts';
import { type Faults, invalidState, noteAt } from './field-errors.ts';
import { type Html, html } from './html.ts';
import { withReveal } from './reveal.ts';
import { type PlainKey, plainText, text } from './texts.ts';

export const PASSWORD_MAX = 512;

const words: Record<(typeof passwordClasses)[number]['required'], PlainKey> = {
  passwordRequireLowercase: 'newPassword.lower',
  passwordRequireUppercase: 'newPassword.upper',
  passwordRequireDigit: 'newPassword.digit',
  passwordRequireSymbol: 'newPassword.symbol',
};

/** The text of each rule, and its regular expression for the page's script. */
function ruleList(rules: PasswordRules): Html {
  const least = rules.passwordMinLength;
  const asked = passwordClasses.filter(({ required }) => rules[required]);
  // only the server can judge what is easy to guess, so this rule has no expression
  const guessable = rules.guessablePasswordCheck;
  const patterns = [`^.{${least},}$`, ...asked.map(({ pattern }) => pattern.source), ...(guessable ? [null] : [])];
  const said = [
    text('newPassword.least', { least }),
    ...asked.map(({ required }) => plainText(words[required])),
    ...(guessable ? [text('newPassword.notGuessable')] : []),
  ];
  return html`<ul class="rules" data-rules="${JSON.stringify(patterns)}">${said.map((one) => html`<li>${one}</li>`)}</ul>`;
}

const strengths = ['newPassword.weak', 'newPassword.fair', 'newPassword.strong'] as const;

/** The page's script is `passwordScript`. @param isFirst the account has no password */
export function passwordFields(
  rules: PasswordRules,
  { faults = new Map(), focus = true, isFirst = false }: { faults?: Faults; focus?: boolean; isFirst?: boolean } = {},
): Html {
  const bad = (field: string) => faults.has(field) && invalidState(field);
  const first = faults.has('repeated') && !faults.has('password') ? 'repeated' : 'password';
  const focused = (field: string) => focus && field === first && html` autofocus`;
  return html`<div class="field">
<label for="password">${text(isFirst ? 'password.password' : 'newPassword.password')}</label>
${withReveal(
  html`<input type="password" id="password" name="password" autocomplete="new-password" maxlength="${PASSWORD_MAX}"
 autocapitalize="none" spellcheck="false" required${focused('password')}${bad('password') || html` aria-describedby="password-hint"`}>`,
)}
${noteAt(faults, 'password')}
<div class="hint" id="password-hint">${ruleList(rules)}${text('newPassword.tip')}</div>
<p class="strength" data-strength="${strengths.map((key) => plainText(key)).join('|')}" hidden><meter min="0" max="3" low="2" high="3" optimum="3" aria-label="${text('newPassword.strength')}"></meter> <span role="status"></span></p>
</div>
<div class="field">
<label for="repeated">${text(isFirst ? 'newPassword.firstAgain' : 'newPassword.repeated')}</label>
${withReveal(
  html`<input type="password" id="repeated" name="repeated" autocomplete="new-password" maxlength="${PASSWORD_MAX}"
 autocapitalize="none" spellcheck="false" required${focused('repeated')}${bad('repeated')}>`,
)}
${noteAt(faults, 'repeated')}
</div>`;
}
