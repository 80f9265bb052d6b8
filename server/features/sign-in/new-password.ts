// A required action: a new password (UPDATE_PASSWORD).
import { passwordHint } from '../../contract/password-rules.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Transact } from '../../db/transact.ts';
import { mustHold } from '../../domain/proof.ts';
import { errorId, html } from '../../http/html.ts';
import { text } from '../../http/texts.ts';
import type { Complaint, RequiredStep, StepPage } from '../authenticators/authenticator.ts';
import type { Credentials } from '../credentials/service.ts';

const PASSWORD_MAX = 512;

export function createNewPassword({
  credentials,
  transact,
}: {
  credentials: Pick<Credentials, 'hashPassword' | 'setPassword' | 'passwordContext' | 'newPasswordFaults'>;
  transact: Transact;
}): RequiredStep {
  return {
    action: 'UPDATE_PASSWORD',
    begin: async ({ settings }, complaint) => passwordPage(settings, complaint),

    async verify(step, form) {
      const { realm, user, proven, sessionId } = step;
      if (!user || !proven) throw new Error('a password is somebody’s');
      const plain = form.password ?? '';
      const again = (field: string, message: string) =>
        ({ do: 'again', complaint: { field, message }, reason: '' }) as const;
      if (plain.length > PASSWORD_MAX) return again('password', text('newPassword.tooLong', { most: PASSWORD_MAX }));
      const { email, same, credentialId: old } = await credentials.passwordContext(realm, user.id, plain);
      const faults = await credentials.newPasswordFaults(realm, plain, { ...user, email });
      if (same && faults.length === 0) faults.push(text('newPassword.same'));
      if (faults.length > 0)
        return again('password', text('newPassword.faults', { faults: faults.join(text('newPassword.and')) }));
      if (plain !== form.repeated) return again('repeated', text('newPassword.different'));
      const phc = await credentials.hashPassword(plain);
      const keep = sessionId === undefined ? undefined : { sessionId };
      const now = await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, proven);
        return credentials.setPassword(tx, step.byThem, realm, user, { phc, temporary: false, keep });
      });
      return { do: 'done', renewed: old === undefined ? undefined : { old, now } };
    },
  };
}

function passwordPage(policy: RealmSettingsDto, complaint: Complaint | undefined): StepPage {
  const bad = (field: string) =>
    complaint?.field === field && html` aria-invalid="true" aria-describedby="${errorId(field)}"`;
  return {
    title: text('newPassword.title'),
    plain: true,
    submit: text('newPassword.submit'),
    body: html`<p class="lead">${text('newPassword.lead')}</p>
<div class="field">
<label for="password">${text('newPassword.password')}</label>
<input type="password" id="password" name="password" autocomplete="new-password" maxlength="${PASSWORD_MAX}"
 required${complaint?.field === 'repeated' ? false : html` autofocus`}${bad('password') || html` aria-describedby="password-hint"`}>
<p class="hint" id="password-hint">${passwordHint(policy)}</p>
</div>
<div class="field">
<label for="repeated">${text('newPassword.repeated')}</label>
<input type="password" id="repeated" name="repeated" autocomplete="new-password" maxlength="${PASSWORD_MAX}"
 required${complaint?.field === 'repeated' && html` autofocus`}${bad('repeated')}>
</div>`,
  };
}
