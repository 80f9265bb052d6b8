import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser, exportUserData, GdprExport, listUserConsents } from '../../../server/contract/gdpr.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import type { Route } from '../../../server/contract/route.ts';
import { createUser, getUser, putUser } from '../../../server/contract/users.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import {
  alice,
  exchange,
  freshTokens,
  makeProvider,
  makeRelyingParty,
  REALM,
  requestPath,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let made = 0;

beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  await makeRelyingParty(server, 'manager', { optionalClientScopes: ['account', 'profile', 'offline_access'] });
  await makeRelyingParty(server, 'asks', {
    optionalClientScopes: ['profile', 'offline_access'],
    consentRequired: true,
  });
});
afterAll(() => server?.stop());

const account = (path: string, init: RequestInit = {}) =>
  fetch(`${server.baseUrl}/realms/${REALM}/account/gdpr/${path}`, init);
const bearer = (token: unknown) => ({ headers: { authorization: `Bearer ${token}` } });
/** A token that the application got for alice. */
const tokenWith = async (scope: string, clientId = 'manager') => {
  const { body } = await exchange(
    server,
    await signInAt(createPerson(server.baseUrl), requestPath({ client_id: clientId, scope })),
    {},
    clientId,
  );
  return body;
};
const idOf = async (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub;

/** alice agrees to what `asks` asks for, and it gets its tokens. */
async function agreed() {
  const person = createPerson(server.baseUrl);
  let page = await person.open(requestPath({ client_id: 'asks', scope: 'openid profile offline_access' }));
  page = await person.fill(page, { username: 'alice', password: PASSWORD });
  page = await person.post(`/realms/${REALM}/oauth2/consent`, { ...page.fields, decision: 'allow' });
  const code = new URL(page.url).searchParams.get('code') ?? '';
  return { person, tokens: (await exchange(server, { code }, {}, 'asks')).body };
}

const metadata = () => `${server.baseUrl}/realms/${REALM}/.well-known/oauth-protected-resource`;

test('who knows nothing but the address finds the way from the 401 alone', async () => {
  const refused = await account('consents');
  const [, address = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  expect(address).toBe(metadata());
  const found = await fetch(address);
  expect(found.headers.get('access-control-allow-origin')).toBe('*');
  const issuer = `${server.baseUrl}/realms/${REALM}`;
  const document = Object(await found.json());
  expect(document).toEqual({
    resource: issuer,
    authorization_servers: [issuer],
    jwks_uri: `${issuer}/oauth2/jwks`,
    scopes_supported: ['openid', 'account'],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: expect.arrayContaining(['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519']),
    resource_name: REALM,
  });
  const inserted = await fetch(`${server.baseUrl}/.well-known/oauth-protected-resource/realms/${REALM}`);
  expect(await inserted.json()).toEqual(document);
  const provider = Object(
    await (await fetch(`${document.authorization_servers[0]}/.well-known/openid-configuration`)).json(),
  );
  expect(provider.issuer).toBe(issuer);
  const nowhere = await fetch(`${server.baseUrl}/realms/nowhere/.well-known/oauth-protected-resource`);
  expect(nowhere.status).toBe(404);
});

describe('a person', () => {
  test('downloads what the realm holds of them, by a token with the scope account', async () => {
    const token = await tokenWith('openid account');
    const answer = await account('export', bearer(token.access_token));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const held = GdprExport.parse(await answer.json());
    expect(held).toMatchObject({
      schema: 'svc.gdpr.export/v1',
      realmId: REALM,
      userId: await idOf(String(token.access_token)),
      profile: { username: 'alice', email: alice.email, enabled: true },
      attributes: alice.attributes,
      realmMemberships: [{ realmId: REALM, joinedAt: held.profile.createdAt }],
      organizations: [],
      federatedLinks: [],
      credentials: [{ type: 'password', label: null }],
    });
    expect(held.loginEvents.map((event) => event.type)).toEqual(expect.arrayContaining(['LOGIN_SUCCESS', 'SESSION']));
    expect(JSON.stringify(held)).not.toContain('argon2');
  });

  test('is not given away to an application without that scope, and it is told which one it needs', async () => {
    const { body } = await freshTokens(server, { scope: 'openid profile' });
    const answer = await account('export', bearer(body.access_token));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ type: 'urn:svc:problem:insufficient-scope' });
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="${REALM}", error="insufficient_scope", scope="account", resource_metadata="${metadata()}"`,
    );
  });

  test.each([
    ['no credential', {}],
    ['nonsense', bearer('nonsense')],
  ])('is asked to sign in where a request brings %s', async (_, init) => {
    const answer = await account('consents', init);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('scope="account"');
  });

  test('takes a consent back, and the application’s tokens end with it', async () => {
    const { tokens } = await agreed();
    const own = await tokenWith('openid account');
    const listed = await (await account('consents', bearer(own.access_token))).json();
    const consent = { clientName: null, resources: [], claims: [] };
    const times = { grantedAt: expect.any(Number), updatedAt: expect.any(Number) };
    expect(listed).toEqual([
      { clientId: 'asks', ...consent, scopes: ['offline_access', 'openid', 'profile'], ...times },
      { clientId: 'manager', ...consent, scopes: ['account', 'openid'], ...times },
    ]);
    const userinfo = () => fetch(`${server.baseUrl}/realms/${REALM}/oauth2/userinfo`, bearer(tokens.access_token));
    expect((await userinfo()).status).toBe(200);
    const revoke = () => account('consents/asks', { method: 'DELETE', ...bearer(own.access_token) });
    expect((await revoke()).status).toBe(204);
    expect((await userinfo()).status).toBe(401);
    expect((await revoke()).status).toBe(404);
    const left = await (await account('consents', bearer(own.access_token))).json();
    expect(left).toMatchObject([{ clientId: 'manager' }]);
    const { body } = await server.admin.call(listEvents, {
      params: { realm: REALM },
      query: { type: 'CONSENT_REVOKED' },
    });
    expect(body).toMatchObject([{ clientId: 'asks', actor: { name: 'alice' }, subject: { name: 'alice' } }]);
  });

  test('acts by their own session too, and a write from another site is refused', async () => {
    const { person } = await agreed();
    const read = await person.once(`/realms/${REALM}/account/gdpr/consents`);
    expect(read.status).toBe(200);
    const token = read.headers.get('x-xsrf-token') ?? '';
    const remove = (headers: Record<string, string>) =>
      person.once(`/realms/${REALM}/account/gdpr/consents/asks`, { method: 'DELETE', headers });
    expect((await remove({})).status).toBe(403);
    expect((await remove({ 'x-xsrf-token': `${token}x` })).status).toBe(403);
    expect((await remove({ 'x-xsrf-token': token })).status).toBe(204);
  });
});

describe('an administrator', () => {
  const make = async (username: string, realm = REALM) => {
    const body = { username, email: `${username}@people.example`, firstName: 'Zaphira', password: PASSWORD };
    return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
  };

  test('exports a person, lists their consents, and finds nobody who isn’t there', async () => {
    const userId = await make('carol');
    const { body } = await server.admin.call(exportUserData, { params: { realm: REALM, userId } });
    expect(body?.profile.username).toBe('carol');
    const query = { type: 'DATA_EXPORTED', userId } as const;
    const { body: told } = await server.admin.call(listEvents, { params: { realm: REALM }, query });
    expect(told).toMatchObject([{ subject: { id: userId, name: 'carol' }, actor: { type: 'user' } }]);
    expect((await server.admin.call(listUserConsents, { params: { realm: REALM, userId } })).body).toEqual([]);
    const nobody = { realm: REALM, userId: '00000000-0000-4000-8000-000000000000' };
    const routes: Route[] = [exportUserData, listUserConsents, eraseUser];
    for (const route of routes)
      await expect(server.admin.call(route, { params: nobody })).rejects.toMatchObject({ status: 404 });
  });

  test('erases a person only as the person was read, by the entity tag of the user', async () => {
    const params = { realm: REALM };
    const { body: user } = await server.admin.call(createUser, { params, body: { username: 'read-before' } });
    const at = { realm: REALM, userId: user?.id ?? '' };
    const { etag: old = '' } = await server.admin.call(getUser, { params: at });
    await server.admin.call(putUser, { params: at, body: { firstName: 'Ada' } });
    const erased = (tag: string) => server.admin.call(eraseUser, { params: at, headers: { 'if-match': tag } });
    await expect(erased(old)).rejects.toMatchObject({ status: 412 });
    const { etag: now = '' } = await server.admin.call(getUser, { params: at });
    expect((await erased(now)).status).toBe(204);
  });

  test('erases a person: nothing in the database tells of them, and the audit log knows a pseudonym', async () => {
    made += 1;
    const realm = `erase${made}`;
    await server.admin.call(createRealm, { body: { realm } });
    await server.admin.call(createRole, { params: { realm }, body: { name: 'reader' } });
    const url = 'https://nowhere.example.test/';
    await server.admin.call(createWebhook, {
      params: { realm },
      body: { name: 'all', url, eventTypes: '*', enabled: true },
    });
    const username = 'zaphod.beeblebrox';
    const userId = await make(username, realm);
    await server.admin.call(putUser, {
      params: { realm, userId },
      body: { roles: ['reader'], attributes: { phone: ['+41 79 555'] } },
    });
    const person = createPerson(server.baseUrl, { 'user-agent': 'Heart of Gold' });
    await person.fill(await person.open(`/realms/${realm}/login`), {
      username: username.toUpperCase(),
      password: 'wrong',
    });
    await person.fill(await person.open(`/realms/${realm}/login`), { username, password: PASSWORD });

    expect((await server.admin.call(eraseUser, { params: { realm, userId } })).status).toBe(204);
    await expect(server.admin.call(eraseUser, { params: { realm, userId } })).rejects.toMatchObject({ status: 404 });
    const page = await person.open(`/realms/${realm}/account`);
    expect(page.heading).toBe('Sign in');

    expect(
      await everywhere(realm, [username, userId, `${username}@people.example`, '+41 79 555', 'Heart of Gold']),
    ).toEqual([]);
    const { body = [] } = await server.admin.call(listEvents, { params: { realm }, query: { limit: 100 } });
    const [erased] = body.filter((event) => event.type === 'USER_ERASED');
    const pseudonym = erased?.subject?.id;
    expect(erased).toMatchObject({ subject: { type: 'user', name: null }, actor: { name: 'admin' } });
    expect(body.find((event) => event.type === 'LOGIN_SUCCESS')).toMatchObject({
      subject: { id: pseudonym, name: pseudonym },
      ipAddress: null,
    });
    expect(body.find((event) => event.type === 'USER_CREATED')).toMatchObject({
      actor: { name: 'admin' },
      ipAddress: '127.0.0.1',
    });
  });

  /** Tables with a row that holds one of the texts, whatever their case. */
  async function everywhere(realm: string, texts: readonly string[]): Promise<string[]> {
    const { rows } = await server.pool.query<{ name: string }>(
      `select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
       where c.table_schema = 'public' and c.column_name = 'realm_id' and t.table_type = 'BASE TABLE'`,
    );
    const found = await Promise.all(
      [...rows.map((row) => row.name), 'import_user'].map(async (name) => {
        const { rows: held } = await server.pool.query(
          `select t::text as row from ${name} t where t::text ilike any($1::text[])`,
          [texts.map((text) => `%${text}%`)],
        );
        return held.map((row) => `${name}: ${row.row}`);
      }),
    );
    return found.flat().filter((row) => row.includes(realm));
  }
});
