// A required action: a new password (UPDATE_PASSWORD).
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { faultsOf } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { passwordFields } from '../../../http/password-fields.ts';
import { passwordScript } from '../../../http/password-script.ts';
import { text } from '../../../http/texts.ts';
import type { ChoosePassword } from '../../people/credentials/new-password.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { Complaint, RequiredStep, StepPage } from '../authenticators/authenticator.ts';

export interface NewPasswordDeps {
  credentials: Pick<Credentials, 'setPassword' | 'list'>;
  choosePassword: ChoosePassword;
  transact: Transact;
}

export function createNewPassword({ credentials, choosePassword, transact }: NewPasswordDeps): RequiredStep {
  return {
    action: 'UPDATE_PASSWORD',
    async begin({ realm, user, settings, wanted }, complaint) {
      const own = user ? await credentials.list(realm, user.id) : [];
      const isFirst = user !== undefined && !own.some(({ type }) => type === 'password');
      return passwordPage(settings, { wanted, isFirst }, complaint);
    },

    async verify(step, form) {
      const { realm, user, proven, sessionId } = step;
      if (!user || !proven) throw new Error('a password is somebody’s');
      const chosen = await choosePassword(realm, user, form);
      if (!chosen.ok) {
        const [first, ...others] = chosen.faults;
        return { do: 'again', complaint: { ...first, others }, reason: '' };
      }
      const { phc, replaces: old } = chosen;
      const keep = sessionId === undefined ? undefined : { sessionId };
      const now = await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, proven);
        return credentials.setPassword(tx, step.byThem, realm, user, { phc, temporary: false, keep });
      });
      return { do: 'done', renewed: old === undefined ? undefined : { old, now } };
    },
  };
}

const passwordPage = (
  policy: RealmSettingsDto,
  { wanted, isFirst }: { wanted: boolean; isFirst: boolean },
  complaint: Complaint | undefined,
): StepPage => ({
  title: text(isFirst ? 'register.passwordTitle' : 'newPassword.title'),
  plain: true,
  script: passwordScript,
  submit: text('newPassword.submit'),
  body: html`${(wanted || !isFirst) && html`<p class="lead">${text(wanted ? 'newPassword.wanted' : 'newPassword.lead')}</p>`}
${passwordFields(policy, { isFirst, faults: faultsOf(complaint, complaint?.others) })}`,
});
