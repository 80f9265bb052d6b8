// A required action: accepting the realm's terms (TERMS). Which terms they were is in the audit log.

import type { Settings } from '../../contract/settings.ts';
import type { Transact } from '../../db/transact.ts';
import { mustHold } from '../../domain/proof.ts';
import { acceptTerms } from '../../domain/required-actions.ts';
import { html } from '../../http/html.ts';
import { text, textHtml } from '../../http/texts.ts';
import type { RequiredStep } from '../authenticators/authenticator.ts';

export function createTerms({ transact }: { transact: Transact }): RequiredStep {
  return {
    action: 'TERMS',
    begin: async ({ settings: { displayName, termsUrl, termsVersion } }) => ({
      title: text('terms.title'),
      submit: text('terms.submit'),
      body: html`<p class="lead">${textHtml('terms.lead', {
        terms:
          termsUrl === null
            ? text('terms.of', { realm: displayName })
            : html`<a href="${termsUrl}" target="_blank" rel="noopener noreferrer">${text('terms.of', { realm: displayName })}</a>`,
      })}</p>
${termsVersion !== null && html`<p class="hint">${text('terms.version', { version: termsVersion })}</p>`}
<input type="hidden" name="accepted" value="${termsOf({ termsUrl, termsVersion })}">`,
    }),

    async verify(step, form) {
      const { realm, user, proven } = step;
      if (!user || !proven) throw new Error('somebody accepts the terms');
      const { termsUrl, termsVersion } = step.settings;
      if (form.accepted !== termsOf(step.settings)) {
        const message = text('terms.changed');
        return { do: 'again', complaint: { field: 'form', message }, reason: '' };
      }
      await transact(realm, async (tx) => {
        await mustHold(tx.sql, realm, proven);
        await acceptTerms(tx.sql, realm, user.id, termsVersion);
        const by = step.byThem;
        tx.record({ type: 'TERMS_ACCEPTED', realm, by, subject: by.actor, data: { termsUrl, termsVersion } });
      });
      return { do: 'done' };
    },
  };
}

const termsOf = ({ termsUrl, termsVersion }: Pick<Settings, 'termsUrl' | 'termsVersion'>): string =>
  [termsVersion ?? '', termsUrl ?? ''].join(' ');
