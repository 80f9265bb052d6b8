// The pages of logout: the question, and the end.
import { type Html, html } from '../../http/pages.ts';

export function confirmPage({
  realm,
  application,
  username,
  request,
  proof,
}: {
  realm: string;
  application: string | undefined;
  username: string;
  request: string;
  proof: string;
}): Html {
  const asks = application && html` <strong>${application}</strong> asks for it.`;
  return html`<p class="lead">You are signed in as <strong>${username}</strong>. Do you want to sign out?${asks}</p>
<form method="post" action="/realms/${realm}/oauth2/logout/confirm">
<input type="hidden" name="request" value="${request}">
<input type="hidden" name="proof" value="${proof}">
<div class="actions"><button>Sign out</button></div>
</form>`;
}

export const signedOutPage = (): Html => html`<p class="lead">You can close this page.</p>`;
