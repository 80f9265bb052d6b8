// POST /realms/{realm}/agent/delegation/token: a token endpoint of its own, with the same phases (features/protocol/token). RFC 8693.
import type { FastifyInstance } from 'fastify';
import { agentDelegationRoute } from '../../../contract/agents.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import { sendJson } from '../../../http/oauth.ts';
import { tokenRequestOf } from '../token/request.ts';
import type { TokenEndpoint } from '../token/service.ts';

export function agentDelegationRoutes(
  app: FastifyInstance,
  { endpoint, dpop }: { endpoint: TokenEndpoint; dpop: Pick<Dpop, 'nonce'> },
): void {
  app.route({
    ...agentDelegationRoute,
    handler: async (request, reply) => {
      const { json } = await endpoint.answer(tokenRequestOf(request, reply, dpop));
      return sendJson(reply.header('pragma', 'no-cache'), json);
    },
  });
}
