// The choice between a passkey and a password for a new account, if the realm offers both. An element with `data-password`
// contains the password fields.
import { type Html, html } from './html.ts';
import { text } from './texts.ts';

/** Without the script the choice stays hidden, and users set a password. @param chosen the value of the last submission */
export const signUpWays = (chosen: string | undefined): Html => html`<fieldset class="field" data-ways hidden>
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

/** Shows the choice if the browser supports passkeys, and the password fields while a password is chosen. */
export const signUpWaysScript = `(async () => {
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
