// POST /realms/{realm}/oauth2/revoke.
import type { FastifyInstance } from 'fastify';
import { revokeRoute } from '../../../contract/oauth.ts';
import type { Cors } from '../../../http/cors.ts';
import { formOf, realmOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { clientRequestOf } from '../client-authentication/request.ts';
import type { ClientAuthentication } from '../client-authentication/service.ts';
import type { Revocation } from './service.ts';

export function revokeRoutes(
  app: FastifyInstance,
  {
    authentication,
    revocation,
    cors,
  }: { authentication: Pick<ClientAuthentication, 'authenticate'>; revocation: Revocation; cors: Cors },
): void {
  cors.preflight(app, revokeRoute.url);
  app.route({
    ...revokeRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      await cors.allow(request, reply);
      const form = formOf(request);
      const who = await authentication.authenticate(clientRequestOf(request, form));
      const { client } = who;
      cors.restrict(request, reply, client);
      const token = form.get('token');
      if (token === undefined) throw new OAuthError('invalid_request', 'token is missing');
      const actor = { type: 'client', id: client.id, name: client.clientId } as const;
      await revocation.revoke({ actor, ipAddress: request.ip }, realm, who, token);
      return reply.code(200).send();
    },
  });
}
