// The form by which a user allows or denies a page's request.
import { type Html, html } from './pages.ts';
import { text } from './texts.ts';

/** The buttons allow and deny; the form also submits the fields. */
export const decisionForm = (
  action: string,
  fields: Readonly<Record<string, string | number>>,
): Html => html`<form method="post" action="${action}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}<div class="actions">
<button name="decision" value="allow">${text('consent.allow')}</button>
<button class="quiet" name="decision" value="deny">${text('consent.deny')}</button>
</div>
</form>`;
