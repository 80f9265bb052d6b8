// Undoing the removal of what others were tied to, whom no document declares: roles in groups, scopes of clients, parts of a
// client. They lose it without a word in any document; the history says so, and undoing gives it back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteClient, listClients } from '../../../server/contract/clients.ts';
import { getHistory, undoHistory } from '../../../server/contract/history.ts';
import type { RealmDocument } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());

const m = { manager: 'm' };
const declared: RealmDocument = {
  claims: [{ name: 'department', source: 'attribute' }],
  clientScopes: [{ name: 'work', claims: [] }],
  roles: [{ name: 'editor' }],
  clients: [{ clientId: 'a/pi', tokenEndpointAuthMethod: 'none' }],
};
/** By a single request of an administrator, so that nobody owns it. */
async function post(realm: string, path: string, body: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await admin.fetch(`/admin/realms/${realm}/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  expect([path, answer.status, answer.ok ? '' : text]).toEqual([path, 201, '']);
  return JSON.parse(text).id;
}
const exported = async (realm: string) => JSON.parse(await admin.download(realm, '?users=false'));
const undo = async (realm: string, revision: number, query = {}) =>
  (await server.admin.call(undoHistory, { params: { realm, revision }, query })).body;

async function idOf(realm: string, clientId: string): Promise<string> {
  const { body = [] } = await server.admin.call(listClients, { params: { realm } });
  return body.find((client) => client.clientId === clientId)?.id ?? '';
}

async function tied(realm: string): Promise<{ revision: number; before: unknown }> {
  await admin.apply(realm, declared, m);
  const id = await idOf(realm, 'a/pi');
  await post(realm, `clients/${id}/roles`, { name: 'run' });
  await post(realm, `clients/${id}/mappers`, { name: 'dept', source: 'attribute' });
  const held = { roles: ['editor'], clientRoles: { 'a/pi': ['run'] } };
  await post(realm, 'roles', { name: 'chief', composite: held });
  await post(realm, 'groups', { name: 'staff', ...held });
  await post(realm, 'clients', {
    clientId: 'web',
    grantTypes: ['client_credentials'],
    defaultClientScopes: ['profile', 'work'],
    serviceAccountRoles: ['editor'],
  });
  await post(realm, 'client-scopes', { name: 'more', claims: ['department'] });
  const before = await exported(realm);
  const { revision } = await admin.apply(realm, {}, { ...m, prune: 'true' });
  return { revision, before };
}

test('what nobody declares gets back what it was tied to, and undoing that takes it away again', async () => {
  const realm = 'ties';
  const { revision, before } = await tied(realm);
  const after = await exported(realm);
  const { body } = await server.admin.call(getHistory, { params: { realm, revision } });
  expect(body?.changes).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: 'update', kind: 'group', key: '/staff' }),
      expect.objectContaining({ action: 'update', kind: 'role', key: 'chief' }),
      expect.objectContaining({ action: 'update', kind: 'clientScope', key: 'more' }),
      expect.objectContaining({
        action: 'update',
        kind: 'client',
        key: 'web',
        fields: [{ path: 'defaultClientScopes', from: ['profile', 'work'], to: ['profile'] }],
      }),
      expect.objectContaining({ action: 'delete', kind: 'clientRole', key: 'a%2Fpi/run' }),
      expect.objectContaining({ action: 'delete', kind: 'protocolMapper', key: 'a%2Fpi/dept' }),
    ]),
  );
  const undone = await undo(realm, revision);
  expect(await exported(realm)).toEqual(before);
  await undo(realm, undone?.revision ?? 0);
  expect(await exported(realm)).toEqual(after);
});

test('what is gone since needs nothing back; what was changed since stands in the way', async () => {
  const realm = 'ties-since';
  const { revision } = await tied(realm);
  await server.admin.call(deleteClient, { params: { realm, id: await idOf(realm, 'web') } });
  await admin.apply(realm, { roles: [{ name: 'other' }], groups: [{ path: '/staff', roles: ['other'] }] });
  await expect(undo(realm, revision)).rejects.toMatchObject({
    status: 409,
    problem: { errors: [{ path: 'group /staff.roles', message: 'was changed since' }] },
  });
  await admin.apply(realm, { groups: [{ path: '/staff', roles: [] }] });
  await undo(realm, revision);
  const { groups: back, clients: there } = await exported(realm);
  expect(back).toMatchObject([{ path: '/staff', roles: ['editor'], clientRoles: { 'a/pi': ['run'] } }]);
  expect(there).not.toContainEqual(expect.objectContaining({ clientId: 'web' }));
});

test('giving it back needs the right to write it', async () => {
  const realm = 'ties-rights';
  const { revision, before } = await tied(realm);
  const areas = ['client-scopes', 'roles', 'clients'] as const;
  const permissions = areas.flatMap((area) => [`${area}:read`, `${area}:write`] as const);
  const writer = await administrator(server, { target: realm, permissions });
  await expect(writer.call(undoHistory, { params: { realm, revision } })).rejects.toMatchObject({
    status: 403,
    problem: { detail: expect.stringContaining('groups:') },
  });
  expect(await exported(realm)).not.toEqual(before);
});
