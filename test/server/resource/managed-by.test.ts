// Owns: `?with=managedBy`: who manages an object and its fields, in lists and single objects of every configuration kind.
// Does not own: the header (http/managed.test.ts), how ownership comes about (features/transfer.ownership.test.ts).
// Implements: decisions "Ownership".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listClients } from '../../../server/contract/clients.ts';
import { canNameManagers, type ManagedBy } from '../../../server/contract/managed-by.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole, listRoles } from '../../../server/contract/roles.ts';
import { sectionNames } from '../../../server/contract/section-names.ts';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { contractRoutes } from '../../support/contract-routes.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';
import { watchWork } from '../../support/work-done.ts';

let server: TestServer;
const realm = 'owned';
const params = { realm };
const GIT = 'k8s:prod/identity/Realm/owned';
let cookies: Record<string, string>;

beforeAll(async () => {
  // events that are sealed meanwhile would be counted as statements
  server = await startTestServer({ jobs: false });
  await server.admin.call(createRealm, { body: { realm } });
  const body: RealmDocument = {
    realm: { rememberMe: true, passwordMinLength: 14 },
    resourceIndicators: ['https://api.example.com'],
    userProfile: { unmanagedAttributes: 'adminEdit' },
    flows: [{ alias: 'own', executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }] }],
    roles: [{ name: 'reader', description: 'reads' }],
    groups: [{ path: '/staff' }],
    clients: [{ clientId: 'shop', name: 'Shop' }],
    authorizationServices: [{ clientId: 'shop', settings: { enforcement: 'permissive' } }],
    adminRoles: [{ name: 'desk', permissions: ['clients:read'], clients: ['shop'] }],
    messagingProviders: [{ channel: 'EMAIL', driver: 'smtp', config: { host: 'smtp.example.com', port: 587 } }],
    messageTemplates: [{ templateKey: 'otp-email', channel: 'EMAIL', locale: 'de', subject: 'x', body: '{{code}}' }],
  };
  await server.admin.call(importRealm, { params, query: { manager: GIT }, body });
  await server.admin.call(importRealm, {
    params,
    query: { manager: 'cli:ana' },
    body: {
      realm: { requireMfa: false },
      clients: [{ clientId: 'blog', redirectUris: ['https://blog.example.com/'] }],
    },
  });
  await server.admin.call(createRole, { params, body: { name: 'by-hand' } });
  cookies = await signedIn();
});
afterAll(() => server?.stop());

async function signedIn(): Promise<Record<string, string>> {
  const payload = { username: 'admin', password: ADMIN_PASSWORD };
  const answer = await server.app.http.inject({ method: 'POST', url: '/admin/login', payload });
  return Object.fromEntries(answer.cookies.map(({ name, value }) => [name, value]));
}
const get = (path: string, headers: Record<string, string> = {}) =>
  server.app.http.inject({ url: `/admin/realms/${realm}/${path}`, cookies, headers });
const put = (path: string, payload: object, headers: Record<string, string>) =>
  server.app.http.inject({
    method: 'PUT',
    url: `/admin/realms/${realm}/${path}`,
    payload,
    cookies,
    headers: { 'x-xsrf-token': cookies['XSRF-TOKEN'] ?? '', ...headers },
  });
interface Managed {
  managedBy?: ManagedBy;
  [field: string]: unknown;
}

test.each([
  ['roles', 'name', { reader: [{ manager: GIT, fields: ['description'] }], 'by-hand': [] }],
  ['groups', 'path', { '/staff': [{ manager: GIT, fields: [] }] }],
  [
    'clients',
    'clientId',
    { shop: [{ manager: GIT, fields: ['name'] }], blog: [{ manager: 'cli:ana', fields: ['redirectUris'] }] },
  ],
  ['flows', 'alias', { browser: [], own: [{ manager: GIT, fields: ['executions'] }] }],
  ['authorization-services', 'clientId', { shop: [{ manager: GIT, fields: ['settings'] }] }],
  ['admin-roles', 'name', { desk: [{ manager: GIT, fields: ['clients', 'permissions'] }], 'realm-admin': [] }],
  ['messaging/providers', 'driver', { smtp: [{ manager: GIT, fields: ['config'] }] }],
  ['messaging/templates', 'locale', { de: [{ manager: GIT, fields: ['body', 'subject'] }], en: [] }],
])('a page of %s names the managers of its objects and their fields, where it is asked to', async (path, key, of) => {
  const rows = (await get(`${path}?with=managedBy`)).json<Managed[]>();
  expect(Object.fromEntries(rows.map((row) => [row[key], row.managedBy]))).toMatchObject(of);
  for (const row of (await get(path)).json<Managed[]>()) expect(row).not.toHaveProperty('managedBy');
});

test('every configuration kind has the parameter at its list and at its single object', async () => {
  const routes = (await contractRoutes()).filter((route) => route.method === 'GET');
  const managed = routes.filter(canNameManagers);
  // settings and the user profile are single objects; roles of service accounts are a part of the client's page
  const single = ['realm', 'resourceIndicators', 'userProfile', 'users', 'serviceAccountRoles'];
  const lists = managed.filter(({ query }) => 'limit' in Object(Object(query).shape));
  expect(lists).toHaveLength(Object.keys(sectionNames).filter((name) => !single.includes(name)).length);
  expect(managed.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      '/admin/realms/:realm/settings',
      '/admin/realms/:realm/user-profile',
      '/admin/realms/:realm/flow',
      '/admin/realms/:realm/flows/:alias',
      '/admin/realms/:realm/clients/:id',
      '/admin/realms/:realm/clients/:clientId/authz',
    ]),
  );
});

test('a single object names its manager, and its tag stays the one that a write is compared with', async () => {
  const { body: [shop] = [] } = await server.admin.call(listClients, { params, query: { q: 'shop' } });
  const path = `clients/${shop?.id}`;
  const [plain, asked] = [await get(path), await get(`${path}?with=managedBy`)];
  expect(asked.json()).toEqual({ ...plain.json<object>(), managedBy: [{ manager: GIT, fields: ['name'] }] });
  expect(asked.headers.etag).toBe(plain.headers.etag);
  const tag = String(asked.headers.etag);
  // its managers may have changed without the object
  expect((await get(`${path}?with=managedBy`, { 'if-none-match': tag })).statusCode).toBe(200);
  expect((await get(path, { 'if-none-match': tag })).statusCode).toBe(304);
  const answer = asked.json<Managed>();
  const saved = await put(path, { ...answer, name: 'Shop 2' }, { 'if-match': tag });
  expect([saved.statusCode, saved.json()]).toMatchObject([200, { name: 'Shop 2' }]);
  expect(saved.json()).not.toHaveProperty('managedBy');
});

describe('owned by field', () => {
  test('settings name each manager with its fields', async () => {
    const asked = await get('settings?with=managedBy');
    expect(asked.json<Managed>().managedBy).toEqual([
      { manager: 'cli:ana', fields: ['requireMfa'] },
      { manager: GIT, fields: ['passwordMinLength', 'rememberMe', 'resourceIndicators'] },
    ]);
    expect((await get('settings')).json()).not.toHaveProperty('managedBy');
    const saved = await put('settings', asked.json<object>(), { 'if-match': String(asked.headers.etag) });
    expect(saved.statusCode).toBe(200);
  });

  test('so does the user profile', async () => {
    const asked = await get('user-profile?with=managedBy');
    expect(asked.json<Managed>().managedBy).toEqual([{ manager: GIT, fields: ['unmanagedAttributes'] }]);
    const saved = await put('user-profile', asked.json<object>(), { 'if-match': String(asked.headers.etag) });
    expect(saved.statusCode).toBe(200);
  });
});

test('every answer with managers is a body that its PUT takes back', async () => {
  const one = async (path: string, at: (row: Managed) => unknown): Promise<[string, object]> => {
    const [row] = (await get(`${path}?with=managedBy`)).json<Managed[]>().filter(({ managedBy }) => managedBy?.[0]);
    const own = `${path}/${encodeURIComponent(String(at(row ?? {})))}`;
    return [own, (await get(`${own}?with=managedBy`)).json<object>()];
  };
  const asked = await Promise.all([
    one('roles', ({ id }) => id),
    one('groups', ({ id }) => id),
    one('flows', ({ alias }) => alias),
    one('admin-roles', ({ id }) => id),
  ]);
  for (const path of ['messaging/providers', 'messaging/templates']) {
    const [row] = (await get(`${path}?with=managedBy`)).json<object[]>();
    asked.push([path, row ?? {}]);
  }
  const { body: [shop] = [] } = await server.admin.call(listClients, { params, query: { q: 'shop' } });
  const services = `clients/${shop?.id}/authz`;
  asked.push([services, (await get(`${services}?with=managedBy`)).json<object>()]);
  for (const [path, body] of asked) {
    expect(body, path).toHaveProperty('managedBy');
    expect([path, (await put(path, body, {})).statusCode]).toEqual([path, 200]);
  }
});

test('a page makes one statement more, whatever its length, and none where it is not asked', async () => {
  // a statement that was prepared before is known by its name alone, so all are counted
  const work = watchWork((statement) => !/pgboss/.test(statement));
  try {
    const of = async (url: string) => (await work.of(() => get(url))).statements.length;
    const plain = { roles: await of('roles'), clients: await of('clients') };
    expect(await of('roles?with=managedBy')).toBe(plain.roles + 1);
    expect(await of('clients?with=managedBy')).toBe(plain.clients + 1);
    expect(await of('clients?with=managedBy&limit=1')).toBe(plain.clients + 1);
  } finally {
    work.stop();
  }
});

test('who may read an object may read its managers: the header of the single object names them too', async () => {
  const reader = await administrator(server, { target: realm, permissions: ['roles:read'] });
  const { body } = await reader.call(listRoles, { params, query: { with: 'managedBy' } });
  expect(body?.find(({ name }) => name === 'reader')?.managedBy).toEqual([{ manager: GIT, fields: ['description'] }]);
});

test('another word is refused, and named', async () => {
  const answer = await get('roles?with=secrets');
  expect([answer.statusCode, answer.json()]).toMatchObject([400, { errors: [{ path: 'with' }] }]);
});
