// Owns: serving the console's files below /admin/console: caching, compressed variants, deep links, the policy of its pages.
// Does not own: the console itself (console/), its data (the admin API), signing in (features/operations/admin-access/).
// Implements: decisions "Console"; loaded with the first request below /admin/console, so that a start does without it.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import serveStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { pathOf } from '../../../http/not-found.ts';
import { CONSOLE_PATH } from '../../../http/own-addresses.ts';
import { sendProblem } from '../../../http/problems.ts';

/** No inline script or style, no foreign address, no frame, and no text that becomes markup. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
};
const YEAR_SECONDS = 31_536_000;

export { consoleFolder } from './files.ts';

/** The files are public, and the same for everybody: no session is needed. */
export async function consoleRoutes(app: FastifyInstance, { folder }: { folder: string }): Promise<void> {
  const index = await readFile(path.join(folder, 'index.html'));
  app.addHook('onRequest', (_, reply, done) => {
    void reply.headers(HEADERS);
    done();
  });
  // the package refuses a folder, or a path that leads out of it, by a 403: like a file that is not there
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) =>
    error.statusCode === 403 ? reply.callNotFound() : sendProblem(error, request, reply),
  );
  await app.register(serveStatic, {
    root: path.join(folder, 'assets'),
    prefix: `${CONSOLE_PATH}/assets/`,
    preCompressed: true,
    index: false,
    // a file's name holds the hash of its content
    maxAge: YEAR_SECONDS * 1000,
    immutable: true,
    schemaHide: true,
    decorateReply: false,
  });
  app.get(CONSOLE_PATH, { schema: { hide: true } }, async (_, reply) => reply.redirect(`${CONSOLE_PATH}/`, 308));
  // an address of the console that isn't a file is a page of it, which its own router knows
  app.get(`${CONSOLE_PATH}/*`, { schema: { hide: true } }, async (request, reply) => {
    if (pathOf(request.url).startsWith(`${CONSOLE_PATH}/assets/`)) return reply.callNotFound();
    return reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(index);
  });
}
