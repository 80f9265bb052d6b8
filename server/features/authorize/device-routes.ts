// POST /realms/{realm}/oauth2/device_authorization, and the pages of the person who types the code: /realms/{realm}/device.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { deviceAuthorizationRoute } from '../../contract/device-authorization.ts';
import { type Attempts, inRealm } from '../../domain/attempts.ts';
import type { Refusals } from '../../events/refusals.ts';
import type { Cors } from '../../http/cors.ts';
import { formOf, oauthErrorOf, paramsOf, realmOf, sendJson } from '../../http/oauth.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { ClientAuthentication } from '../client-authentication/service.ts';
import type { Finished } from '../sign-in/continuation.ts';
import { type Devices, devicePath, deviceResumePath } from './device.ts';

export function deviceRoutes(
  app: FastifyInstance,
  {
    authentication,
    devices,
    attempts,
    refusals,
    cors,
  }: {
    authentication: Pick<ClientAuthentication, 'authenticate'>;
    devices: Devices;
    /** Of clients that only name themselves. */
    attempts: Pick<Attempts, 'take'>;
    refusals: Pick<Refusals, 'record'>;
    cors: Cors;
  },
): void {
  cors.preflight(app, deviceAuthorizationRoute.url);
  app.route({
    ...deviceAuthorizationRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      await cors.allow(request, reply);
      const form = formOf(request);
      const { client, confidential } = await authentication.authenticate({
        realm,
        authorization: request.headers.authorization,
        form,
        address: request.ip,
      });
      cors.restrict(request, reply, client);
      const retryAfterSeconds = confidential ? undefined : attempts.take(inRealm(realm, request.ip));
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many devices were begun from this address', { retryAfterSeconds });
      const by = { actor: { type: 'client', id: client.id, name: client.clientId }, ipAddress: request.ip } as const;
      try {
        return sendJson(reply, JSON.stringify(await devices.start(by, realm, client, form)));
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

const Kept = z.object({ given: z.string().optional(), userCode: z.string().optional() });

export function devicePageRoutes(
  app: FastifyInstance,
  { devices, signIns }: { devices: Devices; signIns: Finished },
): void {
  const hidden = { schema: { hide: true } };
  const page = devicePath(':realm');
  app.get(page, hidden, (request, reply) => devices.open(request, reply, realmOf(request), paramsOf(request)));
  app.post(page, hidden, (request, reply) => devices.enter(request, reply, realmOf(request), formOf(request)));
  app.post(`${page}/decision`, hidden, (request, reply) =>
    devices.decide(request, reply, realmOf(request), formOf(request)),
  );
  app.get(deviceResumePath(':realm'), hidden, async (request, reply) => {
    const realm = realmOf(request);
    const finished = await signIns.take(reply, request, realm, deviceResumePath(realm));
    const kept = Kept.safeParse(finished?.request);
    // Again by the page's own address, which begins anew where nobody is signed in.
    if (!finished || !kept.success) return reply.redirect(devicePath(realm), 303);
    return devices.resume(request, reply, realm, kept.data, finished.done);
  });
}
