// CORS of the protocol endpoints, by the web origins of the realm's clients. Never with cookies. A preflight names no
// client, so the origin of any client passes it; only the origins of the request's own client can then read the
// response. Decisions "Client".
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { realmOf } from './oauth.ts';

export interface CorsOptions {
  /** The web origins of the realm's enabled clients. */
  overview(realm: string): Promise<{ origins: ReadonlySet<string> }>;
}

export function createCors({ overview }: CorsOptions) {
  async function allow(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { origin } = request.headers;
    if (origin === undefined) return false;
    void reply.header('vary', 'Origin');
    if (!(await overview(realmOf(request))).origins.has(origin)) return false;
    void reply.header('access-control-allow-origin', origin);
    void reply.header('access-control-expose-headers', 'WWW-Authenticate, DPoP-Nonce');
    return true;
  }
  return {
    allow,

    /** Removes the header if the request's client, which is known by now, doesn't have this origin. */
    restrict(request: FastifyRequest, reply: FastifyReply, client: { webOrigins: ReadonlySet<string> }): void {
      const { origin } = request.headers;
      if (origin !== undefined && !client.webOrigins.has(origin)) reply.removeHeader('access-control-allow-origin');
    },

    /** Answers the preflight of one address. */
    preflight(app: FastifyInstance, url: string): void {
      app.options(url, { schema: { hide: true } }, async (request, reply) => {
        if (await allow(request, reply)) {
          void reply
            .header('access-control-allow-methods', 'GET, POST')
            .header('access-control-allow-headers', 'Authorization, Content-Type, DPoP')
            .header('access-control-max-age', '600');
        }
        return reply.code(204).send();
      });
    },
  };
}
export type Cors = ReturnType<typeof createCors>;
