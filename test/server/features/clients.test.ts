// Owns: clients and client scopes on the admin API.
// Does not own: what clients then do at the token endpoint, taking over (escalation.test.ts).
// Implements: decisions "Client", "Client scope", "Reading and writing"; specification 4.10.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as scopes from '../../../server/contract/client-scopes.ts';
import * as api from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import type { Changes } from '../../../server/contract/names.ts';
import { createRealm, getRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
const STRONG = 'q8Zr1vXkT0bN5mJ2cWyH7gLpD4sFa9Ue';

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
});
afterAll(() => server?.stop());

const create = async (body: api.ClientInput) => {
  const answer = await server.admin.call(api.createClient, { params, body });
  if (!answer.body) throw new Error('no client');
  return answer.body;
};
const put = (id: string, body: Changes<api.ClientInput>, headers: Record<string, string> = {}) =>
  server.admin.call(api.putClient, { params: { ...params, id }, body, headers });
const get = (id: string) => server.admin.call(api.getClient, { params: { ...params, id } });
const revision = async () => (await server.admin.call(getRealm, { params })).body?.revision;

describe('a client', () => {
  test('of which only the name is said has the documented defaults', async () => {
    const client = await create({ clientId: 'plain' });
    expect(client).toMatchObject({
      tokenEndpointAuthMethod: 'client_secret_basic',
      grantTypes: ['authorization_code', 'refresh_token'],
      defaultClientScopes: ['email', 'profile', 'roles'],
      optionalClientScopes: ['offline_access'],
      requirePkce: true,
      secretSet: false,
      serviceAccountRoles: [],
    });
  });

  test('keeps what a PUT leaves out, and a PUT of what was read changes and audits nothing', async () => {
    const client = await create({ clientId: 'kept', name: 'Kept', secret: STRONG });
    const before = await revision();
    expect((await put(client.id, client)).body).toEqual(client);
    expect(await revision()).toBe(before);
    const { body } = await put(client.id, { description: 'changed' });
    expect(body).toEqual({ ...client, description: 'changed' });
    expect(await revision()).toBe((before ?? 0) + 1);
  });

  test('has a secret that is never shown again, hashed by its strength', async () => {
    const strong = await create({ clientId: 'strong', secret: STRONG });
    const weak = await create({ clientId: 'weak', secret: 'only-sixteen-chr' });
    expect(JSON.stringify([strong, weak])).not.toContain(STRONG);
    const rows = await sqlOver(server.pool)<{ client_id: string; fast: boolean; slow: string | null }>`
      select client_id, secret_hash is not null as fast, left(secret_slow, 9) as slow from client
      where client_id in ('strong', 'weak') order by client_id`;
    expect(rows).toEqual([
      { client_id: 'strong', fast: true, slow: null },
      { client_id: 'weak', fast: false, slow: '$argon2id' },
    ]);
    const made = await server.admin.call(api.createClientSecret, { params: { ...params, id: weak.id } });
    expect(made.body?.secret).toMatch(/^svc_cs_[\w-]{51}$/);
    const { body } = await server.admin.call(api.getClientSecret, { params: { ...params, id: weak.id } });
    expect(body).toEqual({ secretSet: true, previousSecretExpiresAt: null });
    const { body: log } = await server.admin.call(listEvents, { params, query: { type: 'CLIENT_SECRET_CREATED' } });
    expect(log?.[0]?.subject).toEqual({ type: 'client', id: weak.id, name: 'weak' });
    expect(JSON.stringify(log)).not.toContain(made.body?.secret);
  });

  test('loses its secret when it becomes public', async () => {
    const client = await create({ clientId: 'becomes-public', secret: STRONG });
    const { body } = await put(client.id, { clientId: client.clientId, tokenEndpointAuthMethod: 'none' });
    expect(body?.secretSet).toBe(false);
  });

  test.each<[string, Partial<api.ClientInput>, string]>([
    ['public without PKCE', { tokenEndpointAuthMethod: 'none', requirePkce: false }, 'requirePkce'],
    [
      'public with client_credentials',
      { tokenEndpointAuthMethod: 'none', grantTypes: ['client_credentials'] },
      'grantTypes',
    ],
    ['public with a secret', { tokenEndpointAuthMethod: 'none', secret: STRONG }, 'secret'],
    [
      'public over plain http',
      { tokenEndpointAuthMethod: 'none', redirectUris: ['http://app.test/cb'] },
      'redirectUris[0]',
    ],
    ['private_key_jwt without keys', { tokenEndpointAuthMethod: 'private_key_jwt' }, 'jwks'],
    ['keys over http', { tokenEndpointAuthMethod: 'private_key_jwt', jwksUri: 'http://app.test/jwks' }, 'jwksUri'],
    ['a private key', { jwks: { keys: [{ kty: 'RSA', n: 'x', e: 'AQAB', d: 'x' }] } }, 'jwks.keys[0]'],
    ['a symmetric key', { jwks: { keys: [{ kty: 'oct', k: 'x' }] } }, 'jwks.keys[0]'],
    ['an unknown scope', { defaultClientScopes: ['nope'] }, 'defaultClientScopes'],
    ['an unknown role', { serviceAccountRoles: ['nope'] }, 'serviceAccountRoles'],
    ['an unknown flow', { flowOverride: 'nope' }, 'flowOverride'],
    ['a wildcard redirect', { redirectUris: ['https://app.test/*'] }, 'redirectUris[0]'],
    ['a redirect without its //', { redirectUris: ['https:/app.test/cb'] }, 'redirectUris[0]'],
    ['a redirect with a user name', { redirectUris: ['https://a@app.test/cb'] }, 'redirectUris[0]'],
    ['a redirect with a backslash', { redirectUris: ['com.example.app:\\cb'] }, 'redirectUris[0]'],
    ['a link with a user name', { tosUri: 'https://app.test@evil.test/' }, 'tosUri'],
    ['a redirect to a tool of the system', { redirectUris: ['ms-msdt:/id%20x'] }, 'redirectUris[0]'],
    ['a redirect to a file share', { redirectUris: ['Search-MS:query=x'] }, 'redirectUris[0]'],
    ['a way back by mail', { postLogoutRedirectUris: ['mailto:a@app.test'] }, 'postLogoutRedirectUris[0]'],
    ['a script as redirect', { redirectUris: ['javascript:alert(1)'] }, 'redirectUris[0]'],
    ['a script as redirect behind a blank', { redirectUris: [' javascript:alert(1)'] }, 'redirectUris[0]'],
    ['a script as redirect over two lines', { redirectUris: ['java\nscript:alert(1)'] }, 'redirectUris[0]'],
    ['a name that JSON can’t have as a key', { clientId: '__proto__' }, 'clientId'],
    ['a redirect with a fragment', { redirectUris: ['https://app.test/#x'] }, 'redirectUris[0]'],
    ['an empty secret', { secret: '' }, 'secret'],
    ['a very long secret', { secret: 'x'.repeat(1025) }, 'secret'],
    ['NUL', { name: 'a\0b' }, 'name'],
  ])('%s is refused with the field’s name', async (_, fields, path) => {
    const attempt = create({ clientId: 'refused', ...fields });
    await expect(attempt).rejects.toMatchObject({ status: 400 });
    await attempt.catch((error) => expect(error.problem.errors.map((e: { path: string }) => e.path)).toContain(path));
  });

  test('may be an app on a loopback address or with a scheme of its own', async () => {
    const client = await create({
      clientId: 'native',
      tokenEndpointAuthMethod: 'none',
      redirectUris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
    });
    expect(client.redirectUris).toHaveLength(2);
  });

  test('is not named like the server’s addresses or the realm’s issuer, nor the issuer like it', async () => {
    const issuer = 'https://login.acme.example';
    const set = (value: string | null) => server.admin.call(putSettings, { params, body: { issuer: value } });
    const declare = (body: object) => server.admin.call(importRealm, { params, query: { manager: 'names' }, body });
    const blamed = (work: Promise<unknown>) =>
      work.then(
        () => 'taken',
        (error) => error.problem.errors.map((one: { path: string }) => one.path),
      );
    const { id } = await create({ clientId: 'https://app.example' });
    for (const clientId of [`${server.baseUrl}/realms/acme`, `${server.baseUrl}/admin`, `${server.baseUrl}/`]) {
      expect(await blamed(create({ clientId }))).toEqual(['clientId']);
      expect(await blamed(put(id, { clientId }))).toEqual(['clientId']);
      expect(await blamed(declare({ clients: [{ clientId }] }))).toEqual(['clients[0].clientId']);
    }
    expect(await blamed(declare({ realm: { issuer }, clients: [{ clientId: issuer }] }))).toEqual([
      'clients[0].clientId',
    ]);
    await set(issuer);
    expect(await blamed(create({ clientId: `${issuer}/` }))).toEqual(['clientId']);
    expect(await blamed(set('https://app.example'))).toEqual(['issuer']);
    expect(await blamed(declare({ realm: { issuer: 'https://app.example/' } }))).toEqual(['realm.issuer']);
    await set(null);
  });

  test('has a unique clientId, also when renamed', async () => {
    await create({ clientId: 'first' });
    const second = await create({ clientId: 'second' });
    await expect(create({ clientId: 'first' })).rejects.toMatchObject({ status: 409 });
    await expect(put(second.id, { clientId: 'first' })).rejects.toMatchObject({ status: 409 });
    expect((await put(second.id, { clientId: 'third' })).body?.clientId).toBe('third');
  });

  test('is not written or deleted over somebody else’s change', async () => {
    const client = await create({ clientId: 'contested' });
    const { etag = '' } = await get(client.id);
    await put(client.id, { clientId: 'contested', name: 'first' }, { 'if-match': etag });
    const late = put(client.id, { clientId: 'contested', name: 'late' }, { 'if-match': etag });
    await expect(late).rejects.toMatchObject({ status: 412 });
    const remove = (headers: Record<string, string>) =>
      server.admin.call(api.deleteClient, { params: { ...params, id: client.id }, headers });
    await expect(remove({ 'if-match': etag })).rejects.toMatchObject({ status: 412 });
    expect((await remove({ 'if-match': (await get(client.id)).etag ?? '' })).status).toBe(204);
    await expect(get(client.id)).rejects.toMatchObject({ status: 404 });
  });

  test('carries the realm roles of its service account, and says who manages it', async () => {
    await server.admin.call(createRole, { params, body: { name: 'reader' } });
    const client = await create({
      clientId: 'robot',
      grantTypes: ['client_credentials'],
      serviceAccountRoles: ['reader'],
    });
    expect(client.serviceAccountRoles).toEqual(['reader']);
    const sql = sqlOver(server.pool);
    await sql`insert into manager (realm_id, name, last_applied_at) values ('acme', 'k8s:a/b/Realm/c', now())`;
    await sql`insert into managed_object (realm_id, kind, key, manager) values ('acme', 'client', 'robot', 'k8s:a/b/Realm/c')`;
    const owner = async () => {
      const raw = await server.app.http.inject({
        url: `/admin/realms/acme/clients/${client.id}`,
        cookies: {},
        headers: { cookie: await cookie() },
      });
      return raw.headers['x-svc-managed-by'];
    };
    expect(await owner()).toBe('k8s:a/b/Realm/c');
    await sql`insert into managed_object (realm_id, kind, key, manager) values ('acme', 'clientRole', 'robot/reads', 'k8s:a/b/Realm/c')`;
    await put(client.id, { clientId: 'robot-renamed' });
    const keys = await sql<{ key: string }>`select key from managed_object where kind = 'clientRole'`;
    expect(keys).toEqual([{ key: 'robot-renamed/reads' }]);
    expect(await owner()).toBe('k8s:a/b/Realm/c');
  });
});

async function cookie(): Promise<string> {
  const { ADMIN_PASSWORD: password } = await import('../../support/server.ts');
  const response = await server.app.http.inject({
    method: 'POST',
    url: '/admin/login',
    payload: { username: 'admin', password },
  });
  return response.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}

test('lists of clients come in pages that neither repeat nor miss one, and can be searched', async () => {
  await Promise.all(
    Array.from({ length: 12 }, (_, i) => create({ clientId: `page-${i}`, name: i === 3 ? '100%_sure' : null })),
  );
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 5, q: 'page-', ...(cursor === undefined ? {} : { cursor }) };
    const answer = await server.admin.call(api.listClients, { params, query });
    seen.push(...(answer.body ?? []).map((client) => client.clientId));
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
  expect(seen).toHaveLength(12);
  expect(new Set(seen).size).toBe(12);
  const { body } = await server.admin.call(api.listClients, { params, query: { q: '%_' } });
  expect(body?.map((client) => client.clientId)).toEqual(['page-3']);
  const forged = server.admin.call(api.listClients, { params, query: { cursor: 'x' } });
  await expect(forged).rejects.toMatchObject({ status: 400 });
});

describe('client scopes', () => {
  test('of a fresh realm are those of OpenID Connect, with roles, groups and organizations', async () => {
    const { body = [] } = await server.admin.call(scopes.listClientScopes, { params });
    const names = [
      'account',
      'address',
      'email',
      'groups',
      'offline_access',
      'openid',
      'organization',
      'phone',
      'profile',
      'roles',
      'uma_protection',
    ];
    expect(body.map((scope) => scope.name)).toEqual(names);
    const profile = body.find((scope) => scope.name === 'profile');
    expect(profile?.claims).toContain('preferred_username');
  });

  test('are made, read and deleted, and unique', async () => {
    const body = {
      name: 'orders',
      claims: ['given_name', 'email', 'email'],
    };
    const made = await server.admin.call(scopes.createClientScope, { params, body });
    const id = made.body?.id ?? '';
    await expect(server.admin.call(scopes.createClientScope, { params, body })).rejects.toMatchObject({ status: 409 });
    const read = await server.admin.call(scopes.getClientScope, { params: { ...params, id } });
    const claims = ['email', 'given_name'];
    expect(read.body).toEqual({ id, description: null, includeInTokenScope: true, name: 'orders', claims });
    expect((await server.admin.call(scopes.deleteClientScope, { params: { ...params, id } })).status).toBe(204);
  });
});
