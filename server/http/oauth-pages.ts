// OAuth errors at the endpoints that people's browsers visit: a page, never a redirect. It has words and a way back for the
// person; what the error is called, and what of the request is wrong, is for developers and closed at first.
// Decisions "Errors": browser endpoints show a page with the same information.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { logRefusal, oauthErrorOf, realmOf } from './oauth.ts';
import type { OAuthError } from './oauth-error.ts';
import { type Brand, type Html, html, sendPage, sentence } from './pages.ts';

const SENT_WRONGLY = 'The application that sent you here asked for something in a way that is not valid.';

/** What happened, as a person needs to know it. */
function toldOf({ page, error, status, description }: OAuthError): string {
  if (page.told !== undefined) return page.told;
  if (error === 'not_found') return 'There is nothing at this address.';
  if (status >= 500) return 'Something went wrong here, and it is not your fault. Try again shortly.';
  return error === 'slow_down' ? sentence(description ?? 'Too many requests') : SENT_WRONGLY;
}

function wayBack({ page: { back }, error, status }: OAuthError, request: FastifyRequest): Html {
  if (error === 'not_found') return html`<p>Check the link that brought you here.</p>`;
  const retry = (status >= 500 || error === 'slow_down') && request.method === 'GET';
  const go = (to: string, words: string) =>
    html`<div class="actions"><a class="button" href="${to}">${words}</a></div>`;
  if (retry) return go(request.url, 'Try again');
  const again = html`<p>Go back to ${back?.title ?? 'the application'} and start again there. If this happens once more, tell the
people who run it.</p>`;
  if (back?.homeUrl) return html`${again}${go(back.homeUrl, `Go to ${back.title}`)}`;
  return html`${again}${go(`/realms/${realmOf(request)}/account`, 'Go to your account')}`;
}

/** Fastify's error handler of the protocol's pages. */
export const oauthPageErrors =
  (brandOf: (realm: string) => Promise<Brand | undefined>) =>
  async (thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const error = oauthErrorOf(thrown);
    logRefusal(request, error);
    if (error.retryAfterSeconds !== undefined) void reply.header('retry-after', String(error.retryAfterSeconds));
    const realm = realmOf(request);
    const brand = error.error === 'not_found' ? undefined : await brandOf(realm).catch(() => undefined);
    const body = html`<p role="alert">${toldOf(error)}</p>
${wayBack(error, request)}
<details><summary>For developers</summary>
<p><code>${error.error}</code>${error.description !== undefined && html`: ${sentence(error.description)}`}</p></details>`;
    const title = error.status >= 500 ? 'That did not work' : 'This request cannot go on';
    return sendPage(reply, { realm, brand, title, body }, { status: error.status === 403 ? 400 : error.status });
  };
