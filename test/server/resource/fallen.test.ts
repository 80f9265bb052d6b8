// Owns: what goes with a removed object is told of as if it had been removed by itself, by the admin API and by a document.
// Does not own: what keeps an object from going (features/operations/transfer.kept.test.ts).
// Implements: specification 6.1; decisions "Import, export, plan".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteClient, listClients } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { deleteGroup, listGroups } from '../../../server/contract/groups.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

async function realmWith(realm: string, body: object, manager = 'git') {
  await server.admin.call(createRealm, { body: { realm } });
  await apply(realm, body, manager);
}
const apply = (realm: string, body: object, manager = 'git') =>
  server.admin.call(importRealm, { params: { realm }, query: { manager, prune: 'true' }, body });
/** What was told of as deleted, the first first. */
async function deleted(realm: string): Promise<string[]> {
  const { body: events = [] } = await server.admin.call(listEvents, { params: { realm }, query: { limit: 1000 } });
  return events.filter(({ type }) => type.endsWith('_DELETED')).map(({ type, subject }) => `${type} ${subject?.name}`);
}
const client = { clientId: 'billing/eu', grantTypes: ['client_credentials'] };
const identity = {
  name: 'runner',
  issuer: 'https://ci.example',
  subject: 'main',
  audience: 'here',
  clientId: client.clientId,
};
const withAll = {
  clients: [client, { clientId: 'other', grantTypes: ['client_credentials'] }],
  workloadIdentity: [identity, { ...identity, name: 'another', subject: 'other', clientId: 'other' }],
  clientRoles: { [client.clientId]: [{ name: 'clerk' }], other: [{ name: 'clerk' }] },
  clientProtocolMappers: [
    { clientId: client.clientId, mappers: [{ name: 'area', claim: 'area', source: 'constant', value: 'eu' }] },
  ],
  authorizationServices: [{ clientId: client.clientId, scopes: [{ name: 'read' }] }],
};

test('a client takes along its workload identities, roles, mappers and authorization services, and each is told of', async () => {
  const realm = 'fallen-client';
  await realmWith(realm, withAll);
  const { body: clients = [] } = await server.admin.call(listClients, { params: { realm } });
  const id = clients.find(({ clientId }) => clientId === client.clientId)?.id ?? '';
  await server.admin.call(deleteClient, { params: { realm, id } });
  expect((await deleted(realm)).toSorted()).toEqual([
    'AUTHORIZATION_SERVICE_DELETED billing/eu',
    'CLIENT_DELETED billing/eu',
    'PROTOCOL_MAPPER_DELETED billing%2Feu/area',
    'ROLE_DELETED billing%2Feu/clerk',
    'WORKLOAD_IDENTITY_DELETED runner',
  ]);
  const { body: events = [] } = await server.admin.call(listEvents, {
    params: { realm },
    query: { type: 'WORKLOAD_IDENTITY_DELETED' },
  });
  expect(events).toMatchObject([{ clientId: client.clientId, actor: { name: 'admin' }, data: { subject: 'main' } }]);
});

test('a group takes along those below it, and each is told of', async () => {
  const realm = 'fallen-group';
  await realmWith(realm, { groups: [{ path: '/a' }, { path: '/a/b' }, { path: '/a/b/c' }, { path: '/ab' }] });
  const { body: groups = [] } = await server.admin.call(listGroups, { params: { realm } });
  await server.admin.call(deleteGroup, { params: { realm, id: groups.find(({ path }) => path === '/a')?.id ?? '' } });
  expect((await deleted(realm)).toSorted()).toEqual(['/a', '/a/b', '/a/b/c'].map((path) => `GROUP_DELETED ${path}`));
});

test('by a document too, once each, and not what moves elsewhere in the same one', async () => {
  const realm = 'fallen-document';
  await realmWith(realm, withAll);
  const [, other] = withAll.clients;
  const [, another] = withAll.workloadIdentity;
  const none = { clientRoles: {}, clientProtocolMappers: [], authorizationServices: [] };
  await apply(realm, { ...none, clients: [other], workloadIdentity: [{ ...identity, clientId: 'other' }, another] });
  expect((await deleted(realm)).toSorted()).toEqual([
    'AUTHORIZATION_SERVICE_DELETED billing/eu',
    'CLIENT_DELETED billing/eu',
    'PROTOCOL_MAPPER_DELETED billing%2Feu/area',
    'ROLE_DELETED billing%2Feu/clerk',
    'ROLE_DELETED other/clerk',
  ]);
});
