// Owns: what somebody may do who administers the members of one group, or one client: that, and nothing beside it.
// Does not own: permissions over whole realms (escalation.test.ts), admin roles as a resource (resource/same-by-both-ways.test.ts).
// Implements: decisions "Admin authentication", "Rights".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as access from '../../../server/contract/admin-access.ts';
import { adminRoles, createAdminRole, listAdminRoles } from '../../../server/contract/admin-roles.ts';
import type { Client } from '../../../server/contract/client.ts';
import * as clients from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import * as groups from '../../../server/contract/groups.ts';
import * as memberships from '../../../server/contract/memberships.ts';
import { builtInAdminRoles, limitable, type Permission } from '../../../server/contract/permissions.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import type { Route } from '../../../server/contract/route.ts';
import { exportRealm, importRealm } from '../../../server/contract/transfer.ts';
import * as userAccess from '../../../server/contract/user-access.ts';
import * as users from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { administrator } from '../../support/administrators.ts';
import { contractRoutes } from '../../support/contract-routes.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
/** Of the group /sales. */
let manager: Client;
/** Of the client `shop`. */
let keeper: Client;
const realm = 'acme';
const params = { realm };
const password = 'a long enough password';
const ids: Record<string, string> = {};
const at = (username: string) => ({ realm, userId: ids[username] ?? '' });
const group = (path: string) => ({ realm, id: ids[path] ?? '' });
const client = (clientId: string) => ({ realm, id: ids[clientId] ?? '' });

beforeAll(async () => {
  server = await startTestServer();
  const { admin } = server;
  await admin.call(createRealm, { body: { realm } });
  await admin.call(importRealm, {
    params,
    body: {
      roles: [{ name: 'payer' }, { name: 'everybody', default: true }],
      groups: [{ path: '/all', default: true }, { path: '/sales' }, { path: '/sales/north' }, { path: '/salesmen' }],
      organizations: [{ name: 'partner', members: ['partnered'] }],
      clients: [
        { clientId: 'shop' },
        { clientId: 'billing' },
        { clientId: 'robot', grantTypes: ['client_credentials'] },
      ],
      adminRoles: [
        { name: 'sales-manager', permissions: [...limitable.groups], groups: ['/sales'] },
        { name: 'shop-keeper', permissions: [...limitable.clients], clients: ['shop', 'robot'] },
      ],
      serviceAccountRoles: [{ clientId: 'robot', adminRoles: ['shop-keeper'] }],
      users: [
        { username: 'sal', groups: ['/sales'] },
        { username: 'nora', groups: ['/sales/north', '/all'], roles: ['everybody'] },
        { username: 'manager', groups: ['/sales'] },
        { username: 'keeper' },
        { username: 'outsider', groups: ['/salesmen'] },
        { username: 'both', groups: ['/sales', '/salesmen'] },
        { username: 'payer', groups: ['/sales'], roles: ['payer'] },
        { username: 'partnered', groups: ['/sales'] },
        { username: 'boss', groups: ['/sales'] },
      ],
    },
  });
  for (const user of (await admin.call(users.listUsers, { params })).body ?? []) ids[user.username] = user.id;
  for (const one of (await admin.call(groups.listGroups, { params })).body ?? []) ids[one.path] = one.id;
  for (const one of (await admin.call(clients.listClients, { params })).body ?? []) ids[one.clientId] = one.id;
  for (const username of ['manager', 'keeper'])
    await admin.call(users.setPassword, { params: at(username), body: { password } });
  const give = (username: string, role: string) =>
    admin.call(access.putUserAdminRoles, { params: at(username), body: { grants: [{ role, realm }] } });
  await give('manager', 'sales-manager');
  await give('keeper', 'shop-keeper');
  await give('boss', 'realm-viewer');
  manager = await server.signIn({ realm, username: 'manager', password });
  keeper = await server.signIn({ realm, username: 'keeper', password });
});
afterAll(() => server?.stop());

const forbidden = { status: 403 };
const refused = { status: 403, problem: { type: 'urn:svc:problem:privilege-escalation' } };
const members = ['boss', 'both', 'manager', 'nora', 'partnered', 'payer', 'sal'];

describe('who administers the members of one group', () => {
  test('is told so, and holds nothing over the realm', async () => {
    const { body } = await manager.call(access.getAdminSession, {});
    expect(body).toMatchObject({ permissions: {}, limited: [{ groups: [ids['/sales']], clients: [] }] });
  });

  test('sees these people, whatever they search by, and those of subgroups, page by page', async () => {
    const names = async (query: Record<string, unknown>) =>
      (await manager.call(users.listUsers, { params, query })).body?.map(({ username }) => username);
    expect(await names({})).toEqual(members);
    expect(await names({ q: 'o' })).toEqual(['boss', 'both', 'nora']);
    expect(await names({ group: '/salesmen' })).toEqual(['both']);
    expect(await names({ limit: 2 })).toEqual(members.slice(0, 2));
    const page = await manager.call(users.listUsers, { params, query: { limit: 2 } });
    expect(page.body).toHaveLength(2);
  });

  test('reads a person, their roles, credentials, lock and sessions, and no other person', async () => {
    const reads = [
      users.getUser,
      users.getRequiredActions,
      users.listCredentials,
      memberships.listUserRoles,
      userAccess.getLockout,
      userAccess.listUserSessions,
    ];
    for (const route of reads as Route[]) {
      expect((await manager.call(route, { params: at('both') })).status, route.path).toBe(200);
      for (const userId of [ids.outsider, newId()])
        await expect(manager.call(route, { params: { realm, userId } }), route.path).rejects.toMatchObject(forbidden);
    }
  });

  test('sees these groups and their members, and no other group', async () => {
    const { body } = await manager.call(groups.listGroups, { params });
    expect(body?.map(({ path }) => path)).toEqual(['/sales', '/sales/north']);
    expect((await manager.call(groups.getGroup, { params: group('/sales/north') })).body?.path).toBe('/sales/north');
    const { body: inside } = await manager.call(memberships.listGroupMembers, { params: group('/sales/north') });
    expect(inside?.map(({ username }) => username)).toEqual(['nora']);
    for (const route of [groups.getGroup, groups.listGroupRoles, memberships.listGroupMembers] as Route[])
      await expect(manager.call(route, { params: group('/salesmen') }), route.path).rejects.toMatchObject(forbidden);
  });

  test('keeps these people: password, names, address, actions, lock, sessions, subgroups', async () => {
    const sal = at('sal');
    const put = (body: object) => manager.call(users.putUser, { params: sal, body });
    await manager.call(users.setPassword, { params: sal, body: { password: 'another long password' } });
    const { body } = await put({ firstName: 'Sally', email: 'sal@example.test', attributes: { desk: ['7'] } });
    expect(body).toMatchObject({ firstName: 'Sally', emailVerified: false, attributes: { desk: ['7'] } });
    await put({ ...body, groups: ['/sales', '/sales/north'] });
    await manager.call(memberships.removeGroupMember, { params: { ...sal, id: ids['/sales/north'] ?? '' } });
    await manager.call(memberships.addGroupMember, { params: { ...sal, id: ids['/sales/north'] ?? '' } });
    await manager.call(users.putRequiredActions, { params: sal, body: { requiredActions: ['UPDATE_PROFILE'] } });
    await manager.call(userAccess.deleteLockout, { params: sal });
    await manager.call(userAccess.endUserSessions, { params: sal });
    const now = (await server.admin.call(users.getUser, { params: sal })).body;
    expect(now).toMatchObject({ groups: ['/sales', '/sales/north'], requiredActions: ['UPDATE_PROFILE'] });
  });

  test('gives a person another address, and never as a verified one', async () => {
    const sal = at('sal');
    const own = { email: 'sally@example.test', emailVerified: true };
    await server.admin.call(users.putUser, { params: sal, body: own });
    const put = (body: object) => manager.call(users.putUser, { params: sal, body });
    await expect(put({ email: 'ceo@example.test', emailVerified: true })).rejects.toMatchObject(refused);
    await expect(put({ email: null, emailVerified: true })).rejects.toMatchObject(refused);
    expect((await server.admin.call(users.getUser, { params: sal })).body).toMatchObject(own);
    expect((await put({ ...own, firstName: 'Sal' })).body).toMatchObject({ ...own, firstName: 'Sal' });
    const other = { email: 'other@example.test' };
    expect((await put(other)).body).toMatchObject({ ...other, emailVerified: false });
    await expect(put({ ...other, emailVerified: true })).rejects.toMatchObject(refused);
  });

  test('changes nobody who has something from elsewhere: another group, a role, an organization, an admin role', async () => {
    for (const username of ['both', 'payer', 'partnered', 'outsider', 'boss']) {
      const writes = [
        () => manager.call(users.setPassword, { params: at(username), body: { password: 'another long password' } }),
        () => manager.call(users.putUser, { params: at(username), body: { email: 'mine@example.test' } }),
        () => manager.call(users.deleteUser, { params: at(username) }),
        () => manager.call(userAccess.endUserSessions, { params: at(username) }),
      ];
      for (const write of writes) await expect(write(), username).rejects.toMatchObject(forbidden);
    }
  });

  test('gives nothing that is not theirs to give', async () => {
    const nora = at('nora');
    const roleId = newId();
    const put = (body: object) => () => manager.call(users.putUser, { params: nora, body });
    for (const attempt of [
      put({ roles: ['everybody', 'payer'] }),
      put({ roles: [] }),
      put({ groups: ['/sales/north', '/salesmen', '/all'] }),
      put({ groups: ['/sales/north'] }),
      put({ username: 'ceo' }),
      put({ email: 'ceo@example.test', emailVerified: true }),
    ])
      await expect(attempt()).rejects.toMatchObject(refused);
    await expect(manager.call(memberships.addUserRole, { params: nora, body: { roleId } })).rejects.toMatchObject(
      forbidden,
    );
    const takesIn = { ...at('outsider'), id: ids['/sales'] ?? '' };
    await expect(manager.call(memberships.addGroupMember, { params: takesIn })).rejects.toMatchObject(forbidden);
    const sendsOut = { ...nora, id: ids['/salesmen'] ?? '' };
    await expect(manager.call(memberships.addGroupMember, { params: sendsOut })).rejects.toMatchObject(forbidden);
    const after = (await server.admin.call(users.getUser, { params: nora })).body;
    expect(after).toMatchObject({
      username: 'nora',
      roles: ['everybody'],
      groups: ['/all', '/sales/north'],
      email: null,
    });
  });

  test('makes people in these groups alone, and lets them go again', async () => {
    const make = (body: object) => manager.call(users.createUser, { params, body: { username: 'newcomer', ...body } });
    for (const body of [
      {},
      { groups: [] },
      { groups: ['/salesmen'] },
      { groups: ['/sales', '/salesmen'] },
      { groups: ['/sales'], roles: ['payer'] },
      { groups: ['/sales'], email: 'n@example.test', emailVerified: true },
    ])
      await expect(make(body), JSON.stringify(body)).rejects.toMatchObject(refused);
    const { body } = await make({ groups: ['/sales/north'], password });
    expect(body?.groups).toContain('/sales/north');
    await manager.call(users.deleteUser, { params: { realm, userId: body?.id ?? '' } });
  });

  test('a denied attempt is in the audit log', async () => {
    await expect(manager.call(users.getUser, { params: at('outsider') })).rejects.toMatchObject(forbidden);
    const { body } = await server.admin.call(listEvents, { params, query: { type: 'ACCESS_DENIED', limit: 1 } });
    expect(body?.[0]).toMatchObject({ actor: { name: 'manager' }, data: { permission: 'users:read' } });
  });
});

describe('who changes groups', () => {
  const move = (by: Client, path: string, body: object) => by.call(groups.putGroup, { params: group(path), body });
  /** Over the realm they hold `permissions`, and over /sales all that can be limited. */
  const mover = async (permissions: readonly Permission[]) => {
    const made = await administrator(server, { home: realm, target: realm, permissions });
    const { body: me } = await made.call(access.getAdminSession, {});
    const of = { params: { realm, userId: me?.id ?? '' } };
    const { body: held } = await server.admin.call(access.getUserAdminRoles, of);
    await server.admin.call(access.putUserAdminRoles, {
      ...of,
      body: { grants: [...(held?.grants ?? []), { role: 'sales-manager', realm }] },
    });
    return server.signIn({ realm, username: me?.name ?? '', password: ADMIN_PASSWORD });
  };

  test('brings nobody below a group whose administrators may do more than they do themselves', async () => {
    const clerk = await mover(['groups:read', 'groups:write']);
    const below = { parentId: ids['/sales'] ?? '' };
    for (const body of [below, { parentId: ids['/sales/north'] }, { ...below, name: 'renamed' }])
      await expect(move(clerk, '/salesmen', body)).rejects.toMatchObject(refused);
    await expect(move(clerk, '/sales/north', { default: true })).rejects.toMatchObject(refused);
    const all = { name: 'all', default: true, ...below };
    await expect(clerk.call(groups.createGroup, { params, body: all })).rejects.toMatchObject(refused);
    const byDocument = { params, body: { groups: [{ path: '/sales/all', default: true }] } };
    await expect(clerk.call(importRealm, byDocument)).rejects.toMatchObject(refused);
    await expect(clerk.call(users.getUser, { params: at('outsider') })).rejects.toMatchObject(forbidden);
    expect((await server.admin.call(groups.getGroup, { params: group('/salesmen') })).body?.path).toBe('/salesmen');
  });

  test('moves what stays with the same administrators, and what they hold all of', async () => {
    const clerk = await mover(['groups:read', 'groups:write']);
    const { body: made } = await clerk.call(groups.createGroup, {
      params,
      body: { name: 'empty', parentId: ids['/sales/north'] ?? '' },
    });
    const empty = { params: { realm, id: made?.id ?? '' } };
    const up = await clerk.call(groups.putGroup, { ...empty, body: { parentId: ids['/sales'] ?? '' } });
    expect(up.body?.path).toBe('/sales/empty');
    expect((await clerk.call(groups.putGroup, { ...empty, body: { name: 'void' } })).body?.path).toBe('/sales/void');
    expect((await clerk.call(groups.putGroup, { ...empty, body: { parentId: null } })).body?.path).toBe('/void');
    await expect(
      clerk.call(groups.putGroup, { ...empty, body: { parentId: ids['/sales'] ?? '' } }),
    ).rejects.toMatchObject(refused);
    const userManager = await mover(builtInAdminRoles['user-manager'] ?? []);
    const down = await userManager.call(groups.putGroup, { ...empty, body: { parentId: ids['/sales'] ?? '' } });
    expect(down.body?.path).toBe('/sales/void');
    await userManager.call(groups.deleteGroup, empty);
  });
});

describe('who administers one client', () => {
  test('sees it and no other', async () => {
    const { body } = await keeper.call(clients.listClients, { params });
    expect(body?.map(({ clientId }) => clientId)).toEqual(['robot', 'shop']);
    expect((await keeper.call(clients.getClient, { params: client('shop') })).body?.clientId).toBe('shop');
    for (const route of [clients.getClient, clients.getClientSecret] as Route[])
      await expect(keeper.call(route, { params: client('billing') })).rejects.toMatchObject(forbidden);
  });

  test('keeps its addresses, its keys and its secret', async () => {
    const redirectUris = ['https://shop.example.test/callback'];
    const before = (await keeper.call(clients.getClient, { params: client('shop') })).body;
    const { body } = await keeper.call(clients.putClient, {
      params: client('shop'),
      body: { ...before, redirectUris, name: 'Shop' },
    });
    expect(body).toMatchObject({ redirectUris, name: 'Shop' });
    const { body: made } = await keeper.call(clients.createClientSecret, { params: client('shop') });
    expect(made?.secret).toMatch(/^svc_cs_/);
  });

  test('changes nothing by which it would be let do more', async () => {
    const put = (body: object) => () => keeper.call(clients.putClient, { params: client('shop'), body });
    for (const attempt of [
      put({ serviceAccountRoles: ['payer'] }),
      put({ grantTypes: ['client_credentials'] }),
      put({ allowedResources: [`${server.baseUrl}/admin`] }),
      put({ defaultClientScopes: [] }),
      put({ requirePkce: false }),
      put({ tokenEndpointAuthMethod: 'none' }),
      put({ clientId: 'billing-too' }),
      put({ consentRequired: true, name: 'Shop 2' }),
    ])
      await expect(attempt()).rejects.toMatchObject(refused);
    const scopes = { params: { realm, clientId: ids.shop ?? '' }, body: { roles: ['payer'] } };
    await expect(keeper.call(clients.addServiceAccountRoles, scopes)).rejects.toMatchObject(forbidden);
    await expect(keeper.call(clients.deleteClient, { params: client('shop') })).rejects.toMatchObject(forbidden);
    expect((await keeper.call(clients.getClient, { params: client('shop') })).body?.name).toBe('Shop');
  });

  test('cannot become it where it administers something', async () => {
    await expect(keeper.call(clients.createClientSecret, { params: client('robot') })).rejects.toMatchObject(refused);
    const body = { secret: 'a secret of my own choosing' };
    await expect(keeper.call(clients.putClient, { params: client('robot'), body })).rejects.toMatchObject(refused);
  });
});

test('every operation that does not say so is denied to both, and nothing of the realm is told', async () => {
  const inRealm = (await contractRoutes()).filter(
    ({ path, permission }) => permission !== null && path.startsWith('/admin/realms/:realm'),
  );
  expect(inRealm.filter(({ reach }) => reach).length).toBeGreaterThan(20);
  for (const route of inRealm.filter(({ reach }) => !reach)) {
    const named = [...route.path.matchAll(/[:*](\w+)/g)].map(([, name]) => [name, newId()]);
    const input = {
      params: { ...Object.fromEntries(named), realm },
      ...(route.example !== undefined && { body: route.example }),
    };
    for (const by of [manager, keeper])
      await expect(by.call(route, input), `${route.method} ${route.path}`).rejects.toMatchObject(forbidden);
  }
  await expect(manager.call(exportRealm, { params })).rejects.toMatchObject(forbidden);
  for (const dryRun of ['true', 'false'])
    await expect(
      manager.call(importRealm, { params, query: { dryRun }, body: { users: [{ username: 'sal' }] } }),
    ).rejects.toMatchObject(forbidden);
});

describe('an admin role with limits', () => {
  const put = (by: Client, role: string, body: object) =>
    by.call(adminRoles.routes.put, { params: { realm, id: ids[role] ?? newId() }, body });
  const roleOf = async (name: string) => {
    const { body = [] } = await server.admin.call(listAdminRoles, { params });
    const role = body.find((one) => one.name === name);
    ids[name] = role?.id ?? '';
    return role;
  };

  test('holds no permission that counts for a whole realm', async () => {
    const make = (body: { permissions: Permission[]; groups?: string[]; clients?: string[] }) =>
      server.admin.call(createAdminRole, { params, body: { name: 'odd', ...body } });
    for (const body of [
      { permissions: ['realm:read' as const], groups: ['/sales'] },
      { permissions: ['clients:write' as const], groups: ['/sales'] },
      { permissions: ['users:write' as const], clients: ['shop'] },
      { permissions: [], clients: ['realmctl'] },
      { permissions: [], groups: ['/nowhere'] },
    ])
      await expect(make(body), JSON.stringify(body)).rejects.toMatchObject({ status: 400 });
  });

  test('is lifted by nobody who does not hold it over the realm', async () => {
    await roleOf('sales-manager');
    const clerk = await administrator(server, {
      home: realm,
      target: realm,
      permissions: ['admin-roles:read', 'admin-roles:write', 'groups:read'],
    });
    for (const limits of [{ groups: null }, { groups: ['/sales', '/salesmen'] }, { groups: [] }])
      await expect(put(clerk, 'sales-manager', limits)).rejects.toMatchObject(refused);
    const grants = { params: at('sal'), body: { grants: [{ role: 'sales-manager', realm }] } };
    await expect(clerk.call(access.putUserAdminRoles, grants)).rejects.toMatchObject(refused);
  });

  test('counts in its own realm alone', async () => {
    const body = { name: 'limited', permissions: ['users:read' as const], groups: [] };
    await server.admin.call(createAdminRole, { params: { realm: 'master' }, body });
    const { body: made } = await server.admin.call(users.createUser, {
      params: { realm: 'master' },
      body: { username: 'far' },
    });
    const put = (target: string) =>
      server.admin.call(access.putUserAdminRoles, {
        params: { realm: 'master', userId: made?.id ?? '' },
        body: { grants: [{ role: 'limited', realm: target }] },
      });
    for (const target of ['*', realm]) await expect(put(target)).rejects.toMatchObject({ status: 400 });
    expect((await put('master')).status).toBe(200);
  });

  test('follows its group’s new name, and counts for nobody once its last group is gone', async () => {
    await server.admin.call(groups.putGroup, { params: group('/sales'), body: { name: 'trade' } });
    expect(await roleOf('sales-manager')).toMatchObject({ groups: ['/trade'] });
    expect((await manager.call(users.listUsers, { params })).body).toHaveLength(members.length);
    await server.admin.call(groups.deleteGroup, { params: group('/sales') });
    expect(await roleOf('sales-manager')).toMatchObject({ groups: [] });
    expect((await manager.call(users.listUsers, { params })).body).toEqual([]);
    await expect(manager.call(users.getUser, { params: at('sal') })).rejects.toMatchObject(forbidden);
  });
});
