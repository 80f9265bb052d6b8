// POST /realms/{realm}/oauth2/par.
import type { FastifyInstance } from 'fastify';
import { pushRoute } from '../../contract/oauth.ts';
import { type Attempts, inRealm } from '../../domain/attempts.ts';
import type { Dpop } from '../../domain/dpop.ts';
import type { Refusals } from '../../events/refusals.ts';
import type { Cors } from '../../http/cors.ts';
import { formOf, oauthErrorOf, realmOf, sendJson } from '../../http/oauth.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import { dpopOf } from '../../http/presented-token.ts';
import type { ClientAuthentication } from '../client-authentication/service.ts';
import type { Pushed } from './pushed.ts';

export function pushedRoutes(
  app: FastifyInstance,
  {
    authentication,
    pushed,
    attempts,
    refusals,
    dpop,
    cors,
  }: {
    authentication: Pick<ClientAuthentication, 'authenticate'>;
    pushed: Pick<Pushed, 'push'>;
    /** Of clients that only name themselves. */
    attempts: Pick<Attempts, 'take'>;
    refusals: Pick<Refusals, 'record'>;
    dpop: Pick<Dpop, 'check' | 'nonce'>;
    cors: Cors;
  },
): void {
  cors.preflight(app, pushRoute.url);
  app.route({
    ...pushRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      await cors.allow(request, reply);
      const proof = dpopOf(request);
      if (proof) void reply.header('dpop-nonce', dpop.nonce(realm));
      const form = formOf(request);
      const { authorization } = request.headers;
      const { client, confidential } = await authentication.authenticate({
        realm,
        authorization,
        form,
        address: request.ip,
      });
      cors.restrict(request, reply, client);
      const retryAfterSeconds = confidential ? undefined : attempts.take(inRealm(realm, request.ip));
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many requests were pushed from this address', { retryAfterSeconds });
      const by = { actor: { type: 'client', id: client.id, name: client.clientId }, ipAddress: request.ip } as const;
      try {
        const jkt =
          proof && (await dpop.check(realm, proof, { nonce: client.dpopBoundAccessTokens ? 'needed' : 'checked' }));
        const { uri, expiresIn } = await pushed.push(by, realm, client, { form, jkt });
        return sendJson(reply.code(201), JSON.stringify({ request_uri: uri, expires_in: expiresIn }));
      } catch (thrown) {
        const { error, status, description } = oauthErrorOf(thrown);
        if (status < 500)
          refusals.record({
            type: 'AUTHORIZATION_REFUSED',
            realm,
            by,
            clientId: client.clientId,
            outcome: 'failure',
            data: { error, reason: description ?? null, redirectUri: null },
          });
        throw thrown;
      }
    },
  });
}
