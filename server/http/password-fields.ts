// The two fields of a new password, with what the realm asks of one. Whether it may be taken is features/credentials'.
import type { PasswordRules } from '../contract/password-rules.ts';
import { errorId, type Html, html } from './html.ts';
import { type PlainKey, plainText, text } from './texts.ts';

export const PASSWORD_MAX = 512;

const classes = [
  ['passwordRequireLowercase', 'newPassword.lower'],
  ['passwordRequireUppercase', 'newPassword.upper'],
  ['passwordRequireDigit', 'newPassword.digit'],
  ['passwordRequireSymbol', 'newPassword.symbol'],
] as const satisfies readonly (readonly [keyof PasswordRules, PlainKey])[];

function ruleItems(rules: PasswordRules): Html[] {
  const asked = classes.filter(([required]) => rules[required]).map(([, key]) => html`<li>${plainText(key)}</li>`);
  return [html`<li>${text('newPassword.least', { least: rules.passwordMinLength })}</li>`, ...asked];
}

/** @param wrong the field that was complained about */
export function passwordFields(
  rules: PasswordRules,
  { wrong, focus = true }: { wrong?: string | undefined; focus?: boolean } = {},
): Html {
  const bad = (field: string) => wrong === field && html` aria-invalid="true" aria-describedby="${errorId(field)}"`;
  const first = wrong === 'repeated' ? 'repeated' : 'password';
  const focused = (field: string) => focus && field === first && html` autofocus`;
  return html`<div class="field">
<label for="password">${text('newPassword.password')}</label>
<input type="password" id="password" name="password" autocomplete="new-password" maxlength="${PASSWORD_MAX}"
 required${focused('password')}${bad('password') || html` aria-describedby="password-hint"`}>
<div class="hint" id="password-hint"><ul class="rules">${ruleItems(rules)}</ul>${text('newPassword.tip')}</div>
</div>
<div class="field">
<label for="repeated">${text('newPassword.repeated')}</label>
<input type="password" id="repeated" name="repeated" autocomplete="new-password" maxlength="${PASSWORD_MAX}"
 required${focused('repeated')}${bad('repeated')}>
</div>`;
}
