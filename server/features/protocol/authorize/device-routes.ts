// POST /realms/{realm}/oauth2/device_authorization, and the pages on which the user enters the code:
// /realms/{realm}/device.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { deviceAuthorizationRoute } from '../../../contract/device-authorization.ts';
import { formOf, paramsOf, realmOf, sendJson } from '../../../http/oauth.ts';
import type { Finished } from '../../authentication/sign-in/continuation.ts';
import { answerClient, type ClientEndpoint } from './client-endpoint.ts';
import { type Devices, devicePath, deviceResumePath } from './device.ts';

export function deviceFlowRoutes(
  app: FastifyInstance,
  { devices, ...endpoint }: ClientEndpoint & { devices: Devices },
): void {
  endpoint.cors.preflight(app, deviceAuthorizationRoute.url);
  app.route({
    ...deviceAuthorizationRoute,
    handler: async (request, reply) => {
      await endpoint.cors.allow(request, reply);
      const tooMany = 'Too many devices were begun from this address';
      return answerClient(endpoint, { request, reply, tooMany }, async ({ by, realm, client, form }) =>
        sendJson(reply, JSON.stringify(await devices.start(by, realm, client, form))),
      );
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
    // Redirects to the page's own address, which starts again without a session.
    if (!finished || !kept.success) return reply.redirect(devicePath(realm), 303);
    return devices.resume(request, reply, realm, kept.data, finished.done);
  });
}
