// Owns: If-Match at addresses that have no ETag of their own, and at the small resources that no other test looks at.
// Does not own: the ETags of users, clients, flows, settings, … (their own tests).
// Implements: decisions "Reading and writing": a write with If-Match that no longer holds is 412.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAdminRoles, putAdminRole } from '../../../server/contract/admin-roles.ts';
import { createGroup, deleteGroup, listGroups } from '../../../server/contract/groups.ts';
import { listKeys, rotateKeys } from '../../../server/contract/keys.ts';
import { createRealm, getAdoption, putAdoption } from '../../../server/contract/realms.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'conditions' };
const stale = { 'if-match': '"stale"' };
beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: params });
});
afterAll(() => server?.stop());

test('a condition that an address can not look at is a 412, and nothing is written', async () => {
  const before = await server.admin.call(listKeys, { params });
  await expect(server.admin.call(rotateKeys, { params, headers: stale })).rejects.toMatchObject({ status: 412 });
  expect((await server.admin.call(listKeys, { params })).body).toEqual(before.body);
  await server.admin.call(rotateKeys, { params, headers: { 'if-match': '*' } });
});

test('who may adopt a realm is written only while it is what was read', async () => {
  const { etag = '' } = await server.admin.call(getAdoption, { params });
  const put = (managers: string[], headers: Record<string, string>) =>
    server.admin.call(putAdoption, { params, body: { managers }, headers });
  expect((await put(['k8s:a/*'], { 'if-match': etag })).body?.managers).toEqual(['k8s:a/*']);
  await expect(put([], { 'if-match': etag })).rejects.toMatchObject({ status: 412 });
});

test('a group is deleted only while it is what was made', async () => {
  const { body, etag = '' } = await server.admin.call(createGroup, { params, body: { name: 'staff' } });
  const at = { ...params, id: body?.id ?? '' };
  await expect(server.admin.call(deleteGroup, { params: at, headers: stale })).rejects.toMatchObject({ status: 412 });
  await server.admin.call(deleteGroup, { params: at, headers: { 'if-match': etag } });
  expect((await server.admin.call(listGroups, { params })).body).toEqual([]);
});

test('an admin role is written only while it is what was read', async () => {
  const at = { ...params, id: '5f0c7a3e-3c1d-4c55-9d4a-0a4a5d6d8b11' };
  const put = (permissions: ('users:read' | 'users:write')[], headers: Record<string, string> = {}) =>
    server.admin.call(putAdminRole, { params: at, body: { name: 'helpers', permissions }, headers });
  const { etag = '' } = await put(['users:read']);
  await put(['users:read', 'users:write'], { 'if-match': etag });
  await expect(put([], { 'if-match': etag })).rejects.toMatchObject({ status: 412 });
  const { body = [] } = await server.admin.call(listAdminRoles, { params });
  expect(body.find(({ name }) => name === 'helpers')?.permissions).toEqual(['users:read', 'users:write']);
});
