// A required action: first and last name (UPDATE_PROFILE).
import { text } from '../../contract/names.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import { mustHold } from '../../domain/proof.ts';
import { changedFields } from '../../http/changed-fields.ts';
import { errorId, html } from '../../http/html.ts';
import type { StepPage } from '../authenticators/authenticator.ts';
import { type Action, byPerson } from './action.ts';
import { provenBy } from './state.ts';
import * as store from './store.ts';

const MOST = 255;
const Name = text(MOST);
const inputs = [
  { field: 'firstName', label: 'First name', autocomplete: 'given-name' },
  { field: 'lastName', label: 'Last name', autocomplete: 'family-name' },
];

export function createProfile({ sql, transact, now }: { sql: Sql; transact: Transact; now: () => Date }): Action {
  return {
    async page({ realm }, { complaint }, user) {
      const names = complaint?.values ?? (await store.names(sql, realm, user.id));
      return profilePage(new Map(Object.entries(names ?? {})), complaint?.field);
    },

    async take({ request, realm }, state, user, form) {
      const values = { firstName: (form.firstName ?? '').trim(), lastName: (form.lastName ?? '').trim() };
      const complain = (field: string, message: string) => ({ ...state, complaint: { field, message, values } });
      for (const [field, value] of Object.entries(values))
        if (!Name.safeParse(value).success) return complain(field, `Use at most ${MOST} characters.`);
      if (values.firstName === '' && values.lastName === '') return complain('firstName', 'Enter your name.');
      const after = { firstName: values.firstName || null, lastName: values.lastName || null };
      await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, provenBy(state, user, now()));
        const before = await store.names(tx.sql, realm, user.id);
        await store.setNames(tx.sql, realm, user.id, after);
        await store.dropRequiredAction(tx.sql, realm, user.id, 'UPDATE_PROFILE');
        const by = byPerson(request, user);
        const fields = [...changedFields(before ?? {}, after), 'requiredActions'];
        tx.record({ type: 'USER_UPDATED', realm, by, subject: by.actor, data: { fields } });
      });
      return { ...state, complaint: undefined };
    },
  };
}

const profilePage = (names: ReadonlyMap<string, string | null>, wrong: string | undefined): StepPage => ({
  title: 'Your profile',
  submit: 'Save and continue',
  body: html`<p class="lead">Check your name before you go on.</p>
${inputs.map(
  ({ field, label, autocomplete }) => html`<div class="field">
<label for="${field}">${label}</label>
<input type="text" id="${field}" name="${field}" value="${names.get(field)}" maxlength="${MOST}" autocomplete="${autocomplete}"${
    field === (wrong ?? 'firstName') && html` autofocus`
  }${wrong === field && html` aria-invalid="true" aria-describedby="${errorId(field)}"`}>
</div>`,
)}`,
});
