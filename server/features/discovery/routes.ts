// GET discovery (both forms) and JWKS. Public, so readable from any origin (no cookie, nothing of anybody's).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { discoveryRoute, jwksRoute, serverMetadataRoute } from '../../contract/oauth.ts';
import { realmOf } from '../../http/oauth.ts';
import type { Discovery } from './service.ts';

/** Verifiers must read live keys (specification 5, rule 4). */
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-cache',
  'access-control-allow-origin': '*',
};

export function discoveryRoutes(app: FastifyInstance, discovery: Discovery): void {
  /** The headers are those of an answer, not of a failure. */
  const answer =
    (read: (realm: string) => Promise<string>) =>
    (request: FastifyRequest, reply: FastifyReply): Promise<string> =>
      read(realmOf(request)).then((json) => {
        void reply.headers(HEADERS);
        return json;
      });
  const document = answer(discovery.document);
  app.route({ ...discoveryRoute, handler: document });
  app.route({ ...serverMetadataRoute, handler: document });
  app.route({ ...jwksRoute, handler: answer(discovery.jwks) });
}
