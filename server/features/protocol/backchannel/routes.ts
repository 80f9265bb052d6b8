// POST /realms/{realm}/oauth2/backchannel_authentication, and what devices call: /realms/{realm}/backchannel.
import type { FastifyInstance } from 'fastify';
import { backchannelRoute, decideBackchannel, listBackchannelQuestions } from '../../../contract/backchannel.ts';
import { bind } from '../../../http/bind.ts';
import { sendJson } from '../../../http/oauth.ts';
import { deviceOf } from '../../people/devices/surface.ts';
import { answerClient, type ClientEndpoint } from '../authorize/client-endpoint.ts';
import type { Backchannel } from './service.ts';

export function backchannelRoutes(
  app: FastifyInstance,
  { backchannel, ...endpoint }: ClientEndpoint & { backchannel: Pick<Backchannel, 'start'> },
): void {
  app.route({
    ...backchannelRoute,
    handler: async (request, reply) => {
      const tooMany = 'Too many people were asked from this address';
      return answerClient(endpoint, { request, reply, tooMany }, async ({ by, realm, client, form }) =>
        sendJson(reply, JSON.stringify(await backchannel.start(by, realm, client, form))),
      );
    },
  });
}

/** The routes of devices; their surface has authenticated the device. */
export function backchannelDeviceRoutes(app: FastifyInstance, backchannel: Pick<Backchannel, 'list' | 'decide'>): void {
  bind(app, listBackchannelQuestions, ({ params, request }) => backchannel.list(params.realm, deviceOf(request)));
  bind(app, decideBackchannel, async ({ params, by, request }) => {
    await backchannel.decide(by, params.realm, deviceOf(request), params.id);
    return undefined;
  });
}
