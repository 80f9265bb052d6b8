// POST /realms/{realm}/oauth2/token.
import type { FastifyInstance } from 'fastify';
import { tokenRoute } from '../../../contract/oauth.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import type { Cors } from '../../../http/cors.ts';
import { sendJson } from '../../../http/oauth.ts';
import { tokenRequestOf } from './request.ts';
import type { TokenEndpoint } from './service.ts';

export function tokenRoutes(
  app: FastifyInstance,
  { endpoint, dpop, cors }: { endpoint: TokenEndpoint; dpop: Pick<Dpop, 'nonce'>; cors: Cors },
): void {
  cors.preflight(app, tokenRoute.url);
  app.route({
    ...tokenRoute,
    handler: async (request, reply) => {
      await cors.allow(request, reply);
      const { json, client } = await endpoint.answer(tokenRequestOf(request, reply, dpop));
      cors.restrict(request, reply, client);
      return sendJson(reply.header('pragma', 'no-cache'), json);
    },
  });
}
