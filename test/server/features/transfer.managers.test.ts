// Owns: what the list of a realm's managers tells whom: objects of kinds that the caller may read, and that there is more.
// Does not own: what managers own (transfer.ownership.test.ts).
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Permission } from '../../../server/contract/permissions.ts';
import { importRealm, listManagers, releaseManager } from '../../../server/contract/transfer.ts';
import { importUsers } from '../../../server/contract/user-import.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(importRealm, {
    params,
    query: { manager: 'pipeline' },
    body: {
      roles: [{ name: 'clerk' }],
      clients: [{ clientId: 'payroll', grantTypes: ['client_credentials'] }],
      realm: { passwordMinLength: 14 },
    },
  });
});
afterAll(() => server?.stop());

const listedFor = async (...held: Permission[]) => {
  const caller = await administrator(server, { target: 'acme', permissions: ['managers:read', ...held] });
  const rows = (await caller.call(listManagers, { params })).body ?? [];
  return rows.map(({ manager, owns, users, hidden }) => ({
    manager,
    owns: owns.map(({ kind, key }) => `${kind} ${key}`),
    users,
    hidden,
  }));
};

test('the list names objects of the kinds that the caller may read, and says if there are others', async () => {
  const manager = 'pipeline';
  const users = false;
  expect(await listedFor()).toEqual([{ manager, owns: [], users, hidden: true }]);
  expect(await listedFor('roles:read')).toEqual([{ manager, owns: ['role clerk'], users, hidden: true }]);
  expect(await listedFor('roles:read', 'clients:read', 'settings:read')).toEqual([
    { manager, owns: ['client payroll', 'role clerk', 'settings passwordMinLength'], users, hidden: false },
  ]);
});

test('pages of a caller who may not read a kind lead to the end, and skip no other object', async () => {
  const roles = Array.from({ length: 1200 }, (_, n) => ({ name: `role-${String(n).padStart(4, '0')}` }));
  const query = { manager: 'many' };
  await server.admin.call(importRealm, { params, query, body: { roles, webhooks: [] } });
  const caller = await administrator(server, { target: 'acme', permissions: ['managers:read', 'roles:read'] });
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await caller.call(listManagers, { params, query: { ...(cursor !== undefined && { cursor }) } });
    for (const { manager, owns } of page.body ?? []) if (manager === 'many') found.push(...owns.map(({ key }) => key));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(found).toEqual(roles.map(({ name }) => name));
  await server.admin.call(releaseManager, { params: { ...params, manager: 'many' }, query: { objects: 'delete' } });
});

test('an import of users alone makes a manager that says so, to those who may read users', async () => {
  await server.admin.call(importUsers, { params, body: [{ username: 'ana' }] });
  const imported = async (...held: Permission[]) =>
    (await listedFor(...held)).find(({ manager }) => manager === 'import');
  expect(await imported('users:read')).toEqual({ manager: 'import', owns: [], users: true, hidden: false });
  expect(await imported()).toEqual({ manager: 'import', owns: [], users: false, hidden: true });
});
