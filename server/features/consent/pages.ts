// The consent page: who asks, for what, as whom. Which of the buttons was pressed is in the form's `decision`.
import type { ScopeView } from '../../domain/claims.ts';
import { type Html, html } from '../../http/pages.ts';

export function consentPage({
  realm,
  application,
  username,
  scopes,
  openid,
  administers,
  request,
  since,
  proof,
}: {
  realm: string;
  application: string;
  username: string;
  scopes: readonly ScopeView[];
  openid: boolean;
  administers: boolean;
  request: string;
  /** From when on what the session has proven counts for it. */
  since: number;
  proof: string;
}): Html {
  const asked = [
    ...(administers
      ? [
          html`<li><span><strong>Administer this server with all the rights that you have</strong><br>A program on this computer asks for it: allow it only if you have just started a sign-in yourself.</span></li>`,
        ]
      : []),
    ...(openid ? [html`<li>Know who you are</li>`] : []),
    ...scopes.map(({ name, description }) => html`<li>${description ?? name}</li>`),
  ];
  return html`<p class="lead"><strong>${application}</strong> asks for access to your account <strong>${username}</strong>:</p>
<ul class="rows">${asked}</ul>
<form method="post" action="/realms/${realm}/oauth2/consent">
<input type="hidden" name="request" value="${request}">
<input type="hidden" name="since" value="${since}">
<input type="hidden" name="proof" value="${proof}">
<div class="actions">
<button name="decision" value="allow">Allow</button>
<button class="quiet" name="decision" value="deny">Cancel</button>
</div>
</form>`;
}
