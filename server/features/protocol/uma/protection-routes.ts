// Mounts the protection API (contract/uma.ts): JSON requests, OAuth's errors.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as api from '../../../contract/uma.ts';
import { acceptEmptyJson, jsonBodyOf } from '../../../http/json-body.ts';
import { realmOf, sendJson } from '../../../http/oauth.ts';
import { presentedBy } from '../../../http/presented-token.ts';
import type { Protection } from './protection.ts';

const idOf = ({ params }: FastifyRequest): string => String(Reflect.get(Object(params), 'id'));
const nameOf = ({ query }: FastifyRequest): string | undefined => {
  const { name } = Object(query);
  return typeof name === 'string' ? name : undefined;
};

export function protectionRoutes(
  app: FastifyInstance,
  { protection, baseUrl }: { protection: Protection; baseUrl: string },
): void {
  acceptEmptyJson(app);
  const entry = async (request: FastifyRequest) => {
    const realm = realmOf(request);
    return { realm, server: await protection.caller(realm, presentedBy(request)) };
  };
  const registered = (realm: string, _id: string) =>
    JSON.stringify({ _id, user_access_policy_uri: `${baseUrl}/realms/${realm}/account?view=applications#sharing` });

  app.route({
    ...api.listRegisteredRoute,
    handler: async (request, reply) => {
      const { realm, server } = await entry(request);
      return sendJson(reply, JSON.stringify(await protection.list(realm, server, nameOf(request))));
    },
  });
  app.route({
    ...api.registerResourceRoute,
    handler: async (request, reply) => {
      const { realm, server } = await entry(request);
      const id = await protection.register(realm, server, jsonBodyOf(request, api.ResourceDescription), request.ip);
      void reply.code(201).header('location', `${baseUrl}/realms/${realm}/authz/protection/resource_set/${id}`);
      return sendJson(reply, registered(realm, id));
    },
  });
  app.route({
    ...api.readRegisteredRoute,
    handler: async (request, reply) => {
      const { realm, server } = await entry(request);
      return sendJson(reply, JSON.stringify(await protection.read(realm, server, idOf(request))));
    },
  });
  app.route({
    ...api.updateRegisteredRoute,
    handler: async (request, reply) => {
      const { realm, server } = await entry(request);
      const id = idOf(request);
      await protection.update(realm, server, id, jsonBodyOf(request, api.ResourceDescription), request.ip);
      return sendJson(reply, registered(realm, id));
    },
  });
  app.route({
    ...api.deleteRegisteredRoute,
    handler: async (request, reply) => {
      const { realm, server } = await entry(request);
      await protection.remove(realm, server, idOf(request), request.ip);
      return reply.code(204).send();
    },
  });
  app.route({
    ...api.requestPermissionRoute,
    handler: async (request, reply) => {
      const { realm, server } = await entry(request);
      const ticket = await protection.ticket(realm, server, jsonBodyOf(request, api.PermissionRequest), request.ip);
      return sendJson(reply.code(201), JSON.stringify({ ticket }));
    },
  });
}
