// The exchange of a workload's token for one of this server: a token endpoint of its own, with the same phases
// (features/protocol/token). RFC 8693.
import type { FastifyInstance } from 'fastify';
import { workloadTokenRoute } from '../../../contract/workload-identity.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { certificateOf } from '../../../http/client-certificate.ts';
import { formOf, realmOf, sendJson } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { dpopOf } from '../../../http/presented-token.ts';
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
      const proof = dpopOf(request);
      if (proof) void reply.header('dpop-nonce', dpop.nonce(realm));
      const { json } = await endpoint.answer({
        realm,
        authorization: undefined,
        form: formOf(request),
        ipAddress: request.ip,
        dpop: proof,
        certificate: certificateOf(request),
      });
      return sendJson(reply, json);
    },
  });
}
