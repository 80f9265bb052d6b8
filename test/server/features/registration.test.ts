import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getClient, listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import * as api from '../../../server/contract/provisioning.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { authorizePath, CALLBACK, getCode, newVerifier, PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let made = 0;
let realm = '';
let clock = Date.now();

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  // an address has so many registrations a minute in each realm
  realm = `reg${made}`;
  await server.admin.call(createRealm, { body: { realm } });
});

const RP = 'https://app.example/policy';
const APP = { client_name: 'An app', redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token'] };
const initial = async (body: { uses?: number; expiresAt?: number } = {}) =>
  (await server.admin.call(api.createInitialAccessToken, { params: { realm }, body })).body?.token ?? '';
const allow = (body: object) => server.admin.call(api.putProvisioning, { params: { realm }, body });
const at = (path = '') => `${server.baseUrl}/realms/${realm}/connect/register${path}`;

interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}
async function send(
  url: string,
  { method = 'POST', token, body }: { method?: string; token?: unknown; body?: unknown },
): Promise<Answer> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
}
const register = async (body: object = APP, token?: string) => send(at(), { token: token ?? (await initial()), body });
const manage = (
  client: Record<string, unknown>,
  method: string,
  body?: unknown,
  token = client.registration_access_token,
) => send(String(client.registration_client_uri), { method, token, body });
const registered = async () =>
  ((await server.admin.call(listClients, { params: { realm }, query: { limit: 1000 } })).body ?? []).filter((client) =>
    client.clientId.startsWith('dcr-'),
  );

describe('registration', () => {
  test('with an initial access token makes a client that works, and asks people for consent', async () => {
    const { status, body, headers } = await register();
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toMatchObject({
      ...APP,
      token_endpoint_auth_method: 'client_secret_basic',
      response_types: ['code'],
      client_secret: expect.stringMatching(/^svc_cs_/),
      client_secret_expires_at: 0,
      client_id_issued_at: expect.any(Number),
      registration_access_token: expect.stringMatching(/^svc_rat_/),
      registration_client_uri: expect.stringContaining(at('/')),
      scope: 'openid address email offline_access phone profile',
    });
    const id = String(body.registration_client_uri).split('/').at(-1) ?? '';
    const { body: client } = await server.admin.call(getClient, { params: { realm, id } });
    expect(client).toMatchObject({
      clientId: body.client_id,
      consentRequired: true,
      defaultClientScopes: [],
      serviceAccountRoles: [],
    });
    const { body: events } = await server.admin.call(listEvents, {
      params: { realm },
      query: { type: 'CLIENT_CREATED' },
    });
    expect(events).toMatchObject([
      { clientId: body.client_id, actor: { type: 'system', name: 'initial access token' } },
    ]);
  });

  test('takes no name that hides characters or turns them around', async () => {
    for (const client_name of ['Bank\u202eknaB', 'Ba\u200dnk', 'Bank\u0007']) {
      const { status, body } = await register({ ...APP, client_name });
      expect([status, body.error]).toEqual([400, 'invalid_client_metadata']);
    }
    expect(await registered()).toEqual([]);
  });

  test('lets tokens be asked for no resource but the policy’s, and a later update leaves what an administrator gave', async () => {
    const [bank, shop] = ['https://api.bank.example', 'https://api.shop.example'];
    await server.admin.call(putSettings, { params: { realm }, body: { resourceIndicators: [bank, shop] } });
    const app = { ...APP, token_endpoint_auth_method: 'none' };
    const asked = async (client: Record<string, unknown>, resource: string) => {
      const path = authorizePath(realm, String(client.client_id), newVerifier(), { resource, prompt: 'none' });
      return new URL((await createPerson(server.baseUrl).open(path)).url).searchParams.get('error');
    };
    const { body: plain } = await register(app);
    expect(await asked(plain, bank)).toBe('invalid_target');
    await allow({ allowedResources: [shop] });
    const { body: client } = await register(app);
    expect([await asked(client, bank), await asked(client, shop)]).toEqual(['invalid_target', 'login_required']);
    const id = String(plain.registration_client_uri).split('/').at(-1) ?? '';
    await server.admin.call(putClient, { params: { realm, id }, body: { allowedResources: [bank] } });
    expect((await manage(plain, 'PUT', { ...app, client_id: plain.client_id })).status).toBe(200);
    expect([await asked(plain, bank), await asked(plain, shop)]).toEqual(['login_required', 'invalid_target']);
  });

  test('is what openid-client does, and the client signs people in', async () => {
    await allow({ registration: 'open', requireConsent: false });
    await server.admin.call(createUser, { params: { realm }, body: { username: 'alice', password: PASSWORD } });
    const config = await oidc.dynamicClientRegistration(
      new URL(`${server.baseUrl}/realms/${realm}`),
      { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
      undefined,
      { execute: [oidc.allowInsecureRequests] },
    );
    const { client_id: clientId } = config.clientMetadata();
    const grant = await getCode(server, realm, clientId);
    const tokens = await oidc.authorizationCodeGrant(
      config,
      new URL(`${CALLBACK}?code=${grant.code}&state=state&iss=${server.baseUrl}/realms/${realm}`),
      {
        pkceCodeVerifier: grant.verifier,
        expectedState: 'state',
      },
    );
    expect(tokens.access_token).toBeTruthy();
  });

  test.each([
    ['no token', undefined],
    ['nonsense', 'nonsense'],
    ['a token with a wrong checksum', `svc_iat_${'A'.repeat(43)}00000000`],
  ])('is refused with %s, in one way', async (_, token) => {
    const refused = await send(at(), { token, body: APP });
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_token']);
    expect(await registered()).toEqual([]);
  });

  test('takes a token as often as it may be used, until its time, and not in another realm', async () => {
    const twice = await initial({ uses: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await register(APP, twice)).status);
    expect(statuses).toEqual([201, 201, 401]);
    const short = await initial({ expiresAt: clock + 1000 });
    const elsewhere = await send(`${server.baseUrl}/realms/master/connect/register`, { token: short, body: APP });
    expect(elsewhere.status).toBe(401);
    clock += 2000;
    expect((await register(APP, short)).status).toBe(401);
  });

  test('that is refused takes no use of its token, and two at once with the last use make one client', async () => {
    const token = await initial();
    expect((await register({ ...APP, redirect_uris: ['javascript:alert(1)'] }, token)).status).toBe(400);
    const statuses = await Promise.all([register(APP, token), register(APP, token)]);
    expect(statuses.map(({ status }) => status).toSorted()).toEqual([201, 401]);
  });

  test('is closed to all where the realm says so, and discovery names no endpoint then', async () => {
    const named = async () =>
      Object(await (await fetch(`${server.baseUrl}/realms/${realm}/.well-known/openid-configuration`)).json())
        .registration_endpoint;
    expect(await named()).toBe(at());
    const token = await initial();
    await allow({ registration: 'closed' });
    expect((await register(APP, token)).body.error).toBe('access_denied');
    expect(await named()).toBeUndefined();
  });

  test.each([
    ['a redirect URI of another host', { redirect_uris: ['https://evil.example/cb'] }, 'invalid_redirect_uri'],
    ['an app’s own scheme with the host', { redirect_uris: ['evil://apps.example.com/cb'] }, 'invalid_redirect_uri'],
    ['a redirect URI without TLS', { redirect_uris: ['http://apps.example.com/cb'] }, 'invalid_redirect_uri'],
    ['a way back without TLS', { post_logout_redirect_uris: ['http://apps.example.com/'] }, 'invalid_redirect_uri'],
    ['a redirect URI that is a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a redirect URI without its //', { redirect_uris: ['https:/apps.example.com/cb'] }, 'invalid_redirect_uri'],
    ['one with a third slash', { redirect_uris: ['https:///apps.example.com/cb'] }, 'invalid_redirect_uri'],
    ['one with a user name', { redirect_uris: ['https://shown.example@apps.example.com/cb'] }, 'invalid_redirect_uri'],
    ['one with a backslash', { redirect_uris: ['https://apps.example.com\\@evil.example'] }, 'invalid_redirect_uri'],
    ['one that begins with backslashes', { redirect_uris: ['https:\\\\apps.example.com'] }, 'invalid_redirect_uri'],
    ['such a way back', { post_logout_redirect_uris: ['https:/apps.example.com/'] }, 'invalid_redirect_uri'],
    ['a wildcard', { redirect_uris: ['https://*.apps.example.com/cb'] }, 'invalid_redirect_uri'],
    ['none at all', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['a grant that the realm does not allow', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['a scope that the realm does not allow', { scope: 'openid account' }, 'invalid_client_metadata'],
    [
      'keys by plain http',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'http://apps.example.com/k' },
      'invalid_client_metadata',
    ],
    ['no keys where they are needed', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    ['a method that nobody knows', { token_endpoint_auth_method: 'tls_client_auth' }, 'invalid_client_metadata'],
    ['an implicit response', { response_types: ['token'] }, 'invalid_client_metadata'],
    ['fields of other types', { client_name: 7 }, 'invalid_client_metadata'],
  ])('refuses %s', async (_, more, error) => {
    await allow({ allowedRedirectHosts: ['apps.example.com'] });
    const refused = await register({ redirect_uris: ['https://apps.example.com/cb'], ...more });
    expect([refused.status, refused.body.error]).toEqual([400, error]);
    expect(await registered()).toEqual([]);
  });

  test('passes over metadata that nobody knows here, and keeps to the number that the realm takes', async () => {
    await allow({ mostClients: 1, registration: 'open' });
    const open = () => send(at(), { body: { ...APP, software_id: 'x', __proto__x: 1 } });
    const first = await open();
    expect([first.status, Object.hasOwn(first.body, 'software_id')]).toEqual([201, false]);
    expect((await open()).body.error).toBe('access_denied');
  });

  test('shows people no link whose host is another than it seems', async () => {
    await allow({ registration: 'open' });
    const links = { client_uri: 'https://bank.example@evil.example/', tos_uri: 'https:/evil.example', policy_uri: RP };
    const { status, body } = await send(at(), { body: { ...APP, ...links } });
    expect([status, body.client_uri, body.tos_uri, body.policy_uri]).toEqual([201, undefined, undefined, RP]);
  });

  test('is limited for each address', async () => {
    const statuses = [];
    for (let i = 0; i < 21; i += 1) statuses.push((await send(at(), { token: 'x', body: APP })).status);
    expect(statuses.slice(-2)).toEqual([401, 429]);
    // A client with a valid token isn't held up by others at the address, nor by the number of the token's uses.
    const token = await initial({ uses: 25 });
    const invited = [];
    for (let i = 0; i < 22; i += 1) invited.push((await send(at(), { token, body: APP })).status);
    expect(new Set(invited)).toEqual(new Set([201]));
    const faulty = [];
    for (let i = 0; i < 21; i += 1)
      faulty.push((await send(at(), { token, body: { ...APP, redirect_uris: ['x'] } })).status);
    expect(faulty.slice(-2)).toEqual([400, 429]);
  });
});

describe('a registered client', () => {
  test('reads itself with its token, which each answer replaces', async () => {
    const { body: client } = await register();
    const read = await manage(client, 'GET');
    expect(read.status).toBe(200);
    const { client_secret: _, registration_access_token: first, ...same } = client;
    expect(read.body).toEqual({ ...same, registration_access_token: read.body.registration_access_token });
    expect(read.body.registration_access_token).not.toBe(first);
    expect((await manage(client, 'GET')).status).toBe(401);
    expect((await manage(read.body, 'GET')).status).toBe(200);
  });

  test('replaces its metadata: what is left out goes back to its default', async () => {
    const { body: client } = await register({ ...APP, scope: 'openid profile' });
    const next = {
      client_id: client.client_id,
      redirect_uris: ['https://app.example/new'],
      token_endpoint_auth_method: 'none',
      client_name: null,
      jwks_uri: null,
      grant_types: null,
    };
    const changed = await manage(client, 'PUT', next);
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({
      redirect_uris: ['https://app.example/new'],
      grant_types: ['authorization_code'],
    });
    expect(Object.keys(changed.body)).not.toContain('client_secret');
    const [stored] = await registered();
    expect(stored).toMatchObject({ name: null, secretSet: false, requirePkce: true, tokenEndpointAuthMethod: 'none' });
  });

  test('takes back nothing that an administrator demands of it, nor the scopes that they gave it', async () => {
    await allow({ requireConsent: false });
    const { body: client } = await register();
    const demanded = {
      consentRequired: true,
      requirePkce: true,
      requirePushedAuthorizationRequests: true,
      dpopBoundAccessTokens: true,
      defaultClientScopes: ['roles'],
    };
    const id = String(client.registration_client_uri).split('/').at(-1) ?? '';
    await server.admin.call(putClient, { params: { realm, id }, body: demanded });
    const laxer = { dpop_bound_access_tokens: false, require_pushed_authorization_requests: false };
    const changed = await manage(client, 'PUT', { ...APP, ...laxer, client_id: client.client_id });
    expect(changed.body).toMatchObject({ dpop_bound_access_tokens: true, require_pushed_authorization_requests: true });
    expect((await server.admin.call(getClient, { params: { realm, id } })).body).toMatchObject(demanded);
  });

  test('can make itself stricter', async () => {
    const { body: client } = await register();
    const stricter = { require_pushed_authorization_requests: true };
    const changed = await manage(client, 'PUT', { ...APP, ...stricter, client_id: client.client_id });
    expect([changed.status, (await registered())[0]?.requirePushedAuthorizationRequests]).toEqual([200, true]);
  });

  test.each([
    ['another client’s id', { client_id: 'admin-cli' }],
    ['a secret that isn’t its own', { client_secret: 'wrong' }],
  ])('cannot say %s', async (_, more) => {
    const { body: client } = await register();
    const refused = await manage(client, 'PUT', { ...APP, client_id: client.client_id, ...more });
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_client_metadata']);
  });

  test('deletes itself, and its token is worth nothing for another', async () => {
    const [{ body: one }, { body: other }] = [await register(), await register()];
    const crossed = await manage(other, 'DELETE', undefined, one.registration_access_token);
    expect([crossed.status, crossed.body.error]).toEqual([401, 'invalid_token']);
    expect((await manage(one, 'DELETE')).status).toBe(204);
    expect((await registered()).map((client) => client.clientId)).toEqual([other.client_id]);
    expect((await manage(one, 'GET')).status).toBe(401);
  });
});

describe('provisioning', () => {
  test('is a view of the realm’s settings', async () => {
    const fresh = (await server.admin.call(api.getProvisioning, { params: { realm } })).body;
    expect(fresh).toEqual({
      registration: 'token',
      allowedGrantTypes: ['authorization_code', 'refresh_token'],
      allowedScopes: [],
      allowedRedirectHosts: [],
      allowedResources: [],
      requireConsent: true,
      metadataDocuments: false,
      metadataHosts: [],
      mostClients: 1000,
      initialAccessTokenTtlSeconds: 86_400,
    });
    const { body } = await allow({ allowedScopes: ['profile'], mostClients: 5 });
    expect(body).toEqual({ ...fresh, allowedScopes: ['profile'], mostClients: 5 });
    await expect(allow({ registration: 'perhaps' })).rejects.toMatchObject({ status: 400 });
  });

  test('lists the tokens that are good, without their values, and takes one back', async () => {
    const token = await initial({ uses: 3 });
    const list = async () => (await server.admin.call(api.listInitialAccessTokens, { params: { realm } })).body ?? [];
    const [listed] = await list();
    expect(listed).toEqual({ id: listed?.id, usesLeft: 3, createdAt: clock, expiresAt: clock + 86_400_000 });
    await server.admin.call(api.deleteInitialAccessToken, { params: { realm, id: listed?.id ?? '' } });
    expect([await list(), (await register(APP, token)).status]).toEqual([[], 401]);
    const past = { params: { realm }, body: { expiresAt: clock - 1 } };
    await expect(server.admin.call(api.createInitialAccessToken, past)).rejects.toMatchObject({ status: 400 });
    const { rows } = await server.pool.query('select t::text from initial_access_token t');
    expect(JSON.stringify(rows)).not.toContain(token.slice(8));
  });
});
