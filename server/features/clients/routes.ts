// Mounts the routes that clients have beside those of every resource: their secrets.
import type { FastifyInstance } from 'fastify';
import * as api from '../../contract/clients.ts';
import { bind, principalOf } from '../../http/bind.ts';
import type { ResourceApi } from '../../resource/api.ts';
import type { Resource } from '../../resource/resource.ts';
import type { ClientSecrets } from './secrets.ts';

export function clientRoutes(
  app: FastifyInstance,
  { api: resources, clients, secrets }: { api: ResourceApi; clients: Resource; secrets: ClientSecrets },
): void {
  bind(app, api.getClientSecret, async ({ params: { realm, id } }) => {
    const { secretSet, previousSecretExpiresAt } = api.Client.parse(
      clients.toWire(realm, await resources.get(clients, realm, { id })),
    );
    return { secretSet, previousSecretExpiresAt };
  });
  bind(app, api.createClientSecret, ({ params, body, by, request }) =>
    secrets.make({ principal: principalOf(request), by }, params.realm, params.id, body ?? {}),
  );
}
