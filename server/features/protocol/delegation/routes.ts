// POST /realms/{realm}/agent/delegation/token: a token endpoint of its own, with the same phases (features/protocol/token). RFC 8693.
import type { FastifyInstance } from 'fastify';
import { agentDelegationRoute } from '../../../contract/agents.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import { certificateOf } from '../../../http/client-certificate.ts';
import { formOf, realmOf, sendJson } from '../../../http/oauth.ts';
import { dpopOf } from '../../../http/presented-token.ts';
import type { TokenEndpoint } from '../token/service.ts';

export function agentDelegationRoutes(
  app: FastifyInstance,
  { endpoint, dpop }: { endpoint: TokenEndpoint; dpop: Pick<Dpop, 'nonce'> },
): void {
  app.route({
    ...agentDelegationRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      const proof = dpopOf(request);
      if (proof) void reply.header('dpop-nonce', dpop.nonce(realm));
      const { json } = await endpoint.answer({
        realm,
        authorization: request.headers.authorization,
        form: formOf(request),
        ipAddress: request.ip,
        dpop: proof,
        certificate: certificateOf(request),
      });
      return sendJson(reply.header('pragma', 'no-cache'), json);
    },
  });
}
