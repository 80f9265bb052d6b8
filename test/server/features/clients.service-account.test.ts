// Owns: a service account's roles and a client's allowed resources as endpoints of their own.
// Does not own: what they say in tokens (token.client-credentials.test.ts), admin roles (escalation.test.ts).
// Implements: decisions "Client", "Rights"; specification 4.10.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import * as api from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { builtInAdminRoles } from '../../../server/contract/permissions.ts';
import { getRealm } from '../../../server/contract/realms.ts';
import { listClientRoles } from '../../../server/contract/roles.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { makeClient, makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
const GONE = '0192f0a0-0000-7000-8000-00000000abcd';
const refused = { status: 403, problem: { type: 'urn:svc:problem:privilege-escalation' } };

beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
  await makeRealm(server, 'other');
  const body = {
    clients: [{ clientId: 'shop/one' }],
    roles: [{ name: 'reader' }, { name: 'writer' }],
    clientRoles: { 'shop/one': [{ name: 'buys' }, { name: 'sells' }] },
  };
  await server.admin.call(importRealm, { params, body });
});
afterAll(() => server?.stop());

const make = (clientId: string) => makeClient(server, 'acme', { clientId, grantTypes: ['client_credentials'] });
const revision = async () => (await server.admin.call(getRealm, { params })).body?.revision;

describe('the roles of a service account', () => {
  test('are given and taken by name, the others stay, and what changes nothing writes nothing', async () => {
    const clientId = await make('robot');
    const at = { params: { ...params, clientId } };
    const none = { clientId: 'robot', roles: [], clientRoles: {}, adminRoles: [] };
    expect((await server.admin.call(api.getServiceAccountRoles, at)).body).toEqual(none);
    const add = async (body: object) => (await server.admin.call(api.addServiceAccountRoles, { ...at, body })).body;
    const take = (body: object) => server.admin.call(api.removeServiceAccountRoles, { ...at, body });
    await add({ roles: ['reader'], clientRoles: { 'shop/one': ['buys'] } });
    const all = { ...none, roles: ['reader', 'writer'], clientRoles: { 'shop/one': ['buys', 'sells'] } };
    expect(await add({ roles: ['writer', 'reader'], clientRoles: { 'shop/one': ['sells'] } })).toEqual(all);
    const before = await revision();
    expect(await add({ roles: ['writer'] })).toEqual(all);
    expect((await take({ roles: ['unheard-of'] })).status).toBe(204);
    expect(await revision()).toBe(before);
    await take({ roles: ['reader'], clientRoles: { 'shop/one': ['buys', 'sells'] } });
    expect((await server.admin.call(api.getServiceAccountRoles, at)).body).toEqual({ ...none, roles: ['writer'] });
    const { body: log } = await server.admin.call(listEvents, { params, query: { type: 'CLIENT_UPDATED' } });
    expect(log?.[0]).toMatchObject({
      subject: { type: 'client', id: clientId, name: 'robot' },
      clientId: 'robot',
      data: { kind: 'serviceAccountRoles', fields: ['clientRoles', 'roles'] },
    });
  });

  test('must be there, and so must the client', async () => {
    const clientId = await make('asks-too-much');
    const add = (id: string, body: object) =>
      server.admin.call(api.addServiceAccountRoles, { params: { ...params, clientId: id }, body });
    const unknown = { status: 400, problem: { errors: [{ path: 'clientRoles' }, { path: 'roles' }] } };
    const attempt = add(clientId, { roles: ['nope'], clientRoles: { 'shop/one': ['nope'] } });
    await expect(attempt).rejects.toMatchObject({ status: 400 });
    await attempt.catch(({ problem }) =>
      expect(problem.errors.map((e: { path: string }) => e.path).sort()).toEqual(
        unknown.problem.errors.map(({ path }) => path),
      ),
    );
    await expect(add(GONE, { roles: ['reader'] })).rejects.toMatchObject({ status: 404 });
    const elsewhere = { params: { realm: 'other', clientId } };
    await expect(server.admin.call(api.getServiceAccountRoles, elsewhere)).rejects.toMatchObject({ status: 404 });
  });
});

describe('the resources that a client may ask for', () => {
  test('are read and set by themselves, under a condition of their own', async () => {
    const clientId = await make('asks');
    const at = { params: { ...params, clientId } };
    const { body, etag = '' } = await server.admin.call(api.getAllowedResources, at);
    expect(body).toEqual({ allowedResources: [] });
    const allowedResources = ['https://b.example', 'https://a.example'];
    const put = (headers: Record<string, string>) =>
      server.admin.call(api.putAllowedResources, { ...at, headers, body: { allowedResources } });
    const after = { allowedResources: allowedResources.toSorted() };
    expect((await put({ 'if-match': etag })).body).toEqual(after);
    await expect(put({ 'if-match': etag })).rejects.toMatchObject({ status: 412 });
    expect((await server.admin.call(api.getClient, { params: { ...params, id: clientId } })).body).toMatchObject(after);
  });

  test('cannot be this server’s own', async () => {
    const at = { params: { ...params, clientId: await make('reaches') } };
    const body = { allowedResources: [`${server.baseUrl}/admin`] };
    await expect(server.admin.call(api.putAllowedResources, { ...at, body })).rejects.toMatchObject({ status: 400 });
  });
});

test('neither is changed for a client that holds more than the caller', async () => {
  const clientId = await make('strong');
  const body = { grants: [{ role: 'realm-admin', realm: 'acme' }] };
  await server.admin.call(putClientAdminRoles, { params: { ...params, id: clientId }, body });
  const permissions = builtInAdminRoles['client-manager'] ?? [];
  const manager = await administrator(server, { home: 'acme', target: 'acme', permissions });
  const at = { params: { ...params, clientId } };
  const roles = { roles: ['reader'] };
  await expect(manager.call(api.addServiceAccountRoles, { ...at, body: roles })).rejects.toMatchObject(refused);
  const resources = { allowedResources: ['https://a.example'] };
  await expect(manager.call(api.putAllowedResources, { ...at, body: resources })).rejects.toMatchObject(refused);
  expect((await manager.call(api.getServiceAccountRoles, at)).body?.adminRoles).toEqual(['realm-admin']);
});

describe('a path below a client', () => {
  const at = (clientId: string) => ({ params: { ...params, clientId } });

  test('takes the client id as well as the id', async () => {
    const id = await make('by name/1');
    await server.admin.call(api.addServiceAccountRoles, { ...at('by name/1'), body: { roles: ['reader'] } });
    for (const named of [id, 'by name/1'])
      expect((await server.admin.call(api.getServiceAccountRoles, at(named))).body).toMatchObject({
        clientId: 'by name/1',
        roles: ['reader'],
      });
    const { body } = await server.admin.call(api.putAllowedResources, {
      ...at('by name/1'),
      body: { allowedResources: [] },
    });
    expect(body).toEqual({ allowedResources: [] });
    expect((await server.admin.call(listClientRoles, at('shop/one'))).body?.map(({ name }) => name)).toEqual([
      'buys',
      'sells',
    ]);
  });

  test('of a client that is in no realm, or in another, is not found, and one with NUL is refused', async () => {
    await makeClient(server, 'other', { clientId: 'theirs' });
    for (const named of ['unheard-of', 'theirs', 'x'.repeat(255)])
      await expect(server.admin.call(api.getServiceAccountRoles, at(named))).rejects.toMatchObject({ status: 404 });
    for (const named of ['a\0b', 'x'.repeat(256)])
      await expect(server.admin.call(api.getServiceAccountRoles, at(named))).rejects.toMatchObject({ status: 400 });
  });
});
