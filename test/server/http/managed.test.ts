// Owns: the header that says who manages a single resource, at reads and at writes.
// Does not own: how ownership comes about (features/operations/transfer.ownership.test.ts).
// Implements: decisions "Ownership": a single resource that is owned says so in its answer.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { listRoles } from '../../../server/contract/roles.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'owned' };
let cookies: Record<string, string>;
beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: params });
  const by = (manager: string) => ({ params, query: { manager } });
  const realm = { rememberMe: true };
  await server.admin.call(importRealm, { ...by('k8s:a/b/Realm/c'), body: { realm, roles: [{ name: 'reader' }] } });
  await server.admin.call(importRealm, { ...by('cli:ana'), body: { realm: { requireMfa: false } } });
  const payload = { username: 'admin', password: ADMIN_PASSWORD };
  const answer = await server.app.http.inject({ method: 'POST', url: '/admin/login', payload });
  cookies = Object.fromEntries(answer.cookies.map(({ name, value }) => [name, value]));
});
afterAll(() => server?.stop());

async function owners(path: string, payload: object): Promise<unknown[]> {
  const url = `/admin/realms/owned/${path}`;
  const headers = { 'x-xsrf-token': cookies['XSRF-TOKEN'] ?? '' };
  const read = await server.app.http.inject({ url, cookies });
  const written = await server.app.http.inject({ method: 'PUT', url, cookies, headers, payload });
  return [written.statusCode, read.headers['x-svc-managed-by'], written.headers['x-svc-managed-by']];
}

test('a resource names its manager when it is read and when it is written', async () => {
  const { body: [role] = [] } = await server.admin.call(listRoles, { params });
  const manager = 'k8s:a/b/Realm/c';
  expect(await owners(`roles/${role?.id}`, { description: 'by hand' })).toEqual([200, manager, manager]);
});

test('settings, which are owned field by field, name every manager', async () => {
  const managers = 'cli:ana, k8s:a/b/Realm/c';
  expect(await owners('settings', { passwordMinLength: 14 })).toEqual([200, managers, managers]);
});

test('what nobody manages says nothing', async () => {
  const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  expect(await owners('flow', { executions })).toEqual([200, undefined, undefined]);
});
