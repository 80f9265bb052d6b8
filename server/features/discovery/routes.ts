// GET discovery (both forms) and JWKS. Public, so readable from any origin (no cookie, nothing of anybody's).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { discoveryRoute, jwksRoute, serverMetadataRoute } from '../../contract/oauth.ts';
import { realmOf } from '../../http/oauth.ts';
import type { Discovery } from './service.ts';

/** Verifiers must read live keys (specification 5, rule 4). */
const send = (reply: FastifyReply, json: string): FastifyReply =>
  reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('access-control-allow-origin', '*')
    .send(json);

export function discoveryRoutes(app: FastifyInstance, discovery: Discovery): void {
  const document = async (request: FastifyRequest, reply: FastifyReply) =>
    send(reply, await discovery.document(realmOf(request)));
  app.route({ ...discoveryRoute, handler: document });
  app.route({ ...serverMetadataRoute, handler: document });
  app.route({ ...jwksRoute, handler: async (request, reply) => send(reply, await discovery.jwks(realmOf(request))) });
}
