// What belongs to a user elsewhere: organizations, agents, locks in the list; and who holds an admin role.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRoleHolders, putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { listAdminRoles } from '../../../server/contract/admin-roles.ts';
import { createAgent, listUserAgents } from '../../../server/contract/agents.ts';
import { addMember, createOrganization, listUserOrganizations } from '../../../server/contract/organizations.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: 'acme' };
let server: TestServer;
const ids: Record<string, string> = {};
beforeAll(async () => {
  server = await startTestServer();
  for (const realm of ['acme', 'other']) await makeRealm(server, realm);
  for (const username of ['ana', 'ben', 'cem'])
    ids[username] = (await server.admin.call(createUser, { params, body: { username } })).body?.id ?? '';
});
afterAll(() => server?.stop());

const at = (username: string, realm = 'acme') => ({ params: { realm, userId: ids[username] ?? username } });

test('a user’s organizations come by name, page by page, and those of nobody else', async () => {
  for (const name of ['globex', 'initech', 'Acme']) {
    const { body } = await server.admin.call(createOrganization, { params, body: { name } });
    await server.admin.call(addMember, { params: { ...params, id: body!.id, userId: ids.ana ?? '' } });
    if (name === 'initech')
      await server.admin.call(addMember, { params: { ...params, id: body!.id, userId: ids.ben ?? '' } });
  }
  const first = await server.admin.call(listUserOrganizations, { ...at('ana'), query: { limit: 2 } });
  const query = { limit: 2, cursor: first.nextCursor ?? '' };
  const second = await server.admin.call(listUserOrganizations, { ...at('ana'), query });
  const names = [...first.body!, ...second.body!].map(({ name }) => name);
  expect(names).toEqual(['Acme', 'globex', 'initech']);
  expect(second.nextCursor).toBeUndefined();
  expect(first.body?.[0]).toMatchObject({ enabled: true, displayName: null, joinedAt: expect.any(Number) });
  expect((await server.admin.call(listUserOrganizations, at('cem'))).body).toEqual([]);
  await expect(server.admin.call(listUserOrganizations, at(newId()))).rejects.toMatchObject({ status: 404 });
  await expect(server.admin.call(listUserOrganizations, at('ana', 'other'))).rejects.toMatchObject({ status: 404 });
  const other = await administrator(server, { target: 'acme', permissions: ['users:read'] });
  await expect(other.call(listUserOrganizations, at('ana'))).rejects.toMatchObject({ status: 403 });
});

test('a user’s agents are those that the user answers for', async () => {
  for (const [name, owner] of [
    ['one', 'ana'],
    ['two', 'ana'],
    ['three', 'ben'],
  ] as const)
    await server.admin.call(createAgent, { params, body: { name, owner } });
  const { body } = await server.admin.call(listUserAgents, at('ana'));
  expect(body?.map(({ name, owner }) => [name, owner])).toEqual([
    ['one', 'ana'],
    ['two', 'ana'],
  ]);
  expect((await server.admin.call(listUserAgents, at('cem'))).body).toEqual([]);
  await expect(server.admin.call(listUserAgents, at('ana', 'other'))).rejects.toMatchObject({ status: 404 });
  const other = await administrator(server, { target: 'acme', permissions: ['users:read'] });
  await expect(other.call(listUserAgents, at('ana'))).rejects.toMatchObject({ status: 403 });
});

test('the list says which users are locked, on request alone', async () => {
  await sqlOver(server.pool)`
    insert into lockout (realm_id, user_id, failures, last_failure_at, locked_until)
    values ('acme', ${ids.ben}, 10, now(), now() + interval '1 hour')`;
  const list = async (query: Record<string, unknown>) =>
    (await server.admin.call(listUsers, { params, query })).body ?? [];
  const locks = async (query: Record<string, unknown>) =>
    (await list(query)).map(({ username, locked }) => [username, locked]);
  expect(await locks({ with: 'locked' })).toEqual([
    ['ana', false],
    ['ben', true],
    ['cem', false],
  ]);
  expect(await locks({ with: 'locked', q: 'ben' })).toEqual([['ben', true]]);
  expect((await list({}))[0]).not.toHaveProperty('locked');
});

test('the holders of an admin role come with the realm over which they hold it', async () => {
  const master = { realm: 'master' };
  const holders = ['h1', 'h2'];
  for (const username of holders) {
    const { body } = await server.admin.call(createUser, { params: master, body: { username } });
    const grants = [
      { role: 'realm-viewer', realm: 'acme' },
      { role: 'realm-viewer', realm: 'other' },
    ];
    await server.admin.call(putUserAdminRoles, { params: { ...master, userId: body?.id ?? '' }, body: { grants } });
  }
  const roles = (await server.admin.call(listAdminRoles, { params: master })).body ?? [];
  const id = roles.find(({ name }) => name === 'realm-viewer')?.id ?? '';
  const role = { params: { ...master, id } };
  const all = (await server.admin.call(listRoleHolders, role)).body ?? [];
  expect(all.map(({ holder: { type, name }, realm }) => [type, name, realm])).toEqual([
    ['user', 'h1', 'acme'],
    ['user', 'h1', 'other'],
    ['user', 'h2', 'acme'],
    ['user', 'h2', 'other'],
  ]);
  const first = await server.admin.call(listRoleHolders, { ...role, query: { limit: 3 } });
  const query = { limit: 3, cursor: first.nextCursor ?? '' };
  const second = await server.admin.call(listRoleHolders, { ...role, query });
  expect([...first.body!, ...second.body!]).toEqual(all);
  await expect(server.admin.call(listRoleHolders, { params: { ...params, id } })).rejects.toMatchObject({
    status: 404,
  });
  const other = await administrator(server, { target: 'master', permissions: ['users:read'] });
  await expect(other.call(listRoleHolders, role)).rejects.toMatchObject({ status: 403 });
});
