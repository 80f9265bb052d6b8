// OAuth errors at the endpoints that users' browsers visit: a page, never a redirect. It has words and a way back for
// the user. The error's code and the faulty part of the request are for developers, in a closed section. Decisions
// "Errors": browser endpoints show a page with the same information.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isolated } from './html.ts';
import { logRefusal, oauthErrorOf, realmOf } from './oauth.ts';
import type { OAuthError } from './oauth-error.ts';
import { type Brand, type Html, html, sendPage, sentence } from './pages.ts';
import { text, textHtml, translated } from './texts.ts';

/** Describes the error to a user, without terms of the protocol. */
function sentenceOf({ page, error, status, words }: OAuthError): string {
  if (page.told !== undefined) return page.told;
  if (error === 'not_found') return text('error.nothingHere');
  if (status >= 500) return text('error.ours');
  if (error !== 'slow_down') return text('error.badRequest');
  return sentence(words === undefined ? text('said.tooMany') : translated(words));
}

function wayBack({ page: { back }, error, status }: OAuthError, request: FastifyRequest): Html {
  if (error === 'not_found') return html`<p>${text('error.checkLink')}</p>`;
  const retry = (status >= 500 || error === 'slow_down') && request.method === 'GET';
  const go = (to: string, words: Html | string) =>
    html`<div class="actions"><a class="button" href="${to}">${words}</a></div>`;
  if (retry) return go(request.url, text('error.tryAgain'));
  const again = html`<p>${textHtml('error.startAgainThere', { application: back ? isolated(back.title) : text('error.theApplication') })}</p>`;
  if (back?.homeUrl)
    return html`${again}${go(back.homeUrl, textHtml('error.goTo', { application: isolated(back.title) }))}`;
  return html`${again}${go(`/realms/${realmOf(request)}/account`, text('error.goToAccount'))}`;
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
    const body = html`<p role="alert">${sentenceOf(error)}</p>
${wayBack(error, request)}
<details><summary>${text('error.forDevelopers')}</summary>
<p lang="en" dir="ltr"><code>${error.error}</code>${error.description !== undefined && html`: ${sentence(error.description)}`}</p></details>`;
    const title = error.status >= 500 ? text('error.failed') : text('error.refused');
    return sendPage(reply, { realm, brand, title, body }, { status: error.status === 403 ? 400 : error.status });
  };
