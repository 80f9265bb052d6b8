// A required action: first and last name (UPDATE_PROFILE).
import { text as textOf } from '../../contract/names.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import { mustHold } from '../../domain/proof.ts';
import { type ProfileData, profileFaults, readProfile } from '../../domain/user-profile.ts';
import { changedFields } from '../../http/changed-fields.ts';
import { errorId, html } from '../../http/html.ts';
import { text } from '../../http/texts.ts';
import type { RequiredStep, StepPage } from '../authenticators/authenticator.ts';
import * as store from './store.ts';

const MOST = 255;
const Name = textOf(MOST);
const inputs = [
  { field: 'firstName', label: text('profile.firstName'), autocomplete: 'given-name' },
  { field: 'lastName', label: text('profile.lastName'), autocomplete: 'family-name' },
];

export function createProfile({ sql, transact }: { sql: Sql; transact: Transact }): RequiredStep {
  /** What the realm's profile has against the names that somebody gives themselves. */
  async function unfitNames(realm: string, userId: string, names: Pick<ProfileData, 'firstName' | 'lastName'>) {
    const rest = { username: '', email: null, attributes: {}, firstName: null, lastName: null };
    const change = {
      by: 'user',
      before: { ...rest, ...(await store.names(sql, realm, userId)) },
      after: { ...rest, ...names },
    } as const;
    const profile = await readProfile(sql, realm);
    const missing = profile.attributes.filter(
      ({ name, required }) => name in names && required.includes('user') && !Reflect.get(names, name),
    );
    const [first] = [
      ...profileFaults(profile, change).filter(({ path }) => path in names),
      ...missing.map(({ name }) => ({ path: name, message: 'is required' })),
    ];
    return first;
  }

  return {
    action: 'UPDATE_PROFILE',
    async begin({ realm, user }, complaint) {
      const names = complaint?.values ?? (user && (await store.names(sql, realm, user.id)));
      return profilePage(new Map(Object.entries(names ?? {})), complaint?.field);
    },

    async verify(step, form) {
      const { realm, user, proven } = step;
      if (!user || !proven) throw new Error('a profile is somebody’s');
      const values = { firstName: (form.firstName ?? '').trim(), lastName: (form.lastName ?? '').trim() };
      const again = (field: string, message: string) =>
        ({ do: 'again', complaint: { field, message, values }, reason: '' }) as const;
      for (const [field, value] of Object.entries(values))
        if (!Name.safeParse(value).success) return again(field, text('profile.tooLong', { most: MOST }));
      if (values.firstName === '' && values.lastName === '') return again('firstName', text('profile.noName'));
      const after = { firstName: values.firstName || null, lastName: values.lastName || null };
      const unfit = await unfitNames(realm, user.id, after);
      if (unfit) return again(unfit.path, `This ${unfit.message}.`);
      await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, proven);
        const before = await store.names(tx.sql, realm, user.id);
        await store.setNames(tx.sql, realm, user.id, after);
        await store.dropRequiredAction(tx.sql, realm, user.id, 'UPDATE_PROFILE');
        const by = step.byThem;
        const fields = [...changedFields(before ?? {}, after), 'requiredActions'];
        tx.record({ type: 'USER_UPDATED', realm, by, subject: by.actor, data: { fields } });
      });
      return { do: 'done' };
    },
  };
}

const profilePage = (names: ReadonlyMap<string, string | null>, wrong: string | undefined): StepPage => ({
  title: text('profile.title'),
  submit: text('profile.submit'),
  body: html`<p class="lead">${text('profile.lead')}</p>
${inputs.map(
  ({ field, label, autocomplete }) => html`<div class="field">
<label for="${field}">${label}</label>
<input type="text" id="${field}" name="${field}" value="${names.get(field)}" maxlength="${MOST}" autocomplete="${autocomplete}"${
    field === (wrong ?? 'firstName') && html` autofocus`
  }${wrong === field && html` aria-invalid="true" aria-describedby="${errorId(field)}"`}>
</div>`,
)}`,
});
