// The required action UPDATE_PROFILE: names and attributes that the realm lets users edit.
import { mustHold } from '../../../domain/proof.ts';
import { faultsOf } from '../../../http/field-errors.ts';
import { html } from '../../../http/html.ts';
import { faultSentence, type ProfileInput, profileFields, valuesIn, valuesOf } from '../../../http/profile-fields.ts';
import { text } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { OwnProfiles } from '../../people/users/own-profile.ts';
import type { Complaint, RequiredStep, StepMemory, StepPage } from '../authenticators/authenticator.ts';

type Values = Readonly<Record<string, readonly string[]>>;

export function createProfile({ profiles, notify }: { profiles: OwnProfiles; notify: Notify }): RequiredStep {
  return {
    action: 'UPDATE_PROFILE',
    async begin({ realm, user, wanted }, complaint) {
      const inputs = await profiles.inputs(realm);
      const person = user && (await profiles.read(realm, user.id));
      const filled = complaint?.values && valuesIn(inputs, complaint.values);
      const values = { ...(person && valuesOf(inputs, person)), ...filled };
      return profilePage(inputs, values, { complaint, wanted });
    },

    async verify(step, form) {
      const { realm, user, proven, byThem: by, wanted } = step;
      if (!user || !proven) throw new Error('a profile is somebody’s');
      const inputs = await profiles.inputs(realm);
      const again = (field: string, message: string) =>
        ({ do: 'again', complaint: { field, message, values: ofInputs(inputs, form) }, reason: '' }) as const;
      const values = valuesIn(inputs, form);
      const named = ['firstName', 'lastName'].filter((field) => inputs.some((input) => input.field === field));
      if (!wanted && named.length > 0 && named.every((field) => (values[field] ?? []).length === 0))
        return again(named[0] ?? '', text('profile.noName'));
      const changed = await profiles.change(
        realm,
        {
          by,
          userId: user.id,
          async beside(tx, fields) {
            await mustHold(tx.sql, realm, proven);
            if (wanted && fields.length > 0) await notify(tx, { realm, by, userId: user.id, what: 'profile-changed' });
          },
        },
        values,
      );
      if (changed.ok) return { do: 'done' };
      const others = changed.others?.map((one) => ({ field: one.path, message: faultSentence(one) }));
      const first = again(changed.path, faultSentence(changed));
      return { ...first, complaint: { ...first.complaint, others } };
    },
  };
}

/** Keeps only the fields of the page. */
const ofInputs = (inputs: readonly ProfileInput[], form: StepMemory): StepMemory =>
  Object.fromEntries(Object.entries(form).filter(([name]) => inputs.some(({ field }) => name.startsWith(field))));

const profilePage = (
  inputs: readonly ProfileInput[],
  values: Values,
  { complaint, wanted }: { complaint: Complaint | undefined; wanted: boolean },
): StepPage => ({
  title: text('profile.title'),
  submit: text('profile.submit'),
  body: html`<p class="lead">${wanted ? text('profile.wanted') : text('profile.lead')}</p>
${profileFields(inputs, values, { faults: faultsOf(complaint, complaint?.others), focus: complaint?.field ?? inputs[0]?.path })}`,
});
