// Owns: the setting declaredOnly over HTTP: what it locks, for whom, what opens it, who may change it, what stays open.
// Does not own: the routes that a lock must cover (declared-only.routes.unit.test.ts), the console (console/declared-only.test.ts).
// Implements: decisions "Declared only".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../../server/contract/client.ts';
import {
  createClient,
  createClientSecret,
  deleteClient,
  listClients,
  putClient,
} from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createGroup, listGroups } from '../../../server/contract/groups.ts';
import { undoHistory } from '../../../server/contract/history.ts';
import { endHold, type HeldThing, placeHold } from '../../../server/contract/holds.ts';
import { getRealm } from '../../../server/contract/realms.ts';
import { createRole, listRoles } from '../../../server/contract/roles.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { importRealm, releaseManager } from '../../../server/contract/transfer.ts';
import { createUser } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const GIT = 'k8s:prod/identity/Realm/locked';
const owner = { manager: GIT };
let server: TestServer;
let admin: Client;
let api: Importer;
let realms = 0;
let realm = '';
let params = { realm };

beforeAll(async () => {
  server = await startTestServer();
  admin = server.admin;
  api = await importer(server);
});
afterAll(() => server?.stop());

const declared = {
  clients: [{ clientId: 'shop', name: 'Shop', redirectUris: ['https://shop.example.com/'] }],
  roles: [{ name: 'reader' }],
  groups: [{ path: '/staff' }],
};
/** A realm of the test's own that Git manages, with these sections declared only. */
async function locked(...declaredOnly: string[]): Promise<void> {
  realms += 1;
  realm = `locked-${realms}`;
  params = { realm };
  await api.apply(realm, { ...declared, realm: { declaredOnly, passwordMinLength: 14 } }, owner);
}
const shop = async () => (await admin.call(listClients, { params })).body?.find((one) => one.clientId === 'shop');
const at = async () => ({ realm, id: (await shop())?.id ?? '' });
const hold = async (...what: HeldThing[]) =>
  (
    await admin.call(placeHold, {
      params,
      body: { what, reason: 'the shop is down', until: Date.now() + 3_600_000 },
    })
  ).body?.id ?? '';
const refused = (...words: string[]) => ({
  status: 409,
  problem: {
    type: 'urn:svc:problem:declared-only',
    detail: expect.stringMatching(new RegExp(words.map((word) => `(?=[^]*${RegExp.escape(word)})`).join(''))),
  },
});
const send = async (method: string, path: string, body?: object) => {
  const answer = await api.fetch(`/admin/realms/${realm}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await answer.text();
  return { status: answer.status, type: text === '' ? undefined : Reflect.get(Object(JSON.parse(text)), 'type') };
};

test('an object of a locked section is changed by its manager alone; the refusal names it and the ways on', async () => {
  await locked('clients');
  const words = refused('the client shop', GIT, 'hange the declaration', 'place a hold');
  await expect(admin.call(putClient, { params: await at(), body: { name: 'By hand' } })).rejects.toMatchObject(words);
  await expect(admin.call(deleteClient, { params: await at() })).rejects.toMatchObject({
    ...words,
    problem: { ...words.problem, locked: [{ kind: 'client', key: 'shop', manager: GIT }] },
  });
  await expect(admin.call(createClient, { params, body: { clientId: 'new' } })).rejects.toMatchObject(
    refused('the client new', GIT),
  );
  // unchanged, so nothing is written
  expect((await admin.call(putClient, { params: await at(), body: { name: 'Shop' } })).body?.name).toBe('Shop');
  // other sections are open
  await admin.call(createRole, { params, body: { name: 'by-hand' } });
  await admin.call(putSettings, { params, body: { requireMfa: true } });
  const plan = await api.apply(realm, { clients: [{ clientId: 'shop', name: 'Shop 2' }, { clientId: 'new' }] }, owner);
  expect(plan.summary).toMatchObject({ create: 1, update: 1 });
  expect((await admin.call(getRealm, { params })).body?.declaredOnly).toEqual(['clients']);
});

test('an import without a manager is a change by hand, its dry run too; with one it is a declaration', async () => {
  await locked('clients', 'roles');
  const changed = { clients: [{ clientId: 'shop', name: 'By hand' }] };
  for (const query of [{}, { dryRun: 'true' }, { force: 'true' }, { manager: 'import', force: 'true', dryRun: 'true' }])
    expect(await api.refusal(realm, { roles: [{ name: 'by-hand' }] }, query)).toMatchObject({
      status: 409,
      type: 'urn:svc:problem:declared-only',
      detail: expect.stringContaining('the role by-hand'),
    });
  expect((await api.refusal(realm, changed, { force: 'true' })).type).toBe('urn:svc:problem:declared-only');
  // taking over what is there, without a change, would keep its manager away
  const taking = { clients: [{ clientId: 'shop', name: 'Shop' }] };
  expect((await api.refusal(realm, taking, { force: 'true' })).type).toBe('urn:svc:problem:declared-only');
  expect((await api.apply(realm, { groups: [{ path: '/by-hand' }] })).summary.create).toBe(1);
  expect((await api.apply(realm, { roles: [{ name: 'declared' }] }, { manager: 'pipeline' })).summary.create).toBe(1);
  const names = (await admin.call(listRoles, { params })).body?.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['declared']));
  expect(names).not.toContain('by-hand');
  const keycloak = { realm, clients: [{ clientId: 'theirs', publicClient: true }] };
  expect(await send('POST', '/import/keycloak?dryRun=true', keycloak)).toMatchObject({
    status: 409,
    type: 'urn:svc:problem:declared-only',
  });
  expect(await send('POST', '/import/keycloak?manager=migration', keycloak)).toMatchObject({ status: 200 });
});

describe('a hold', () => {
  test('opens the object that it names, and no other', async () => {
    await locked('*');
    await hold({ kind: 'client', key: 'shop' });
    await admin.call(putClient, { params: await at(), body: { name: 'By hand' } });
    expect((await shop())?.name).toBe('By hand');
    await expect(admin.call(createRole, { params, body: { name: 'by-hand' } })).rejects.toMatchObject(refused(GIT));
  });

  test('opens the making of an object that no manager declares yet, a setting, and a whole kind until it ends', async () => {
    await locked('*');
    await hold({ kind: 'client', key: 'emergency' }, { kind: 'settings', key: 'requireMfa' });
    await admin.call(createClient, { params, body: { clientId: 'emergency' } });
    await admin.call(putSettings, { params, body: { requireMfa: true } });
    await expect(
      admin.call(putSettings, { params, body: { requireMfa: false, rememberMe: true } }),
    ).rejects.toMatchObject(refused('the setting rememberMe'));
    const all = await hold({ kind: 'role' });
    await admin.call(createRole, { params, body: { name: 'one' } });
    await admin.call(endHold, { params: { realm, id: all } });
    await expect(admin.call(createRole, { params, body: { name: 'two' } })).rejects.toMatchObject(refused('role two'));
    await expect(hold({ kind: 'settings', key: 'nothing' })).rejects.toMatchObject({ status: 400 });
  });
});

describe('the setting', () => {
  test('needs managers:write, whichever way it is changed', async () => {
    await locked('clients');
    const editor = await administrator(server, {
      target: realm,
      permissions: ['settings:read', 'settings:write', 'clients:read', 'clients:write', 'realm:read'],
    });
    const lift = { params, body: { declaredOnly: [] } };
    await expect(editor.call(putSettings, lift)).rejects.toMatchObject({
      status: 403,
      problem: { detail: expect.stringContaining('managers:write') },
    });
    // a section that is locked is not told apart from one that isn't
    await expect(editor.call(putSettings, { params, body: { declaredOnly: ['roles'] } })).rejects.toMatchObject({
      status: 403,
    });
    await expect(
      editor.call(importRealm, {
        params,
        query: { manager: 'mine', force: 'true' },
        body: { realm: { declaredOnly: [] } },
      }),
    ).rejects.toMatchObject({ status: 403 });
    expect((await admin.call(getSettings, { params })).body?.declaredOnly).toEqual(['clients']);
  });

  test('is never locked itself: who may change managers lifts it', async () => {
    await locked('*');
    const keeper = await administrator(server, {
      target: realm,
      permissions: ['settings:read', 'settings:write', 'managers:write'],
    });
    await expect(keeper.call(putSettings, { params, body: { requireMfa: true } })).rejects.toMatchObject(refused(GIT));
    await keeper.call(putSettings, { params, body: { declaredOnly: [] } });
    await keeper.call(putSettings, { params, body: { requireMfa: true } });
    const { body: events } = await admin.call(listEvents, { params, query: { type: 'SETTINGS_UPDATED', limit: 2 } });
    expect(events?.[1]?.data).toMatchObject({ changes: [{ field: 'declaredOnly', from: ['*'], to: [] }] });
    // a realm whose managers are gone is no dead end either
    await keeper.call(putSettings, { params, body: { declaredOnly: ['*'] } });
    await admin.call(releaseManager, { params: { realm, manager: GIT } });
    await expect(admin.call(createRole, { params, body: { name: 'x' } })).rejects.toMatchObject(refused('No manager'));
    await keeper.call(putSettings, { params, body: { declaredOnly: [] } });
    await admin.call(createRole, { params, body: { name: 'x' } });
  });

  test('is refused in a realm that no manager declares, and an import warns', async () => {
    realm = 'unmanaged';
    params = { realm };
    await api.apply(realm, { roles: [{ name: 'reader' }] });
    await expect(admin.call(putSettings, { params, body: { declaredOnly: ['roles'] } })).rejects.toMatchObject({
      status: 400,
      problem: { errors: [{ path: 'declaredOnly', message: expect.stringContaining('no manager') }] },
    });
    const plan = await api.apply(realm, { realm: { declaredOnly: ['roles'] } }, { dryRun: 'true' });
    expect(plan.warnings).toMatchObject([{ kind: 'settings', message: expect.stringContaining('no manager') }]);
    await api.apply(realm, { groups: [{ path: '/a' }] }, owner);
    await admin.call(putSettings, { params, body: { declaredOnly: ['roles'] } });
    for (const declaredOnly of [['users'], ['nothing'], ['*', 'roles'], ['roles', 'roles']])
      await expect(admin.call(putSettings, { params, body: { declaredOnly } as never })).rejects.toMatchObject({
        status: 400,
      });
  });
});

test('an undo is a change by hand; its dry run says the same, and a hold opens it', async () => {
  await locked('roles');
  const { revision } = await api.apply(realm, { roles: [{ name: 'reader' }, { name: 'late' }] }, owner);
  const undo = (query: { dryRun?: 'true' } = {}) => admin.call(undoHistory, { params: { realm, revision }, query });
  await expect(undo({ dryRun: 'true' })).rejects.toMatchObject(refused('the role late'));
  await expect(undo()).rejects.toMatchObject(refused('the role late'));
  await hold({ kind: 'role', key: 'late' });
  expect((await undo()).body?.summary).toMatchObject({ delete: 1 });
});

test('SCIM makes no group of a locked section; users and their groups stay open', async () => {
  await locked('groups');
  const scim = scimWith(server, realm, await scimToken(server, realm));
  expect(await scim('POST', '/Groups', { displayName: 'sales' })).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('/sales') },
  });
  const user = await scim('POST', '/Users', { userName: 'ana' });
  expect(user.status).toBe(201);
  const staff = (await admin.call(listGroups, { params })).body?.find(({ path }) => path === '/staff');
  const joined = await scim('PATCH', `/Groups/${staff?.id}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'add', path: 'members', value: [{ value: user.body.id }] }],
  });
  expect(joined.status).toBeLessThan(300);
  const removed = await scim('DELETE', `/Groups/${staff?.id}`);
  expect(removed.status).toBe(409);
});

test('every kind with a path of its own is locked: settings, flows, profile, accounts of services, templates, the rest', async () => {
  await locked('*');
  const { id } = await at();
  const role = (await admin.call(listRoles, { params })).body?.find(({ name }) => name === 'reader')?.id ?? '';
  const group = (await admin.call(listGroups, { params })).body?.find(({ path }) => path === '/staff')?.id ?? '';
  const passwordAlone = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
  const writes: [method: string, path: string, body?: object][] = [
    ['PUT', '/settings', { requireMfa: true }],
    ['PUT', '/settings', { resourceIndicators: ['https://api.example.com'] }],
    ['PUT', '/provisioning', { registration: 'closed' }],
    ['PUT', '/subject-claim', { strategy: 'pairwise' }],
    ['PUT', '/user-profile', { attributes: [{ name: 'tier' }] }],
    ['POST', '/flows', { alias: 'own' }],
    ['PUT', '/flow', { executions: passwordAlone }],
    ['PUT', '/flows/browser', { executions: passwordAlone }],
    ['POST', `/clients/${id}/service-account/roles`, { roles: ['reader'] }],
    ['PUT', `/clients/${id}/admin-roles`, { grants: [{ role: 'realm-viewer', realm }] }],
    ['PUT', `/clients/${id}/authz/settings`, { enforcement: 'permissive' }],
    ['POST', `/clients/${id}/roles`, { name: 'buyer' }],
    ['PUT', `/roles/${role}/default`, { default: true }],
    ['PUT', `/groups/${group}/roles/${role}`],
    ['PUT', '/messaging/templates', { templateKey: 'otp-email', locale: 'en', subject: '{{code}} is your code' }],
    ['POST', '/groups', { name: 'x' }],
    ['POST', '/organizations', { name: 'acme' }],
    ['POST', '/admin-roles', { name: 'support', permissions: ['users:read'] }],
  ];
  const answers = await Promise.all(
    writes.map(async ([method, path, body]) => ({ path: `${method} ${path}`, ...(await send(method, path, body)) })),
  );
  expect(answers).toEqual(
    writes.map(([method, path]) => ({
      path: `${method} ${path}`,
      status: 409,
      type: 'urn:svc:problem:declared-only',
    })),
  );
});

test('what is made at run time stays open: users, their groups and roles, secrets that the server generates', async () => {
  await locked('*');
  const { body: user } = await admin.call(createUser, { params, body: { username: 'ana' } });
  const role = (await admin.call(listRoles, { params })).body?.find(({ name }) => name === 'reader')?.id ?? '';
  const group = (await admin.call(listGroups, { params })).body?.find(({ path }) => path === '/staff')?.id ?? '';
  expect((await send('POST', `/users/${user?.id}/roles`, { roleId: role })).status).toBeLessThan(300);
  expect((await send('PUT', `/groups/${group}/members/${user?.id}`)).status).toBeLessThan(300);
  expect(
    (await send('PUT', `/users/${user?.id}/admin-roles`, { grants: [{ role: 'realm-viewer', realm }] })).status,
  ).toBe(200);
  expect((await send('PUT', `/users/${user?.id}/password`, { password: 'correct horse battery staple' })).status).toBe(
    204,
  );
  expect((await admin.call(createClientSecret, { params: await at(), body: {} })).body?.secret).toBeDefined();
  expect((await api.apply(realm, { users: [{ username: 'ben' }] })).summary.create).toBe(1);
  expect((await send('POST', '/keys/rotate', {})).status).toBeLessThan(300);
});

test('a refusal is in the audit log', async () => {
  await locked('groups');
  await expect(admin.call(createGroup, { params, body: { name: 'x' } })).rejects.toMatchObject(refused('/x'));
  const { body } = await admin.call(listEvents, { params, query: { type: 'ACCESS_DENIED' } });
  expect(body).toMatchObject([{ outcome: 'denied', data: { permission: 'declared-only', method: 'POST' } }]);
});
