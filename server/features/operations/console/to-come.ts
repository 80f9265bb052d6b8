// The page in place of the console while its files are not there yet. A server that runs from its source builds them at the
// first request. The page reloads itself by a header, so it needs no script.
import type { FastifyReply } from 'fastify';
import { html, sendPage } from '../../../http/pages.ts';

const RELOAD_SECONDS = 2;
/** In English, as the console is. */
const WORDS =
  'A server that runs from its source does this at the first request, and after each change of the source. ' +
  'It takes some seconds. This page reloads itself.';

export function sendConsoleToCome(reply: FastifyReply): void {
  void reply.header('retry-after', String(RELOAD_SECONDS)).header('refresh', String(RELOAD_SECONDS));
  const body = html`<p role="status">${WORDS}</p>`;
  sendPage(reply, { title: 'The console is being built…', body }, { status: 503 });
}
