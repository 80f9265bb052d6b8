// The pages of logout: the confirmation, and the end.
import { type Html, html, isolated } from '../../../http/html.ts';
import { hiddenFrames } from '../../../http/self-posting.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { ClientView } from '../../configuration/clients/view.ts';

/** The application that sent the user here. */
type NamedClient = Pick<ClientView, 'title' | 'homeUrl'>;

export function confirmPage({
  realm,
  client,
  username,
  request,
  proof,
}: {
  realm: string;
  client: NamedClient | undefined;
  username: string;
  request: string;
  proof: string;
}): Html {
  const asks = client && html` ${textHtml('logout.asked', { application: html`<strong>${client.title}</strong>` })}`;
  const stay = client?.homeUrl ?? `/realms/${realm}/account`;
  return html`<p class="lead">${textHtml('logout.lead', { username: html`<strong>${username}</strong>` })}${asks}</p>
<form method="post" action="/realms/${realm}/oauth2/logout/confirm">
<input type="hidden" name="request" value="${request}">
<input type="hidden" name="proof" value="${proof}">
<div class="actions"><button>${text('logout.signOut')}</button><a class="button quiet" href="${stay}">${text('logout.stay')}</a></div>
</form>`;
}

/** @param client the client whose application asked for the logout, if one did */
export const signedOutPage = ({
  realm,
  client,
  frames,
  next,
}: {
  realm: string;
  client: NamedClient | undefined;
  /** The addresses that the browser loads to notify applications. */
  frames: readonly string[];
  /** Where the browser continues, as the application wants. */
  next: string | undefined;
}): Html => html`
<p class="lead" role="status">${text('logout.close')}</p>
${hiddenFrames(frames)}
<div class="actions">${next !== undefined && html`<a class="button" id="next" href="${next}">${text('logout.goOn')}</a>`}${client?.homeUrl && html`<a class="button quiet" href="${client.homeUrl}">${textHtml('logout.goTo', { application: isolated(client.title) })}</a>`}
<a class="button quiet" href="/realms/${realm}/login?for=account">${text('logout.signInAgain')}</a></div>`;
