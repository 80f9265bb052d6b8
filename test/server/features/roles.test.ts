// Owns: roles on the admin API: clients' roles, default roles, composites; which roles a user has and where they come from.
// Does not own: the same by a document (resource/same-by-both-ways.test.ts), roles in tokens.
// Implements: decisions "Role", "Rights"; specification 4.10, 6.1.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import * as held from '../../../server/contract/memberships.ts';
import * as api from '../../../server/contract/roles.ts';
import { importRealm, listManagers } from '../../../server/contract/transfer.ts';
import { createUser, getUser } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
let clientId = '';

beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
  clientId = (await server.admin.call(createClient, { params, body: { clientId: 'a/b%c' } })).body?.id ?? '';
});
afterAll(() => server?.stop());

const role = async (body: api.RoleInput): Promise<api.Role> => {
  const answer = await server.admin.call(api.createRole, { params, body });
  if (!answer.body) throw new Error('no role');
  return answer.body;
};
const put = (id: string, body: object) => server.admin.call(api.putRole, { params: { ...params, id }, body });
const ofClient = (name: string) => ({ ...params, clientId, name });
const clientRole = async (body: api.RoleInput): Promise<api.Role> => {
  const answer = await server.admin.call(api.createClientRole, { params: { ...params, clientId }, body });
  if (!answer.body) throw new Error('no role');
  return answer.body;
};

test('a composite role may hold roles of a client that is called as a member of every object', async () => {
  const composite = { roles: [], clientRoles: { constructor: ['reader', 'writer'] } };
  const body = {
    clients: [{ clientId: 'constructor' }],
    clientRoles: { constructor: [{ name: 'reader' }, { name: 'writer' }] },
    roles: [{ name: 'editor', composite }],
  };
  await server.admin.call(importRealm, { params, query: {}, body });
  const { body: roles = [] } = await server.admin.call(api.listRoles, { params });
  expect(roles.find((one) => one.name === 'editor')?.composite).toEqual(composite);
});

describe('a role of a client', () => {
  test('is made, found by its name, renamed and deleted below its client', async () => {
    const made = await clientRole({ name: 'clerk', description: 'At the desk', attributes: { floor: ['2'] } });
    const { body: listed = [] } = await server.admin.call(api.listClientRoles, { params: { ...params, clientId } });
    expect(listed).toContainEqual(made);
    const { body: others } = await server.admin.call(api.listRoles, { params, query: { q: 'clerk' } });
    expect(others).toEqual([]);
    await expect(clientRole({ name: 'clerk' })).rejects.toMatchObject({ status: 409 });
    const body = { clientRoles: { 'a/b%c': [{ name: 'clerk' }] } };
    await server.admin.call(importRealm, { params, query: { manager: 'git' }, body });
    await server.admin.call(api.putClientRole, { params: ofClient('clerk'), body: { name: 'teller' } });
    const { body: renamed } = await server.admin.call(api.getClientRole, { params: ofClient('teller') });
    expect(renamed).toEqual({ ...made, name: 'teller' });
    const { body: managers = [] } = await server.admin.call(listManagers, { params });
    expect(managers.find(({ manager }) => manager === 'git')?.owns).toEqual([
      expect.objectContaining({ kind: 'clientRole', key: 'a%2Fb%25c/teller' }),
    ]);
    await server.admin.call(api.deleteClientRole, { params: ofClient('teller') });
    for (const name of ['clerk', 'teller'])
      await expect(server.admin.call(api.getClientRole, { params: ofClient(name) })).rejects.toMatchObject({
        status: 404,
      });
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { limit: 1 } });
    expect(events[0]).toMatchObject({ type: 'ROLE_DELETED', subject: { id: made.id, name: 'a%2Fb%25c/teller' } });
  });

  test('has no client that isn’t there', async () => {
    const nowhere = { ...params, clientId: newId() };
    await expect(server.admin.call(api.listClientRoles, { params: nowhere })).rejects.toMatchObject({ status: 404 });
    await expect(
      server.admin.call(api.createClientRole, { params: nowhere, body: { name: 'x' } }),
    ).rejects.toMatchObject({ status: 404 });
  });

  test('may contain others, never itself in a circle, whatever it is called meanwhile', async () => {
    const top = await role({ name: 'chief' });
    await clientRole({ name: 'deputy', composite: { roles: ['chief'] } });
    const inside = { clientRoles: { 'a/b%c': ['deputy'] } };
    for (const body of [{ composite: inside }, { name: 'boss', composite: inside }])
      await expect(put(top.id, body)).rejects.toMatchObject({
        problem: { errors: [{ path: 'composite', message: expect.stringContaining('contain itself') }] },
      });
    await expect(put(top.id, { name: 'boss', composite: { roles: ['chief'] } })).rejects.toMatchObject({ status: 400 });
    const own = { composite: { clientRoles: { 'a/b%c': ['deputy'] } } };
    await expect(server.admin.call(api.putClientRole, { params: ofClient('deputy'), body: own })).rejects.toMatchObject(
      { status: 400 },
    );
  });
});

test('two roles that are put into each other at once make no circle', async () => {
  const [a, b] = [await role({ name: 'twin-a' }), await role({ name: 'twin-b' })];
  const writes = [put(a.id, { composite: { roles: ['twin-b'] } }), put(b.id, { composite: { roles: ['twin-a'] } })];
  const statuses = (await Promise.allSettled(writes)).map((w) => (w.status === 'fulfilled' ? 200 : w.reason.status));
  expect(statuses.sort()).toEqual([200, 400]);
});

test('a role is made a default one and no longer one; without a body it is made one', async () => {
  const member = await role({ name: 'member' });
  const at = { params: { ...params, id: member.id } };
  expect((await server.admin.call(api.putDefaultRole, at)).body).toEqual({ ...member, default: true });
  const { body: user } = await server.admin.call(createUser, { params, body: { username: 'newcomer' } });
  expect(user?.roles).toContain('member');
  expect((await server.admin.call(api.putDefaultRole, { ...at, body: { default: false } })).body).toEqual(member);
  const { body: later } = await server.admin.call(createUser, { params, body: { username: 'latecomer' } });
  expect(later?.roles).not.toContain('member');
  await expect(server.admin.call(api.putDefaultRole, { params: { ...params, id: newId() } })).rejects.toMatchObject({
    status: 404,
  });
});

describe('roles of a user', () => {
  test('are given and taken one by one, of the realm and of clients', async () => {
    const reader = await role({ name: 'reads' });
    const teller = await clientRole({ name: 'tells' });
    const { body: user } = await server.admin.call(createUser, { params, body: { username: 'holder' } });
    const at = { ...params, userId: user?.id ?? '' };
    for (const { id } of [reader, teller, reader])
      await server.admin.call(held.addUserRole, { params: at, body: { roleId: id } });
    const from = [{ by: 'direct', name: null, clientId: null }];
    const { body: roles } = await server.admin.call(held.listUserRoles, { params: at });
    expect(roles).toEqual([
      { id: reader.id, name: 'reads', clientId: null, description: null, from },
      { id: teller.id, name: 'tells', clientId: 'a/b%c', description: null, from },
    ]);
    await server.admin.call(held.removeUserRole, { params: { ...at, roleId: reader.id } });
    expect((await server.admin.call(getUser, { params: at })).body?.roles).toEqual([]);
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { userId: at.userId } });
    expect(events.map(({ type, data }) => [type, data.fields])).toEqual([
      ['USER_UPDATED', ['roles']],
      ['USER_UPDATED', ['clientRoles']],
      ['USER_UPDATED', ['roles']],
      ['USER_CREATED', undefined],
    ]);
    for (const attempt of [
      () => server.admin.call(held.removeUserRole, { params: { ...at, roleId: reader.id } }),
      () => server.admin.call(held.addUserRole, { params: at, body: { roleId: newId() } }),
      () => server.admin.call(held.addUserRole, { params: { ...at, userId: newId() }, body: { roleId: reader.id } }),
    ])
      await expect(attempt()).rejects.toMatchObject({ status: 404 });
  });

  test('are told with every way that they come, through groups above and roles at any depth, in pages', async () => {
    let inner = (await role({ name: 'depth-00' })).name;
    for (let i = 1; i <= 12; i += 1) {
      const name = `depth-${String(i).padStart(2, '0')}`;
      inner = (await role({ name, composite: { roles: [inner], clientRoles: { 'a/b%c': ['tells'] } } })).name;
    }
    const { body: top } = await server.admin.call(createGroup, { params, body: { name: 'top', roles: [inner] } });
    const body = { name: 'below', parentId: top?.id ?? '', roles: ['depth-03'] };
    await server.admin.call(createGroup, { params, body });
    const { body: user } = await server.admin.call(createUser, {
      params,
      body: { username: 'deep', groups: ['/top/below'], roles: ['depth-00'] },
    });
    const at = { ...params, userId: user?.id ?? '' };
    const found: held.HeldRole[] = [];
    let cursor: string | undefined;
    do {
      const query = { effective: 'true', limit: 5, ...(cursor === undefined ? {} : { cursor }) };
      const answer = await server.admin.call(held.listUserRoles, { params: at, query });
      found.push(...(answer.body ?? []));
      cursor = answer.nextCursor;
    } while (cursor !== undefined);
    expect(found.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 13 }, (_, i) => `depth-${String(i).padStart(2, '0')}`),
      'tells',
    ]);
    const ways = (name: string) => found.find((one) => one.name === name)?.from;
    expect(ways('depth-00')).toEqual([
      { by: 'composite', name: 'depth-01', clientId: null },
      { by: 'direct', name: null, clientId: null },
    ]);
    expect(ways('depth-03')).toEqual([
      { by: 'composite', name: 'depth-04', clientId: null },
      { by: 'group', name: '/top/below', clientId: null },
    ]);
    expect(ways('depth-12')).toEqual([{ by: 'group', name: '/top', clientId: null }]);
    expect(ways('tells')).toHaveLength(12);
  });
});
