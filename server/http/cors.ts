// CORS of the protocol endpoints, by the web origins of the realm's clients. Never with cookies. A preflight names no
// client, so the origin of any client passes it; only the origins of the request's own client can then read the
// response. Decisions "Client".
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { realmOf } from './oauth.ts';
import { isOriginOf } from './web-origin.ts';

export interface CorsOptions {
  /** The web origins of the realm's enabled clients. */
  overview(realm: string): Promise<{ origins: ReadonlySet<string> }>;
}

const MAX_AGE = '600';
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const MOST_HEADERS = 50;

/**
 * The headers that a page may send: those that the endpoints read, and those that its libraries add (`traceparent`,
 * `X-Requested-With`). No cookie is ever sent along, so no header gives a page of another origin anything.
 */
function allowedHeaders({ headers }: Pick<FastifyRequest, 'headers'>): string {
  const known = ['Authorization', 'Content-Type', 'DPoP'];
  const asked = (headers['access-control-request-headers'] ?? '').split(',', MOST_HEADERS).map((name) => name.trim());
  const isNew = (name: string) => !known.some((one) => one.toLowerCase() === name.toLowerCase());
  return [...known, ...new Set(asked.filter((name) => HEADER_NAME.test(name) && isNew(name)))].join(', ');
}

/** Answers the preflight of an address that every origin may read. */
export function preflightForAll(app: FastifyInstance, url: string): void {
  app.options(url, { schema: { hide: true } }, (request, reply) =>
    reply
      .headers({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': allowedHeaders(request),
        'access-control-max-age': MAX_AGE,
      })
      .code(204)
      .send(),
  );
}

export function createCors({ overview }: CorsOptions) {
  async function allow(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { origin } = request.headers;
    if (origin === undefined) return false;
    void reply.header('vary', 'Origin');
    if (!isOriginOf((await overview(realmOf(request))).origins, origin)) return false;
    void reply.header('access-control-allow-origin', origin);
    void reply.header('access-control-expose-headers', 'WWW-Authenticate, DPoP-Nonce');
    return true;
  }
  return {
    allow,

    /** Removes the header if the request's client, which is known by now, doesn't have this origin. */
    restrict(request: FastifyRequest, reply: FastifyReply, client: { webOrigins: ReadonlySet<string> }): void {
      const { origin } = request.headers;
      if (origin !== undefined && !isOriginOf(client.webOrigins, origin))
        reply.removeHeader('access-control-allow-origin');
    },

    /** Answers the preflight of one address. */
    preflight(app: FastifyInstance, url: string): void {
      app.options(url, { schema: { hide: true } }, async (request, reply) => {
        if (await allow(request, reply)) {
          void reply
            .header('access-control-allow-methods', 'GET, POST')
            .header('access-control-allow-headers', allowedHeaders(request))
            .header('access-control-max-age', MAX_AGE);
        }
        return reply.code(204).send();
      });
    },
  };
}
export type Cors = ReturnType<typeof createCors>;
