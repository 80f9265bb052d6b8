// The required action TERMS: the user accepts the realm's terms. The audit log records which version.

import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { acceptTerms } from '../../../domain/required-actions.ts';
import { html } from '../../../http/html.ts';
import { areShown, shownTerms, termsLink } from '../../../http/terms.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { RequiredStep } from '../authenticators/authenticator.ts';

export function createTerms({ transact }: { transact: Transact }): RequiredStep {
  return {
    action: 'TERMS',
    begin: async ({ settings }) => ({
      title: text('terms.title'),
      submit: text('terms.submit'),
      body: html`<p class="lead">${textHtml('terms.lead', { terms: termsLink(settings) })}</p>
${settings.termsVersion !== null && html`<p class="hint">${text('terms.version', { version: settings.termsVersion })}</p>`}
${shownTerms(settings)}`,
    }),

    async verify(step, form) {
      const { realm, user, proven } = step;
      if (!user || !proven) throw new Error('somebody accepts the terms');
      const { termsUrl, termsVersion } = step.settings;
      if (!areShown(step.settings, form)) {
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
