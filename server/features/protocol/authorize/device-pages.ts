// The pages of device authorization: entering the code, the question, and the result.
import { timeAgo } from '../../../http/ago.ts';
import { decisionForm } from '../../../http/decision-form.ts';
import { errorNote, invalidState } from '../../../http/field-errors.ts';
import { type Html, html } from '../../../http/pages.ts';
import { text, textHtml } from '../../../http/texts.ts';

export const codePage = ({
  realm,
  username,
  given,
  complaint,
  proof,
}: {
  realm: string;
  username: string;
  /** The code from the page's address. The user compares it with the device's; it proves nothing. */
  given: string;
  complaint: string | undefined;
  proof: string;
}): Html => html`<p class="lead">${textHtml('device.lead', { username: html`<strong>${username}</strong>` })}</p>
<form method="post" action="/realms/${realm}/device">
<div class="field"><label for="user_code">${text('device.code')}</label>
<input class="code" type="text" id="user_code" name="user_code" value="${given}" required autofocus autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20"${complaint !== undefined && invalidState('user_code')}>
${complaint !== undefined && errorNote('user_code', complaint)}
<p class="hint">${text('device.compare')}</p></div>
<input type="hidden" name="proof" value="${proof}">
<button>${text('device.goOn')}</button>
</form>`;

export function confirmPage({
  realm,
  application,
  username,
  userCode,
  ipAddress,
  createdAt,
  now,
  agreement,
  since,
  proof,
}: {
  realm: string;
  application: string;
  username: string;
  userCode: string;
  ipAddress: string;
  createdAt: Date;
  now: Date;
  /** The list of requested access; undefined: the user has consented before, or need not. */
  agreement: Html | undefined;
  since: number;
  proof: string;
}): Html {
  const when = html`<time datetime="${createdAt.toISOString()}">${timeAgo(createdAt.getTime(), now)}</time>`;
  return html`<p class="lead">${textHtml('device.asks', { application: html`<strong>${application}</strong>`, username: html`<strong>${username}</strong>` })}</p>
<dl>
<dt>${text('device.code')}</dt><dd>${userCode}</dd>
<dt>${text('device.from')}</dt><dd>${ipAddress}</dd>
<dt>${text('device.when')}</dt><dd>${when}</dd>
</dl>
${agreement}
<p class="note">${text('device.warning')}</p>
${decisionForm(`/realms/${realm}/device/decision`, { user_code: userCode, since, proof })}`;
}

export const saidPage = (said: string): Html => html`<p class="lead" role="status">${said}</p>`;
