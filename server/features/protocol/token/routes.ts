// POST /realms/{realm}/oauth2/token.
import type { FastifyInstance } from 'fastify';
import { tokenRoute } from '../../../contract/oauth.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import { certificateOf } from '../../../http/client-certificate.ts';
import type { Cors } from '../../../http/cors.ts';
import { formOf, realmOf, sendJson } from '../../../http/oauth.ts';
import { dpopOf } from '../../../http/presented-token.ts';
import type { TokenEndpoint } from './service.ts';

export function tokenRoutes(
  app: FastifyInstance,
  { endpoint, dpop, cors }: { endpoint: TokenEndpoint; dpop: Pick<Dpop, 'nonce'>; cors: Cors },
): void {
  cors.preflight(app, tokenRoute.url);
  app.route({
    ...tokenRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      await cors.allow(request, reply);
      const proof = dpopOf(request);
      if (proof) void reply.header('dpop-nonce', dpop.nonce(realm));
      const { json, client } = await endpoint.answer({
        realm,
        authorization: request.headers.authorization,
        form: formOf(request),
        ipAddress: request.ip,
        dpop: proof,
        certificate: certificateOf(request),
      });
      cors.restrict(request, reply, client);
      return sendJson(reply.header('pragma', 'no-cache'), json);
    },
  });
}
