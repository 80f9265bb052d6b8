// Owns: Global Token Revocation: what it ends, for which subjects, and which callers may ask for it.
// Does not own: ending access by other ways (sessions, sign-out), tokens of Shared Signals (ssf.*.test.ts).
// Implements: draft-parecki-oauth-global-token-revocation, RFC 9493.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putClientAdminRoles, putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createAdminRole } from '../../../server/contract/admin-roles.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { CALLBACK, getCode, PASSWORD, redeem, refresh } from '../../support/applications.ts';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'acme';
let server: TestServer;
/** Tokens for the admin API, by client. */
const tokens: Record<string, string> = {};
let userId = '';
let made = 0;
let username = '';

async function tokenFor(realm: string, clientId: string, resource: string | undefined): Promise<string> {
  const form = { grant_type: 'client_credentials', ...(resource !== undefined && { resource }) };
  const { body } = await post(server, realm, 'token', form, { authorization: basic(clientId) });
  return String(body.access_token);
}
/** A client whose service account has a role with these permissions. */
async function guard(realm: string, clientId: string, permissions: ('sessions:write' | 'sessions:read')[]) {
  const service = { secret: SECRET, grantTypes: ['client_credentials' as const] };
  const id = await makeClient(server, realm, { clientId, ...service });
  await server.admin.call(createAdminRole, { params: { realm }, body: { name: clientId, permissions } });
  const grants = [{ role: clientId, realm }];
  await server.admin.call(putClientAdminRoles, { params: { realm, id }, body: { grants } });
  tokens[clientId] = await tokenFor(realm, clientId, `${server.baseUrl}/admin`);
}

beforeAll(async () => {
  server = await startTestServer();
  for (const realm of [REALM, 'other']) await makeRealm(server, realm);
  await makeClient(server, REALM, {
    clientId: 'shop',
    secret: SECRET,
    redirectUris: [CALLBACK],
    optionalClientScopes: ['offline_access'],
  });
  await makeClient(server, REALM, { clientId: 'api', secret: SECRET, grantTypes: ['client_credentials'] });
  await guard(REALM, 'soc', ['sessions:write']);
  await guard(REALM, 'reader', ['sessions:read']);
  await guard('other', 'stranger', ['sessions:write']);
  tokens.plain = await tokenFor(REALM, 'api', undefined);
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  username = `user${made}`;
  const body = { username, password: PASSWORD, email: `${username}@example.com`, emailVerified: true };
  userId = (await server.admin.call(createUser, { params: { realm: REALM }, body })).body?.id ?? '';
});

const endpoint = (realm = REALM) => `${server.baseUrl}/realms/${realm}/oauth2/global-token-revocation`;
async function revoke(body: unknown, { by = 'soc', realm = REALM }: { by?: string; realm?: string } = {}) {
  const response = await fetch(endpoint(realm), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(by !== '' && { authorization: `Bearer ${tokens[by]}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), challenge: response.headers.get('www-authenticate') };
}
const byId = (id = userId) => ({ sub_id: { format: 'opaque', id } });
const sessionsOf = async () =>
  ((await server.admin.call(listSessions, { params: { realm: REALM } })).body ?? []).filter(
    (session) => session.username === username,
  );
async function signIn(scope = 'openid') {
  const grant = await getCode(server, REALM, 'shop', { username, parameters: { scope } });
  return (await redeem(server, REALM, 'shop', grant, { client_secret: SECRET })).body;
}
/** By introspection of the client that the token is for, and by userinfo, which must agree. */
async function isActive(token: unknown): Promise<boolean> {
  const form = { token: String(token) };
  const { body } = await post(server, REALM, 'introspect', form, { authorization: basic('shop') });
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await fetch(`${server.baseUrl}/realms/${REALM}/oauth2/userinfo`, { headers });
  expect(status).toBe(body.active ? 200 : 401);
  return body.active === true;
}

test('it ends sessions, refresh tokens, offline sessions and access tokens, and is audited with its subject', async () => {
  const online = await signIn();
  const offline = await signIn('openid offline_access');
  expect([await isActive(online.access_token), await isActive(offline.access_token)]).toEqual([true, true]);
  expect(await sessionsOf()).toHaveLength(2);
  expect(await revoke(byId())).toMatchObject({ status: 204, text: '' });
  expect(await sessionsOf()).toEqual([]);
  expect([await isActive(online.access_token), await isActive(offline.access_token)]).toEqual([false, false]);
  for (const { refresh_token: token } of [online, offline])
    expect((await refresh(server, REALM, 'shop', token, { client_secret: SECRET })).body.error).toBe('invalid_grant');
  const types = ['GLOBAL_TOKEN_REVOCATION', 'SESSION_ENDED', 'TOKEN_REVOKED'] as const;
  for (const type of types) {
    const { body } = await server.admin.call(listEvents, { params: { realm: REALM }, query: { type } });
    expect(body?.[0]).toMatchObject({ subject: { id: userId }, actor: { type: 'client', name: 'soc' } });
  }
  // The user can sign in again.
  expect(await isActive((await signIn()).access_token)).toBe(true);
});

test('another user’s access stays', async () => {
  const mine = await signIn();
  const body = { username: `${username}-other`, password: PASSWORD };
  const other = (await server.admin.call(createUser, { params: { realm: REALM }, body })).body?.id;
  expect((await revoke(byId(other))).status).toBe(204);
  expect(await isActive(mine.access_token)).toBe(true);
});

describe('subjects', () => {
  test.each<[string, () => object, number]>([
    ['an id', () => ({ format: 'opaque', id: userId }), 204],
    ['iss and sub', () => ({ format: 'iss_sub', iss: `${server.baseUrl}/realms/${REALM}`, sub: userId }), 204],
    ['a confirmed address', () => ({ format: 'email', email: `${username.toUpperCase()}@example.com` }), 204],
    ['another realm’s issuer', () => ({ format: 'iss_sub', iss: `${server.baseUrl}/realms/other`, sub: userId }), 404],
    ['an unknown id', () => ({ format: 'opaque', id: '00000000-0000-4000-8000-000000000000' }), 404],
    ['an id that is none', () => ({ format: 'opaque', id: "' or 1=1" }), 404],
    ['an unknown format', () => ({ format: 'did', url: 'did:example:1' }), 400],
    ['no value', () => ({ format: 'email' }), 400],
    ['a list', () => [{ format: 'opaque', id: userId }], 400],
  ])('%s', async (_, subject, status) => {
    await signIn();
    expect((await revoke({ sub_id: subject() })).status).toBe(status);
    expect((await sessionsOf()).length).toBe(status === 204 ? 0 : 1);
  });

  test('an address that is not confirmed names nobody', async () => {
    const body = { username, email: `${username}@example.com`, emailVerified: false };
    await server.admin.call(putUser, { params: { realm: REALM, userId }, body });
    expect((await revoke({ sub_id: { format: 'email', email: `${username}@example.com` } })).status).toBe(404);
  });

  test('where an attribute is the `sub`, that names the user', async () => {
    const body = { username, attributes: { employee: [`e${made}`] } };
    await server.admin.call(putUser, { params: { realm: REALM, userId }, body });
    const settings = { subjectStrategy: 'attribute', subjectAttribute: 'employee' } as const;
    await server.admin.call(putSettings, { params: { realm: REALM }, body: settings });
    const iss = `${server.baseUrl}/realms/${REALM}`;
    const named = (sub: string) => revoke({ sub_id: { format: 'iss_sub', iss, sub } });
    expect([(await named(`e${made}`)).status, (await named(userId)).status]).toEqual([204, 404]);
    await server.admin.call(putSettings, { params: { realm: REALM }, body: { subjectStrategy: 'public' } });
  });
});

describe('callers without the right', () => {
  test.each<[string, string, string, number]>([
    ['without a token', '', REALM, 401],
    ['a client without a token for the admin API', 'plain', REALM, 401],
    ['a client without the permission', 'reader', REALM, 403],
    ['a client of another realm', 'stranger', REALM, 403],
    ['a client in a realm that is not its own', 'soc', 'other', 403],
  ])('%s: the answer is the same for a user and for nobody', async (_, by, realm, status) => {
    await signIn();
    const known = await revoke(byId(), { by, realm });
    const unknown = await revoke(byId('00000000-0000-4000-8000-000000000000'), { by, realm });
    const garbage = await revoke({ nothing: true }, { by, realm });
    expect([known.status, known]).toEqual([status, unknown]);
    expect(garbage).toEqual(known);
    expect(await sessionsOf()).toHaveLength(1);
  });

  test('an administrator with more rights than the client stays signed in', async () => {
    const grants = [{ role: 'realm-admin', realm: REALM }];
    await server.admin.call(putUserAdminRoles, { params: { realm: REALM, userId }, body: { grants } });
    await signIn();
    expect((await revoke(byId())).status).toBe(403);
    expect(await sessionsOf()).toHaveLength(1);
    const denied = async () => {
      const query = { type: 'ACCESS_DENIED' } as const;
      const { body } = await server.admin.call(listEvents, { params: { realm: REALM }, query });
      return body?.map(({ data }) => data?.permission);
    };
    await expect.poll(denied).toContain('privilege-escalation');
  });
});

test('the discovery document names the endpoint', async () => {
  const answer = await fetch(`${server.baseUrl}/realms/${REALM}/.well-known/openid-configuration`);
  expect(await answer.json()).toMatchObject({ global_token_revocation_endpoint: endpoint() });
});
