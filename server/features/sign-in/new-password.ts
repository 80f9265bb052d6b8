// A required action: a new password (UPDATE_PASSWORD).
import { passwordHint } from '../../contract/password-rules.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Transact } from '../../db/transact.ts';
import { mustHold } from '../../domain/proof.ts';
import { errorId, html } from '../../http/html.ts';
import type { Complaint, StepPage } from '../authenticators/authenticator.ts';
import type { Credentials } from '../credentials/service.ts';
import { type Action, byPerson } from './action.ts';
import { provenBy } from './state.ts';

const PASSWORD_MAX = 512;
/** Of authenticators: what a new password proves from here on. */
const PASSWORD = 'username-password';

export function createNewPassword({
  credentials,
  transact,
  now,
}: {
  credentials: Pick<Credentials, 'hashPassword' | 'setPassword' | 'passwordContext' | 'newPasswordFaults'>;
  transact: Transact;
  now: () => Date;
}): Action {
  return {
    page: async ({ policy }, { complaint }) => passwordPage(policy, complaint),

    async take({ request, realm }, state, user, form) {
      const plain = form.password ?? '';
      const complain = (field: string, message: string) => ({ ...state, complaint: { field, message } });
      if (plain.length > PASSWORD_MAX) return complain('password', `Use at most ${PASSWORD_MAX} characters.`);
      const { email, same } = await credentials.passwordContext(realm, user.id, plain);
      const faults = await credentials.newPasswordFaults(realm, plain, { ...user, email });
      if (same && faults.length === 0) faults.push('must not be the old one');
      if (faults.length > 0) return complain('password', `The new password ${faults.join(', and ')}.`);
      if (plain !== form.repeated) return complain('repeated', 'The two passwords are not the same.');
      const phc = await credentials.hashPassword(plain);
      const keep = state.session && { sessionId: state.session.id };
      const set = await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, provenBy(state, user, now()));
        return credentials.setPassword(tx, byPerson(request, user), realm, user, { phc, temporary: false, keep });
      });
      return { ...state, complaint: undefined, credentials: { ...state.credentials, [PASSWORD]: set } };
    },
  };
}

function passwordPage(policy: RealmSettingsDto, complaint: Complaint | undefined): StepPage {
  const bad = (field: string) =>
    complaint?.field === field && html` aria-invalid="true" aria-describedby="${errorId(field)}"`;
  return {
    title: 'Choose a new password',
    plain: true,
    submit: 'Save and continue',
    body: html`<p class="lead">Your password has to be changed before you go on.</p>
<div class="field">
<label for="password">New password</label>
<input type="password" id="password" name="password" autocomplete="new-password" maxlength="${PASSWORD_MAX}"
 required${complaint?.field === 'repeated' ? false : html` autofocus`}${bad('password') || html` aria-describedby="password-hint"`}>
<p class="hint" id="password-hint">${passwordHint(policy)}</p>
</div>
<div class="field">
<label for="repeated">New password again</label>
<input type="password" id="repeated" name="repeated" autocomplete="new-password" maxlength="${PASSWORD_MAX}"
 required${complaint?.field === 'repeated' && html` autofocus`}${bad('repeated')}>
</div>`,
  };
}
