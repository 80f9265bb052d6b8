// The pages of logout: the question, and the end.
import { type Html, html } from '../../http/pages.ts';
import type { ClientView } from '../clients/view.ts';

/** The application that sent somebody here. */
type Asking = Pick<ClientView, 'title' | 'homeUrl'>;

export function confirmPage({
  realm,
  client,
  username,
  request,
  proof,
}: {
  realm: string;
  client: Asking | undefined;
  username: string;
  request: string;
  proof: string;
}): Html {
  const asks = client && html` <strong>${client.title}</strong> asks for it.`;
  const stay = client?.homeUrl ?? `/realms/${realm}/account`;
  return html`<p class="lead">You are signed in as <strong>${username}</strong>. Do you want to sign out?${asks}</p>
<form method="post" action="/realms/${realm}/oauth2/logout/confirm">
<input type="hidden" name="request" value="${request}">
<input type="hidden" name="proof" value="${proof}">
<div class="actions"><button>Sign out</button><a class="button quiet" href="${stay}">Stay signed in</a></div>
</form>`;
}

/** @param client whose application asked, where one did */
export const signedOutPage = ({ realm, client }: { realm: string; client: Asking | undefined }): Html => html`
<p class="lead" role="status">You can close this page.</p>
<div class="actions">${client?.homeUrl && html`<a class="button quiet" href="${client.homeUrl}">Go to ${client.title}</a>`}
<a class="button quiet" href="/realms/${realm}/login?for=account">Sign in again</a></div>`;
