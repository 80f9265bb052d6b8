// A required action: accepting the realm's terms (TERMS). Which terms they were is in the audit log.

import type { Transact } from '../../db/transact.ts';
import { mustHold } from '../../domain/proof.ts';
import { html } from '../../http/html.ts';
import { type Action, byPerson } from './action.ts';
import { provenBy } from './state.ts';
import * as store from './store.ts';

export function createTerms({ transact, now }: { transact: Transact; now: () => Date }): Action {
  return {
    page: async ({ policy: { displayName, termsUrl } }) => ({
      title: 'Terms of use',
      submit: 'Accept and continue',
      body: html`<p class="lead">To go on you have to accept ${
        termsUrl === null
          ? html`the terms of use of ${displayName}`
          : html`<a href="${termsUrl}" target="_blank" rel="noopener noreferrer">the terms of use of ${displayName}</a>`
      }.</p>
<input type="hidden" name="accepted" value="${termsUrl ?? ''}">`,
    }),

    async take({ request, realm, policy }, state, user, form) {
      const termsUrl = policy.termsUrl ?? '';
      if (form.accepted !== termsUrl)
        return {
          ...state,
          complaint: { field: 'form', message: 'The terms have changed meanwhile. Read them again.' },
        };
      await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, provenBy(state, user, now()));
        await store.dropRequiredAction(tx.sql, realm, user.id, 'TERMS');
        const by = byPerson(request, user);
        tx.record({ type: 'TERMS_ACCEPTED', realm, by, subject: by.actor, data: { termsUrl: policy.termsUrl } });
      });
      return { ...state, complaint: undefined };
    },
  };
}
