// Binds the route of contract/keycloak.ts, which reads its body as a stream and streams users' changes.
import type { FastifyInstance } from 'fastify';
import { importKeycloak } from '../../../../contract/keycloak.ts';
import { principalOf } from '../../../../domain/principal.ts';
import { bind } from '../../../../http/bind.ts';
import { bodyOf, sendPlan, tagOf, untilClosed } from '../routes.ts';
import type { KeycloakImport } from './service.ts';

export function keycloakRoutes(app: FastifyInstance, imports: KeycloakImport): void {
  // This scope has its own parser: the service gets the body as a stream.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', (_request, payload, done) => done(null, payload));
    bind(
      scope,
      importKeycloak,
      async ({ params, query: { from, ...query }, by, request, reply }) => {
        const body = bodyOf(request);
        try {
          const { plan, users, ...notes } = await imports({
            principal: principalOf(request),
            by,
            realm: params.realm,
            body: body.iterator({ destroyOnReturn: false }),
            query,
            from,
            ifMatch: request.headers['if-match'],
            signal: untilClosed(reply),
          });
          void reply.header('etag', tagOf(plan.revision));
          return users ? sendPlan(reply, { ...plan, ...notes }, users) : { ...plan, ...notes };
        } catch (error) {
          // The rest of the body is read and dropped, so that the answer reaches the client.
          body.resume();
          throw error;
        }
      },
      { streams: true },
    );
  });
}
