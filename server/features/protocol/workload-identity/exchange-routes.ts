// The exchange of a workload's token for one of this server: a token endpoint of its own, with the same phases
// (features/protocol/token). RFC 8693.
import type { FastifyInstance } from 'fastify';
import { workloadTokenRoute } from '../../../contract/workload-identity.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { realmOf, sendJson } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { tokenRequestOf } from '../token/request.ts';
import type { TokenEndpoint } from '../token/service.ts';

export function workloadTokenRoutes(
  app: FastifyInstance,
  {
    endpoint,
    attempts,
    dpop,
  }: { endpoint: TokenEndpoint; attempts: Pick<RateLimit, 'take'>; dpop: Pick<Dpop, 'nonce'> },
): void {
  app.route({
    ...workloadTokenRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      const retryAfterSeconds = attempts.take(inRealm(realm, request.ip));
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many exchanges from this address', { retryAfterSeconds });
      void reply.header('pragma', 'no-cache');
      const asked = tokenRequestOf(request, reply, dpop);
      // The credential is in the form: no client authenticates here.
      const { json } = await endpoint.answer({ ...asked, authorization: undefined });
      return sendJson(reply, json);
    },
  });
}
