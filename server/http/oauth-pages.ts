// OAuth errors at the endpoints that people's browsers visit: a page with the same information, never a redirect.
// Decisions "Errors": browser endpoints show a page with the same information.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { logRefusal, oauthErrorOf, realmOf } from './oauth.ts';
import { type Brand, html, sendPage, sentence } from './pages.ts';

/** Fastify's error handler of the protocol's pages. */
export const oauthPageErrors =
  (brandOf: (realm: string) => Promise<Brand | undefined>) =>
  async (thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const error = oauthErrorOf(thrown);
    logRefusal(request, error);
    if (error.retryAfterSeconds !== undefined) void reply.header('retry-after', String(error.retryAfterSeconds));
    const realm = realmOf(request);
    const brand = error.error === 'not_found' ? undefined : await brandOf(realm).catch(() => undefined);
    const body = html`<p role="alert">${sentence(error.description ?? 'Something went wrong here. Try again shortly')}</p>
<p>Go back to the application that you came from. If this happens again, tell its owner: <code>${error.error}</code>.</p>`;
    const title = error.status >= 500 ? 'That did not work' : 'This request cannot go on';
    return sendPage(reply, { realm, brand, title, body }, { status: error.status === 403 ? 400 : error.status });
  };
