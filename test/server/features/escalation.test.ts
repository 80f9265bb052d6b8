// Owns: nobody can give, or take over, what they do not hold, from a user-manager's and a client-manager's side.
// Does not own: imports (transfer).
// Implements: decisions "Rights", "Admin authentication".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as access from '../../../server/contract/admin-access.ts';
import { deleteAdminRole, putAdminRole } from '../../../server/contract/admin-roles.ts';
import * as applications from '../../../server/contract/applications.ts';
import type { Client } from '../../../server/contract/client.ts';
import * as clients from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import { addGroupMember, addUserRole } from '../../../server/contract/memberships.ts';
import { builtInAdminRoles, type Permission } from '../../../server/contract/permissions.ts';
import { createRealm, putAdoption } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import * as users from '../../../server/contract/users.ts';
import {
  createWorkloadIdentity,
  deleteWorkloadIdentity,
  getWorkloadIdentity,
  putWorkloadIdentity,
} from '../../../server/contract/workload-identity.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { administrator } from '../../support/administrators.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let userManager: Client;
let clientManager: Client;
/** In acme: a person and a client who administer the realm, and plain ones. */
let boss = '';
let plain = '';
let robot = '';
let app = '';
const realm = 'acme';
const params = { realm };

beforeAll(async () => {
  server = await startTestServer();
  const { admin } = server;
  await admin.call(createRealm, { body: { realm } });
  const user = async (username: string) =>
    (await admin.call(users.createUser, { params, body: { username, password: 'a long enough password' } })).body?.id ??
    '';
  const client = async (clientId: string) =>
    (await admin.call(clients.createClient, { params, body: { clientId, grantTypes: ['client_credentials'] } })).body
      ?.id ?? '';
  boss = await user('boss');
  plain = await user('plain');
  robot = await client('robot');
  app = await client('app');
  const grants = [{ role: 'realm-admin', realm }];
  await admin.call(access.putUserAdminRoles, { params: { realm, userId: boss }, body: { grants } });
  await admin.call(access.putClientAdminRoles, { params: { realm, id: robot }, body: { grants } });
  const manager = (role: string) =>
    administrator(server, { home: realm, target: realm, permissions: builtInAdminRoles[role] ?? [] });
  userManager = await manager('user-manager');
  clientManager = await manager('client-manager');
});
afterAll(() => server?.stop());

const refused = { status: 403, problem: { type: 'urn:svc:problem:privilege-escalation' } };
const password = 'another long password';

describe('a user-manager', () => {
  test('manages people who administer nothing', async () => {
    const at = { realm, userId: plain };
    await userManager.call(users.setPassword, { params: at, body: { password } });
    const { body } = await userManager.call(users.putUser, { params: at, body: { username: 'plain', firstName: 'P' } });
    expect(body?.firstName).toBe('P');
  });

  test('cannot take over someone who holds more: no password, no edit, no credential, no deletion', async () => {
    const at = { realm, userId: boss };
    const { body: held = [] } = await userManager.call(users.listCredentials, { params: at });
    const roleId = (await server.admin.call(createRole, { params, body: { name: 'payer' } })).body?.id ?? '';
    const id = (await server.admin.call(createGroup, { params, body: { name: 'payers' } })).body?.id ?? '';
    const attempts = [
      () => userManager.call(addUserRole, { params: at, body: { roleId } }),
      () => userManager.call(addGroupMember, { params: { ...at, id } }),
      () => userManager.call(users.setPassword, { params: at, body: { password } }),
      () => userManager.call(users.putUser, { params: at, body: { username: 'boss', email: 'evil@example.test' } }),
      () => userManager.call(users.putUser, { params: at, body: { username: 'boss', password } }),
      () => userManager.call(users.putUser, { params: at, body: { username: 'boss', enabled: false } }),
      () => userManager.call(users.deleteCredential, { params: { ...at, type: 'password', id: held[0]?.id ?? '' } }),
      () => userManager.call(users.deleteUser, { params: at }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(refused);
    const boss2 = await server.signIn({ realm, username: 'boss', password: 'a long enough password' });
    expect((await boss2.call(users.getUser, { params: at })).body).toMatchObject({ email: null, enabled: true });
  });

  test('reads clients no more than it writes them', async () => {
    await expect(userManager.call(clients.listClients, { params })).rejects.toMatchObject({ status: 403 });
  });
});

describe('a client-manager', () => {
  test('manages clients that administer nothing', async () => {
    const { body } = await clientManager.call(clients.createClientSecret, { params: { realm, id: app } });
    expect(body?.secret).toMatch(/^svc_cs_/);
  });

  test('cannot take over a client that holds more: no secret, no key, no edit, no deletion', async () => {
    const at = { realm, id: robot };
    const edit = (body: object) =>
      clientManager.call(clients.putClient, { params: at, body: { clientId: 'robot', ...body } });
    const attempts = [
      () => clientManager.call(clients.createClientSecret, { params: at }),
      () => edit({ secret: 'a secret of mine, long enough' }),
      () => edit({ tokenEndpointAuthMethod: 'private_key_jwt', jwksUri: 'https://evil.example.test/jwks' }),
      () => edit({ tokenEndpointAuthMethod: 'none', grantTypes: ['authorization_code'] }),
      () => edit({ redirectUris: ['https://evil.example.test/'] }),
      () => clientManager.call(clients.deleteClient, { params: at }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(refused);
    const { body } = await clientManager.call(clients.getClient, { params: at });
    expect(body).toMatchObject({ secretSet: false, tokenEndpointAuthMethod: 'client_secret_basic' });
  });

  test('may send back what it read', async () => {
    const { body } = await clientManager.call(clients.getClient, { params: { realm, id: robot } });
    const again = await clientManager.call(clients.putClient, {
      params: { realm, id: robot },
      body: body!,
    });
    expect(again.body).toEqual(body);
  });
});

describe('an administrator of the settings cannot make certificates for clients', () => {
  let pem = '';
  const setAuthorities = (by: Client) => by.call(putSettings, { params, body: { tlsClientAuthAuthorities: pem } });
  const setter = (...permissions: Permission[]) =>
    administrator(server, {
      home: realm,
      target: realm,
      permissions: ['settings:read', 'settings:write', ...permissions],
    });
  beforeAll(async () => {
    pem = (await makeAuthority()).pem;
  });

  test('without permission for clients', async () => {
    const by = await setter();
    await expect(setAuthorities(by)).rejects.toMatchObject(refused);
    expect((await by.call(putSettings, { params, body: { displayName: 'Acme' } })).status).toBe(200);
  });

  test('that hold more, unless these have authorities of their own', async () => {
    const by = await setter('clients:read', 'clients:write');
    expect((await setAuthorities(by)).status).toBe(200);
    const body = { clientId: 'mtls', grantTypes: ['client_credentials' as const] };
    const tls = { ...body, tokenEndpointAuthMethod: 'tls_client_auth' as const, tlsClientAuthSubjectDn: 'CN=mtls' };
    const id = (await server.admin.call(clients.createClient, { params, body: tls })).body?.id ?? '';
    await server.admin.call(access.putClientAdminRoles, {
      params: { realm, id },
      body: { grants: [{ role: 'realm-admin', realm }] },
    });
    pem = (await makeAuthority('CN=Mine')).pem;
    await expect(setAuthorities(by)).rejects.toMatchObject(refused);
    await expect(
      by.call(importRealm, { params, query: {}, body: { realm: { tlsClientAuthAuthorities: pem } } }),
    ).rejects.toMatchObject({ status: 403 });
    await server.admin.call(clients.putClient, {
      params: { realm, id },
      body: { ...tls, tlsClientAuthAuthorities: (await makeAuthority()).pem },
    });
    expect((await setAuthorities(by)).status).toBe(200);
  });
});

test('a workload cannot be let in as a client that holds more', async () => {
  const clerk = await administrator(server, {
    home: realm,
    target: realm,
    permissions: ['workload-identity:read', 'workload-identity:write'],
  });
  const trust = (clientId: string) =>
    clerk.call(createWorkloadIdentity, {
      params,
      body: { name: clientId, issuer: 'https://issuer.example.test', subject: clientId, audience: 'here', clientId },
    });
  await expect(trust('robot')).rejects.toMatchObject(refused);
  expect((await trust('app')).status).toBe(201);
});

test('an identity that authenticates a client needs the permission that replaces its secret, too', async () => {
  const permissions: Permission[] = ['workload-identity:read', 'workload-identity:write'];
  const [clerk, keeper] = await Promise.all([
    administrator(server, { home: realm, target: realm, permissions }),
    administrator(server, {
      home: realm,
      target: realm,
      permissions: [...permissions, 'clients:read', 'clients:write'],
    }),
  ]);
  const of = (name: string, clientId = 'app') => ({
    ...{ name, issuer: 'https://issuer.example.test', subject: name, audience: 'here', clientId },
  });
  const use = 'authentication' as const;
  await expect(clerk.call(createWorkloadIdentity, { params, body: { ...of('a'), use } })).rejects.toMatchObject(
    refused,
  );
  await expect(
    keeper.call(createWorkloadIdentity, { params, body: { ...of('r', 'robot'), use } }),
  ).rejects.toMatchObject(refused);
  const id = (await keeper.call(createWorkloadIdentity, { params, body: { ...of('b'), use } })).body?.id ?? '';
  const at = { realm, id };
  await expect(clerk.call(putWorkloadIdentity, { params: at, body: { subject: 'mine' } })).rejects.toMatchObject(
    refused,
  );
  await expect(clerk.call(putWorkloadIdentity, { params: at, body: { use: 'exchange' } })).rejects.toMatchObject(
    refused,
  );
  await expect(clerk.call(deleteWorkloadIdentity, { params: at })).rejects.toMatchObject(refused);
  const body = { workloadIdentity: [{ ...of('b'), subject: 'mine' }] };
  await expect(clerk.call(importRealm, { params, query: {}, body })).rejects.toMatchObject({ status: 403 });
  expect((await clerk.call(createWorkloadIdentity, { params, body: of('c') })).status).toBe(201);
  expect((await keeper.call(putWorkloadIdentity, { params: at, body: { use: 'exchange' } })).status).toBe(200);
  expect((await clerk.call(deleteWorkloadIdentity, { params: at })).status).toBe(204);
});

describe('whoever gives admin roles', () => {
  let giver: Client;
  const give = (by: Client, userId: string, grants: access.AdminGrant[]) =>
    by.call(access.putUserAdminRoles, { params: { realm, userId }, body: { grants } });
  beforeAll(async () => {
    const permissions = [
      ...(builtInAdminRoles['user-manager'] ?? []),
      'admin-roles:read',
      'admin-roles:write',
    ] as const;
    giver = await administrator(server, { home: realm, target: realm, permissions });
  });

  test('gives what they hold, which takes effect at once', async () => {
    const { body } = await give(giver, plain, [{ role: 'user-manager', realm }]);
    expect(body?.grants).toEqual([{ role: 'user-manager', realm }]);
    const manager = await server.signIn({ realm, username: 'plain', password });
    expect((await manager.call(users.listUsers, { params })).status).toBe(200);
    await give(giver, plain, []);
    await expect(manager.call(users.listUsers, { params })).rejects.toMatchObject({ status: 401 });
  });

  test('neither gives nor takes away more than they hold', async () => {
    await expect(give(giver, plain, [{ role: 'realm-admin', realm }])).rejects.toMatchObject(refused);
    await expect(give(giver, boss, [])).rejects.toMatchObject(refused);
    const attempt = giver.call(access.putClientAdminRoles, {
      params: { realm, id: app },
      body: { grants: [{ role: 'client-manager', realm }] },
    });
    await expect(attempt).rejects.toMatchObject(refused);
  });

  test('takes nothing from a role that holds more, neither by making it narrower nor by emptying it', async () => {
    const at = { realm, id: newId() };
    const permissions: Permission[] = ['clients:write', 'users:read'];
    await server.admin.call(putAdminRole, { params: at, body: { name: 'wide', permissions } });
    for (const left of [['users:read'], []] satisfies Permission[][])
      await expect(giver.call(putAdminRole, { params: at, body: { permissions: left } })).rejects.toMatchObject(
        refused,
      );
  });

  test.each([
    ['another realm', { role: 'user-manager', realm: 'master' }],
    ['every realm', { role: 'user-manager', realm: '*' }],
    ['an unknown role', { role: 'nope', realm: 'acme' }],
  ])('cannot give %s from a realm that is not master', async (_, grant) => {
    await expect(give(server.admin, plain, [grant])).rejects.toMatchObject({ status: 400 });
  });
});

test('a role that was given over another realm is widened by nobody who holds too little there, not under a new name either', async () => {
  const at = { realm: 'master', id: newId() };
  const clerks: Permission[] = ['admin-roles:read', 'admin-roles:write', 'users:read', 'users:write'];
  await server.admin.call(putAdminRole, { params: at, body: { name: 'reach', permissions: ['users:read'] } });
  const { body: admins = [] } = await server.admin.call(users.listUsers, { params: { realm: 'master' } });
  const [holder] = admins;
  const of = { params: { realm: 'master', userId: holder?.id ?? '' } };
  const { body: held } = await server.admin.call(access.getUserAdminRoles, of);
  const grants = [...(held?.grants ?? []), { role: 'reach', realm }];
  await server.admin.call(access.putUserAdminRoles, { ...of, body: { grants } });
  const clerk = await administrator(server, { home: 'master', target: 'master', permissions: clerks });
  const wider = { permissions: ['users:read' as const, 'users:write' as const] };
  for (const body of [wider, { ...wider, name: 'reached' }])
    await expect(clerk.call(putAdminRole, { params: at, body })).rejects.toMatchObject(refused);
  await expect(clerk.call(deleteAdminRole, { params: at })).rejects.toMatchObject(refused);
});

test('an administrator of one realm cannot touch master’s administrators by their ids', async () => {
  const { body: list = [] } = await server.admin.call(users.listUsers, { params: { realm: 'master' } });
  const admin = list.find((user) => user.username === 'admin')?.id ?? '';
  const attempt = userManager.call(users.setPassword, { params: { realm, userId: admin }, body: { password } });
  await expect(attempt).rejects.toMatchObject({ status: 404 });
});

test('whoever manages users of master over one realm cannot take over its administrator over all', async () => {
  const { body: list = [] } = await server.admin.call(users.listUsers, { params: { realm: 'master' } });
  const admin = list.find((user) => user.username === 'admin')?.id ?? '';
  const inMaster = await administrator(server, {
    target: 'master',
    permissions: builtInAdminRoles['realm-admin'] ?? [],
  });
  const attempt = inMaster.call(users.setPassword, { params: { realm: 'master', userId: admin }, body: { password } });
  await expect(attempt).rejects.toMatchObject(refused);
});

test('a workload’s way to a client that holds more can no more be taken away than changed', async () => {
  const name = 'of-robot';
  const identity = { name, issuer: 'https://i.example', subject: 's', audience: 'a', clientId: 'robot' };
  const { body } = await server.admin.call(createWorkloadIdentity, { params, body: identity });
  const some = await administrator(server, {
    home: realm,
    target: realm,
    permissions: [
      'workload-identity:read',
      'workload-identity:write',
      'clients:read',
      'managers:read',
      'managers:write',
    ],
  });
  const at = { params: { realm, id: body?.id ?? '' } };
  await expect(some.call(deleteWorkloadIdentity, at)).rejects.toMatchObject(refused);
  const query = { manager: 'theirs', prune: 'true' } as const;
  await server.admin.call(importRealm, { params, query, body: { workloadIdentity: [{ name }] } });
  await expect(some.call(importRealm, { params, query, body: { workloadIdentity: [] } })).rejects.toMatchObject(
    refused,
  );
  expect((await server.admin.call(getWorkloadIdentity, at)).body?.name).toBe(name);
  await server.admin.call(deleteWorkloadIdentity, at);
});

describe('who keeps applications and no more', () => {
  const make = (who: Client, body: { name: string }) => who.call(applications.createApplication, { params, body });

  test('cannot say who signs in to a client that holds more, before or after, by API or by document', async () => {
    const keeper = await administrator(server, {
      home: realm,
      target: realm,
      permissions: ['applications:read', 'applications:write', 'clients:read'],
    });
    const off = { clients: ['robot'], enabled: false };
    await expect(make(keeper, { name: 'seized', ...off })).rejects.toMatchObject(refused);
    const byDocument = { params, body: { applications: [{ name: 'seized', ...off }] } };
    await expect(keeper.call(importRealm, byDocument)).rejects.toMatchObject(refused);
    await make(server.admin, { name: 'machines', ...{ clients: ['robot'] } });
    const at = { params: { realm, name: 'machines' } };
    for (const body of [{ enabled: false }, { clients: [] }, { flowOverride: 'browser' }, { roles: ['payer'] }])
      await expect(keeper.call(applications.putApplication, { ...at, body })).rejects.toMatchObject(refused);
    await expect(keeper.call(applications.deleteApplication, at)).rejects.toMatchObject(refused);
    await make(keeper, { name: 'plain', ...{ clients: ['app'], enabled: false } });
    await keeper.call(applications.deleteApplication, { params: { realm, name: 'plain' } });
    await server.admin.call(applications.deleteApplication, at);
  });

  test('cannot shut out whoever signs in by realmctl, nor can anybody', async () => {
    const body = { name: 'shut', clients: ['realmctl'], enabled: false };
    const fault = { status: 400, problem: { errors: [{ path: 'clients' }] } };
    await expect(
      server.admin.call(applications.createApplication, { params: { realm: 'master' }, body }),
    ).rejects.toMatchObject(fault);
  });
});

describe('who may write the realm itself and no more', () => {
  test('cannot let a namespace adopt it, which could then do everything in it; they can take such leave back', async () => {
    const allow = (who: Client, ...managers: string[]) => who.call(putAdoption, { params, body: { managers } });
    const some = await administrator(server, {
      home: realm,
      target: realm,
      permissions: ['realm:read', 'realm:write'],
    });
    await expect(allow(some, 'k8s:prod/evil/*')).rejects.toMatchObject(refused);
    const every = await administrator(server, {
      home: realm,
      target: realm,
      permissions: builtInAdminRoles['realm-admin'] ?? [],
    });
    expect((await allow(every, 'k8s:prod/identity/*', 'k8s:prod/shop/*')).body?.managers).toHaveLength(2);
    await expect(allow(some, 'k8s:prod/identity/*', 'k8s:prod/*')).rejects.toMatchObject(refused);
    expect((await allow(some, 'k8s:prod/identity/*')).body?.managers).toEqual(['k8s:prod/identity/*']);
    expect((await allow(some)).body?.managers).toEqual([]);
  });
});

test('who asks for more than they hold is in the audit log, once for each time, whatever they tried', async () => {
  const tries = async () =>
    (await server.admin.call(listEvents, { params, query: { type: 'ACCESS_DENIED', limit: 1000 } })).body ?? [];
  const before = (await tries()).length;
  await expect(userManager.call(users.setPassword, { params: { realm, userId: boss }, body: { password } }))
    .rejects //
    .toMatchObject(refused);
  const body = { clients: [{ clientId: 'robot', secret: 'a secret of my own, that is long enough' }] };
  await expect(clientManager.call(importRealm, { params, query: { manager: 'me' }, body })).rejects.toMatchObject({
    status: 403,
  });
  const found = (await tries()).slice(0, 2);
  expect(await tries()).toHaveLength(before + 2);
  expect(found.map(({ data }) => [data.permission, data.path])).toEqual([
    ['privilege-escalation', `/admin/realms/${realm}/import`],
    ['privilege-escalation', `/admin/realms/${realm}/users/${boss}/password`],
  ]);
});
