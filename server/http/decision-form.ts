// The form by which a person allows or denies what a page asks of them.
import { type Html, html } from './pages.ts';
import { text } from './texts.ts';

/** Allow or deny; the answer brings the fields back. */
export const decisionForm = (
  action: string,
  fields: Readonly<Record<string, string | number>>,
): Html => html`<form method="post" action="${action}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}<div class="actions">
<button name="decision" value="allow">${text('consent.allow')}</button>
<button class="quiet" name="decision" value="deny">${text('consent.deny')}</button>
</div>
</form>`;
