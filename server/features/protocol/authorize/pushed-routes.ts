// POST /realms/{realm}/oauth2/par.
import type { FastifyInstance } from 'fastify';
import { pushRoute } from '../../../contract/oauth.ts';
import type { Dpop } from '../../../domain/dpop.ts';
import { realmOf, sendJson } from '../../../http/oauth.ts';
import { dpopOf } from '../../../http/presented-token.ts';
import { rulesOfProofs } from '../../configuration/clients/profile.ts';
import { answerClient, type ClientEndpoint } from './client-endpoint.ts';
import type { Pushed } from './pushed.ts';

export function pushedRoutes(
  app: FastifyInstance,
  { pushed, dpop, ...endpoint }: ClientEndpoint & { pushed: Pick<Pushed, 'push'>; dpop: Pick<Dpop, 'check' | 'nonce'> },
): void {
  endpoint.cors.preflight(app, pushRoute.url);
  app.route({
    ...pushRoute,
    handler: async (request, reply) => {
      await endpoint.cors.allow(request, reply);
      const proof = dpopOf(request);
      if (proof) void reply.header('dpop-nonce', dpop.nonce(realmOf(request)));
      const tooMany = 'Too many requests were pushed from this address';
      return answerClient(endpoint, { request, reply, tooMany }, async ({ by, realm, client, form }) => {
        const jkt = proof && (await dpop.check(realm, proof, rulesOfProofs(client)));
        const { uri, expiresIn } = await pushed.push(by, realm, client, { form, jkt });
        return sendJson(reply.code(201), JSON.stringify({ request_uri: uri, expires_in: expiresIn }));
      });
    },
  });
}
