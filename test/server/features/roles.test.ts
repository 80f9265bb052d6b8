import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRoles } from '../../../server/contract/roles.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };

beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
});
afterAll(() => server.stop());

test('a composite role may hold roles of a client that is called as a member of every object', async () => {
  const composite = { roles: [], clientRoles: { constructor: ['reader', 'writer'] } };
  const body = {
    clients: [{ clientId: 'constructor' }],
    clientRoles: { constructor: [{ name: 'reader' }, { name: 'writer' }] },
    roles: [{ name: 'editor', composite }],
  };
  await server.admin.call(importRealm, { params, query: {}, body });
  const { body: roles = [] } = await server.admin.call(listRoles, { params });
  expect(roles.find((role) => role.name === 'editor')?.composite).toEqual(composite);
});
