// Mounts the routes of clients beyond every resource's: secrets, service accounts, allowed resources.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/clients.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { ResourceApi } from '../../../resource/api.ts';
import type { Fields } from '../../../resource/part.ts';
import type { Resource } from '../../../resource/resource.ts';
import type { ClientSecrets } from './secrets.ts';
import { serviceAccountRolesPart as accounts, withoutRoles, withRoles } from './service-accounts.ts';

export function clientRoutes(
  app: FastifyInstance,
  { api: resources, clients, secrets }: { api: ResourceApi; clients: Resource; secrets: ClientSecrets },
): void {
  const read = async (realm: string, id: string) =>
    api.Client.parse(clients.toWire(realm, await resources.get(clients, realm, { id })));

  bind(app, api.getClientSecret, async ({ params: { realm, id } }) => {
    const { secretSet, previousSecretExpiresAt } = await read(realm, id);
    return { secretSet, previousSecretExpiresAt };
  });
  bind(app, api.createClientSecret, ({ params, body, by, request }) =>
    secrets.make({ principal: principalOf(request), by }, params.realm, params.id, body ?? {}),
  );

  const account = async (realm: string, id: string, fields: Fields) =>
    api.ServiceAccountRoles.parse({ clientId: (await read(realm, id)).clientId, ...fields });
  bind(app, api.getServiceAccountRoles, async ({ params: { realm, clientId: id } }) =>
    account(realm, id, await resources.beside(clients, accounts, realm, { id })),
  );
  bind(app, api.addServiceAccountRoles, async ({ params: { realm, clientId: id }, body, by, expect, request }) => {
    const caller = { principal: principalOf(request), by, expect };
    const to = (fields: Fields) => withRoles(fields, body);
    return account(realm, id, await resources.edit({ of: clients, part: accounts }, caller, realm, { id }, to));
  });
  bind(app, api.removeServiceAccountRoles, async ({ params: { realm, clientId: id }, body, by, expect, request }) => {
    const caller = { principal: principalOf(request), by, expect };
    const to = (fields: Fields) => withoutRoles(fields, body);
    await resources.edit({ of: clients, part: accounts }, caller, realm, { id }, to);
    return undefined;
  });

  const allowed = (client: unknown) => {
    const { allowedResources } = api.Client.parse(client);
    return { allowedResources };
  };
  bind(app, api.getAllowedResources, async ({ params: { realm, clientId } }) => allowed(await read(realm, clientId)));
  bind(app, api.putAllowedResources, async ({ params: { realm, clientId: id }, body, by, expect, request }) => {
    const caller = { principal: principalOf(request), by, expect: (client: object) => expect(allowed(client)) };
    return allowed(clients.toWire(realm, await resources.replace(clients, caller, realm, { id }, body)));
  });
}
