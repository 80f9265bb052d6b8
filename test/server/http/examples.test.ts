// What the API's documentation offers for trying out works: the examples are sent to a fresh realm as they stand.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putClientAdminRoles, putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createAgent, putAgent } from '../../../server/contract/agents.ts';
import * as authz from '../../../server/contract/authorization-service-routes.ts';
import { createClientScope } from '../../../server/contract/client-scopes.ts';
import { createClient, listClients, putClient } from '../../../server/contract/clients.ts';
import { createFlow, putFlow, renameFlow } from '../../../server/contract/flows.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import { createRealm, putAdoption } from '../../../server/contract/realms.ts';
import { createRole, putRole } from '../../../server/contract/roles.ts';
import type { Route } from '../../../server/contract/route.ts';
import { createSamlClient, importSamlClient } from '../../../server/contract/saml-clients.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, putUser, setPassword } from '../../../server/contract/users.ts';
import { createWebhook, putWebhook } from '../../../server/contract/webhooks.ts';
import { createWorkloadIdentity, putWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

interface Operation {
  parameters?: { in: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('every JSON body has an example, and no name is filled in where a path asks for one', async () => {
  const { paths }: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
    await (await fetch(`${server.baseUrl}/v3/api-docs`)).text(),
  );
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const bodies = operations.flatMap(({ requestBody }) => requestBody?.content['application/json'] ?? []);
  expect(bodies.length).toBeGreaterThan(20);
  expect(bodies.filter(({ example }) => example === undefined)).toEqual([]);
  const inPaths = operations.flatMap(({ parameters }) => (parameters ?? []).filter((p) => p.in === 'path'));
  expect(inPaths.length).toBeGreaterThan(20);
  expect(inPaths.filter(({ example }) => example !== undefined)).toEqual([]);
});

test('a body that may be left out is not required, any other is', async () => {
  const { paths } = JSON.parse(await (await fetch(`${server.baseUrl}/v3/api-docs`)).text());
  const { post: rotate } = paths['/admin/realms/{realm}/keys/rotate'];
  const { post: create } = paths['/admin/realms/{realm}/roles'];
  expect([rotate.requestBody.required, create.requestBody.required]).toEqual([false, true]);
});

test('a fresh realm takes each example as it stands', async () => {
  const params = { realm: 'acme' };
  /** @returns the id of what was made */
  const tried = async (route: Route, more: Record<string, string> = {}, body = route.example): Promise<string> => {
    expect([route.path, route.example]).toEqual([route.path, expect.anything()]);
    const answer = await server.admin.call(route, { params: { ...params, ...more }, body });
    return String(Object(answer.body).id);
  };
  await tried(createRealm);
  await tried(importRealm);
  await tried(putSettings);
  await tried(putAdoption);
  // which the import made
  const { body: clients } = await server.admin.call(listClients, { params, query: { q: 'shop' } });
  await tried(putClient, { id: clients?.[0]?.id ?? '' });
  const client = await tried(createClient, {}, { ...createClient.example, clientId: 'deployer' });
  const inShop = { clientId: clients?.[0]?.id ?? '' };
  await tried(authz.putAuthorizationService, inShop);
  await tried(authz.putAuthorizationSettings, inShop);
  await tried(authz.evaluateAuthorization, inShop);
  for (const { create, put } of [
    authz.authorizationScopeRoutes,
    authz.authorizationResourceRoutes,
    authz.authorizationPolicyRoutes,
    authz.authorizationPermissionRoutes,
  ]) {
    await tried(create, { clientId: client });
    await tried(put, { clientId: client, name: Object(create.example).name });
  }
  await tried(putRole, { id: await tried(createRole, {}, { ...createRole.example, name: 'author' }) });
  const userId = await tried(createUser);
  await tried(putUser, { userId });
  await tried(setPassword, { userId });
  await tried(putUserAdminRoles, { userId });
  await tried(createGroup);
  await tried(createClientScope);
  await tried(createFlow);
  await tried(putFlow, { alias: 'with-otp' });
  await tried(renameFlow, { alias: 'with-otp' });
  await tried(putWebhook, { id: await tried(createWebhook) });
  await tried(putWorkloadIdentity, { id: await tried(createWorkloadIdentity) });
  await tried(createSamlClient);
  await tried(importSamlClient);
  await tried(putAgent, { id: await tried(createAgent) });
  await tried(putClientAdminRoles, { id: client });
});
