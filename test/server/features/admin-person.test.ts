// Owns: people on the admin API by bearer token: what `realmctl login` gives them, and every way that others might want it.
// Does not own: service accounts (admin-bearer.test.ts), cookies (admin-access.test.ts), realmctl (test/cli).
// Implements: decisions "Admin authentication"; RFC 8252 §7.3, §8.6.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_CLI, putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createClient, listClients, putClient } from '../../../server/contract/clients.ts';
import { problemType } from '../../../server/contract/problem.ts';
import { endSession, listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, deleteUser, putUser, setPassword } from '../../../server/contract/users.ts';
import { authorizePath, CONSENT, LOOPBACK, signInCli, walk } from '../../support/admin-cli.ts';
import { claimsIn, makeRealm, post } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let now = Date.now();
const PASSWORD = 'three wet umbrellas';
const params = { realm: 'master' };
const VERIFIER = 'v'.repeat(43);
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(now) });
  await makeRealm(server, 'acme');
});
afterAll(() => server?.stop());

const session = (bearer: unknown, path = '/admin/session', init: RequestInit = {}) =>
  fetch(server.baseUrl + path, { ...init, headers: { authorization: `Bearer ${bearer}` } });
const refresh = (token: unknown) =>
  post(server, 'master', 'token', { grant_type: 'refresh_token', client_id: ADMIN_CLI, refresh_token: String(token) });
let made = 0;
/** A person of master who holds `role` over `realm`. */
async function person(role?: string, realm = '*') {
  const username = `person-${++made}`;
  const { body } = await server.admin.call(createUser, { params, body: { username, password: PASSWORD } });
  const userId = body?.id ?? '';
  if (role)
    await server.admin.call(putUserAdminRoles, { params: { ...params, userId }, body: { grants: [{ role, realm }] } });
  return { userId, credentials: { username, password: PASSWORD } };
}
async function clientNamed(clientId: string, realm = 'master') {
  const { body } = await server.admin.call(listClients, { params: { realm }, query: { q: clientId } });
  return body?.find((client) => client.clientId === clientId) ?? expect.fail(`no client ${clientId}`);
}

describe('a person who signs in by realmctl', () => {
  test('has their own rights, by a token that is for the admin API alone', async () => {
    const { body } = await signInCli(server);
    expect(claimsIn(body.access_token)).toMatchObject({ aud: `${server.baseUrl}/admin`, client_id: ADMIN_CLI });
    const me = await session(body.access_token);
    expect(await me.json()).toMatchObject({ type: 'user', name: 'admin', realm: 'master' });
    expect(me.headers.getSetCookie()).toEqual([]);
  });

  test('may just what their roles allow, where they allow it', async () => {
    const { credentials } = await person('realm-viewer', 'acme');
    const { body } = await signInCli(server, credentials);
    expect((await session(body.access_token, '/admin/realms/acme/settings')).status).toBe(200);
    expect((await session(body.access_token, '/admin/realms/master/settings')).status).toBe(403);
    expect((await session(body.access_token, '/admin/realms/acme', { method: 'DELETE' })).status).toBe(403);
  });

  test('is nobody without an admin role', async () => {
    const { credentials } = await person();
    const { body } = await signInCli(server, credentials);
    expect((await session(body.access_token)).status).toBe(401);
  });

  test('is asked each time, also where they agreed before and have a session', async () => {
    const someone = createPerson(server.baseUrl);
    await signInCli(server, { person: someone });
    const page = await someone.open(authorizePath(server, VERIFIER));
    expect(page.heading).toBe(CONSENT);
    expect(page.text).toContain('Administer this server');
    const silent = await walk(someone, authorizePath(server, VERIFIER, { prompt: 'none' }));
    expect(silent.searchParams.get('error')).toBe('consent_required');
    const denied = await walk(someone, authorizePath(server, VERIFIER), { decision: 'deny' });
    expect(denied.searchParams.get('error')).toBe('access_denied');
  });
});

describe('the rights end at once', () => {
  const live = async (role = 'realm-admin') => {
    const { userId, credentials } = await person(role);
    const { body } = await signInCli(server, credentials);
    expect((await session(body.access_token)).status).toBe(200);
    return { userId, credentials, access: body.access_token, refresh: body.refresh_token };
  };

  test('with the role', async () => {
    const { userId, access } = await live();
    await server.admin.call(putUserAdminRoles, { params: { ...params, userId }, body: { grants: [] } });
    expect((await session(access)).status).toBe(401);
  });

  test('with the session, and the refresh token with them', async () => {
    const { userId, access, refresh: token } = await live();
    const { body } = await server.admin.call(listSessions, { params, query: { userId } });
    await server.admin.call(endSession, { params: { ...params, id: body?.[0]?.id ?? '' } });
    expect((await session(access)).status).toBe(401);
    expect((await refresh(token)).body.error).toBe('invalid_grant');
  });

  test('with the account: disabled, deleted', async () => {
    const one = await live();
    await server.admin.call(putUser, {
      params: { ...params, userId: one.userId },
      body: { username: one.credentials.username, enabled: false },
    });
    expect((await session(one.access)).status).toBe(401);
    expect((await refresh(one.refresh)).body.error).toBe('invalid_grant');
    const other = await live();
    await server.admin.call(deleteUser, { params: { ...params, userId: other.userId } });
    expect((await session(other.access)).status).toBe(401);
  });

  test('with a new password', async () => {
    const { userId, access, refresh: token } = await live();
    await server.admin.call(setPassword, { params: { ...params, userId }, body: { password: 'four dry parasols' } });
    expect((await session(access)).status).toBe(401);
    expect((await refresh(token)).body.error).toBe('invalid_grant');
  });

  test('with the sign-out of realmctl', async () => {
    const { access, refresh: token } = await live();
    await post(server, 'master', 'revoke', { client_id: ADMIN_CLI, token: String(token) });
    expect((await session(access)).status).toBe(401);
  });

  test('where a second factor is needed that the sign-in did not have', async () => {
    const { access } = await live();
    // The administrator's own sign-in had one.
    const factor = JSON.stringify([{ authenticator: 'otp', at: Date.now() }]);
    await server.pool.query('update admin_session set factors = factors || $1::jsonb', [factor]);
    await server.admin.call(putSettings, { params, body: { requireMfa: true } });
    const refused = await session(access);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(
      'error="insufficient_user_authentication", acr_values="2"',
    );
    expect(await refused.json()).toMatchObject({ type: problemType('step-up-required') });
    await server.admin.call(putSettings, { params, body: { requireMfa: false } });
    expect((await session(access)).status).toBe(200);
  });

  test('where the person has set up a second factor since, which the sign-in did not have', async () => {
    const { userId, access } = await live();
    await server.pool.query(
      `insert into credential (realm_id, id, user_id, type, secret, created_at)
       select realm_id, $2, user_id, 'otp', secret, created_at from credential where user_id = $1`,
      [userId, randomUUID()],
    );
    expect((await session(access)).status).toBe(401);
  });

  test('where the client is disabled, or no longer public', async () => {
    const { access } = await live();
    const { id } = await clientNamed(ADMIN_CLI);
    for (const body of [{ enabled: false }, { allowedResources: [] }]) {
      await server.admin.call(putClient, { params: { ...params, id }, body });
      expect((await session(access)).status).toBe(401);
      await server.admin.call(putClient, {
        params: { ...params, id },
        body: { enabled: true, allowedResources: [`${server.baseUrl}/admin`] },
      });
      expect((await session(access)).status).toBe(200);
    }
  });
});

describe('nobody else gets such a token', () => {
  const publicClient = (clientId: string, more: object = {}) => ({
    clientId,
    tokenEndpointAuthMethod: 'none' as const,
    grantTypes: ['authorization_code' as const, 'refresh_token' as const],
    redirectUris: ['http://127.0.0.1/callback'],
    allowedResources: [`${server.baseUrl}/admin`],
    ...more,
  });
  const ask = (path: string) => walk(createPerson(server.baseUrl), path);

  test('another client, though its own list names the admin API', async () => {
    const body = publicClient('evil');
    await expect(server.admin.call(createClient, { params, body })).rejects.toMatchObject({ status: 400 });
    await server.admin.call(createClient, { params, body: { ...body, allowedResources: [] } });
    // as it may have been stored before that was refused
    await server.pool.query("update client set allowed_resources = $1 where client_id = 'evil'", [
      body.allowedResources,
    ]);
    await server.admin.call(putClient, {
      params: { ...params, id: (await clientNamed('evil')).id },
      body: { name: 'E' },
    });
    const url = await ask(authorizePath(server, VERIFIER, { client_id: 'evil' }));
    expect(url.searchParams.get('error')).toBe('invalid_target');
  });

  test('an address that is not this computer’s, though somebody registered it', async () => {
    const { id, redirectUris } = await clientNamed(ADMIN_CLI);
    for (const uri of ['https://evil.example/callback', 'http://localhost/callback', 'com.evil:/callback']) {
      await server.admin.call(putClient, { params: { ...params, id }, body: { redirectUris: [uri] } });
      const url = await ask(authorizePath(server, VERIFIER, { redirect_uri: uri }));
      expect(url.searchParams.get('error')).toBe('invalid_target');
    }
    await server.admin.call(putClient, { params: { ...params, id }, body: { redirectUris } });
  });

  test('a request without PKCE, or without the audience', async () => {
    const plain = await ask(authorizePath(server, VERIFIER, { code_challenge: '' }));
    expect(plain.searchParams.get('error')).toBe('invalid_request');
    const { body } = await signInCli(server, { more: { resource: '' } });
    expect((await session(body.access_token)).status).toBe(401);
    const asked = await post(server, 'master', 'token', {
      grant_type: 'refresh_token',
      client_id: ADMIN_CLI,
      refresh_token: String(body.refresh_token),
      resource: `${server.baseUrl}/admin`,
    });
    expect(asked.body.error).toBe('invalid_target');
  });

  test('a realm that has no such client; and where it has one, its people reach their own realm alone', async () => {
    const before = await createPerson(server.baseUrl).open(authorizePath(server, VERIFIER, {}, 'acme'));
    expect(before.status).toBe(400);
    await server.admin.call(createClient, { params: { realm: 'acme' }, body: publicClient(ADMIN_CLI) });
    const user = { username: 'ana', password: PASSWORD };
    const { body: ana } = await server.admin.call(createUser, { params: { realm: 'acme' }, body: user });
    await server.admin.call(putUserAdminRoles, {
      params: { realm: 'acme', userId: ana?.id ?? '' },
      body: { grants: [{ role: 'realm-admin', realm: 'acme' }] },
    });
    const { body } = await signInCli(server, { realm: 'acme', ...user });
    expect((await session(body.access_token, '/admin/realms/acme/settings')).status).toBe(200);
    expect((await session(body.access_token, '/admin/realms/master/settings')).status).toBe(403);
  });
});

test('the client is made with the server, and what an administrator does to it stays', async () => {
  const { redirectUris, consentRequired, requirePkce, tokenEndpointAuthMethod } = await clientNamed(ADMIN_CLI);
  expect({ consentRequired, requirePkce, tokenEndpointAuthMethod }).toEqual({
    consentRequired: true,
    requirePkce: true,
    tokenEndpointAuthMethod: 'none',
  });
  expect(redirectUris).toContain(LOOPBACK.replace(/:\d+/, ''));
});

// last, since the clock goes on
test('the rights end ten hours after the sign-in, however long the realm lets sessions live', async () => {
  const lives = { ssoSessionIdleTimeoutSeconds: 864_000, ssoSessionMaxLifetimeSeconds: 864_000 };
  await server.admin.call(putSettings, { params, body: { ...lives, accessTokenTtlSeconds: 86_400 } });
  const someone = createPerson(server.baseUrl);
  const { body } = await signInCli(server, { person: someone });
  now += 9 * 3_600_000;
  expect((await session(body.access_token)).status).toBe(200);
  now += 2 * 3_600_000;
  expect((await session(body.access_token)).status).toBe(401);
  const renewed = await refresh(body.refresh_token);
  expect(renewed.status).toBe(200);
  expect((await session(renewed.body.access_token)).status).toBe(401);
  // and the browser's session lends them no more either: the person signs in again
  expect((await someone.open(authorizePath(server, VERIFIER))).heading).toBe('Sign in');
});
