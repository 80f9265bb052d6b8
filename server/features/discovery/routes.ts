// GET discovery (both forms) and JWKS. Public, so readable from any origin (no cookie, nothing of anybody's).
// Everybody asks for them all the time, so what is ready is answered before anything else of a request is looked at.
import type { FastifyInstance, FastifySchema } from 'fastify';
import { discoveryRoute, jwksRoute, serverMetadataRoute } from '../../contract/oauth.ts';
import { realmOf } from '../../http/oauth.ts';
import type { Discovery } from './service.ts';

/** Verifiers must read live keys (specification 5, rule 4). */
const HEADERS = {
  'cache-control': 'no-cache',
  'content-type': 'application/json; charset=utf-8',
  'access-control-allow-origin': '*',
};

interface Document {
  read(realm: string): Promise<string>;
  ready(realm: string): string | undefined;
}

/** @param guard the checks of the protocol endpoints, for what isn't ready: only a realm that passed them gets ready */
export function discoveryRoutes(
  app: FastifyInstance,
  { document, jwks }: Discovery,
  guard: (scope: FastifyInstance) => void,
): void {
  const serve = (route: { method: 'GET'; url: string; schema: FastifySchema }, { ready, read }: Document) =>
    app.register(async (scope) => {
      scope.addHook('onRequest', (request, reply, next) => {
        const json = ready(realmOf(request));
        if (json === undefined) return next();
        const headers = { ...HEADERS, 'content-length': Buffer.byteLength(json) };
        reply.hijack().raw.writeHead(200, headers).end(json);
      });
      guard(scope);
      scope.route({
        ...route,
        handler: async (request, reply) => {
          const json = await read(realmOf(request));
          // of an answer, not of a failure
          void reply.headers(HEADERS);
          return json;
        },
      });
    });
  void serve(discoveryRoute, document);
  void serve(serverMetadataRoute, document);
  void serve(jwksRoute, jwks);
}
