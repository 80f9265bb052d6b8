// POST /realms/{realm}/oauth2/token.
import type { FastifyInstance } from 'fastify';
import { tokenRoute } from '../../contract/oauth.ts';
import type { Cors } from '../../http/cors.ts';
import { formOf, realmOf, sendJson } from '../../http/oauth.ts';
import type { TokenEndpoint } from './service.ts';

export function tokenRoutes(app: FastifyInstance, { endpoint, cors }: { endpoint: TokenEndpoint; cors: Cors }): void {
  cors.preflight(app, tokenRoute.url);
  app.route({
    ...tokenRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      await cors.allow(request, reply);
      const { json, client } = await endpoint.answer({
        realm,
        authorization: request.headers.authorization,
        form: formOf(request),
        ipAddress: request.ip,
      });
      cors.restrict(request, reply, client);
      return sendJson(reply.header('pragma', 'no-cache'), json);
    },
  });
}
