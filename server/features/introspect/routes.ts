// POST /realms/{realm}/oauth2/introspect: for confidential clients.
import type { FastifyInstance } from 'fastify';
import { introspectRoute } from '../../contract/oauth.ts';
import { formOf, realmOf, sendJson } from '../../http/oauth.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { ClientAuthentication } from '../client-authentication/service.ts';
import type { Introspection } from './service.ts';

export function introspectRoutes(
  app: FastifyInstance,
  {
    authentication,
    introspection,
  }: { authentication: Pick<ClientAuthentication, 'authenticate'>; introspection: Introspection },
): void {
  app.route({
    ...introspectRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      const form = formOf(request);
      const { client, confidential } = await authentication.authenticate({
        realm,
        authorization: request.headers.authorization,
        form,
        address: request.ip,
      });
      // Whoever could ask without proof could try tokens out (RFC 7662 §2.1).
      if (!confidential) throw new OAuthError('invalid_client', 'The client could not be authenticated');
      const token = form.get('token');
      if (token === undefined) throw new OAuthError('invalid_request', 'token is missing');
      return sendJson(reply, JSON.stringify(await introspection.of(realm, client, token)));
    },
  });
}
