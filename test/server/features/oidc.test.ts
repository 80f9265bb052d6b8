// OpenID Connect as an application and a person meet it: openid-client against the real server.
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUser } from '../../../server/contract/users.ts';
import { makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let userId: string;
let spa: oidc.Configuration;
let web: oidc.Configuration;
const PASSWORD = 'three wet umbrellas';
const CALLBACK = 'http://127.0.0.1/callback';
const insecure = { execute: [oidc.allowInsecureRequests] };
const issuer = () => `${server.baseUrl}/realms/acme`;

beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
  const redirectUris = [CALLBACK];
  const postLogoutRedirectUris = ['https://app.example/bye'];
  const optionalClientScopes = ['offline_access', 'phone', 'address'];
  await makeClient(server, 'acme', {
    clientId: 'spa',
    tokenEndpointAuthMethod: 'none',
    redirectUris,
    postLogoutRedirectUris,
    optionalClientScopes,
    webOrigins: ['https://spa.example'],
  });
  await makeClient(server, 'acme', { clientId: 'web', secret: SECRET, redirectUris, requirePkce: false });
  const user = await server.admin.call(createUser, {
    params: { realm: 'acme' },
    body: {
      username: 'alice',
      email: 'alice@example.com',
      emailVerified: true,
      firstName: 'Alice',
      lastName: 'Ames',
      password: PASSWORD,
      attributes: { phone_number: ['+41 1'], locality: ['Bern'] },
    },
  });
  userId = user.body?.id ?? '';
  spa = await oidc.discovery(new URL(issuer()), 'spa', undefined, oidc.None(), insecure);
  web = await oidc.discovery(new URL(issuer()), 'web', undefined, oidc.ClientSecretBasic(SECRET), insecure);
});
afterAll(async () => server?.stop());

interface Round {
  person: Person;
  landed: URL;
  verifier: string;
  state: string;
  nonce: string;
}

/** A person goes through the browser's part of the code flow, signing in where the server asks for it. */
async function walk(
  config: oidc.Configuration,
  parameters: Record<string, string> = {},
  person: Person = createPerson(server.baseUrl),
): Promise<Round> {
  const verifier = oidc.randomPKCECodeVerifier();
  const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: 'http://127.0.0.1:49152/callback',
    scope: 'openid profile email',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...parameters,
  });
  let page = await person.open(url.href);
  if (page.heading === 'Sign in') page = await person.fill(page, { username: 'alice', password: PASSWORD });
  return { person, landed: new URL(page.url), verifier, state, nonce };
}

const exchange = (config: oidc.Configuration, { landed, verifier, state, nonce }: Round) =>
  oidc.authorizationCodeGrant(config, landed, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  });

test('a public client gets tokens by code and PKCE, which verify against the JWKS', async () => {
  const round = await walk(spa);
  expect(round.landed.searchParams.get('iss')).toBe(issuer());
  const tokens = await exchange(spa, round);
  expect(tokens.claims()).toMatchObject({ sub: userId, aud: 'spa' });
  // OIDC Core §5.4: there is an access token to ask userinfo with
  for (const claim of ['email', 'name']) expect(tokens.claims()).not.toHaveProperty(claim);
  expect(tokens.refresh_token).toMatch(/^svc_rt_/);
  const keys = createRemoteJWKSet(new URL(`${issuer()}/oauth2/jwks`));
  const access = await jwtVerify(tokens.access_token, keys, { issuer: issuer(), audience: issuer(), typ: 'at+jwt' });
  expect(access.payload).toMatchObject({ sub: userId, client_id: 'spa', acr: '1', amr: ['pwd'] });
  expect(access.payload.scope).toBe('openid email profile');
  expect(access.payload.sid).toBe(tokens.claims()?.sid);
  await jwtVerify(tokens.id_token ?? '', keys, { issuer: issuer(), audience: 'spa' });
});

test('userinfo answers the claims of the granted scopes, by GET and POST', async () => {
  const tokens = await exchange(spa, await walk(spa, { scope: 'openid phone address' }));
  const claims = await oidc.fetchUserInfo(spa, tokens.access_token, userId);
  expect(claims).toMatchObject({
    sub: userId,
    preferred_username: 'alice',
    email_verified: true,
    phone_number: '+41 1',
    address: { locality: 'Bern' },
  });
  const posted = await post(server, 'acme', 'userinfo', { access_token: tokens.access_token });
  expect(posted.body).toEqual(claims);
});

test('a confidential client without PKCE works where it need not use it', async () => {
  const person = createPerson(server.baseUrl);
  const url = oidc.buildAuthorizationUrl(web, { redirect_uri: CALLBACK, scope: 'openid', state: 'x' });
  const page = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
  const tokens = await oidc.authorizationCodeGrant(web, new URL(page.url), { expectedState: 'x' });
  expect(tokens.claims()?.sub).toBe(userId);
});

describe('a session', () => {
  test('signs the person in at the next application without asking', async () => {
    const { person } = await walk(spa);
    const again = await walk(web, { redirect_uri: CALLBACK, prompt: 'none' }, person);
    expect(again.landed.searchParams.get('error')).toBeNull();
    expect((await exchange(web, again)).claims()?.sub).toBe(userId);
  });

  test('is asked for again by prompt=login and max_age=0, and auth_time moves', async () => {
    const { person } = await walk(spa);
    for (const parameters of [{ prompt: 'login' }, { max_age: '0' }]) {
      const url = await authorizeUrl(parameters);
      const page = await person.open(url);
      expect(page.heading).toBe('Sign in');
      const done = await person.fill(page, { username: 'alice', password: PASSWORD });
      expect(new URL(done.url).searchParams.get('code')).toMatch(/^svc_ac_/);
    }
  });

  test('is not renewed by coming back to where a sign-in led', async () => {
    const { person } = await walk(spa, { prompt: 'login' });
    const page = await person.open('/realms/acme/oauth2/authorize/resume');
    expect(page.status).toBe(400);
  });
});

const authorizeUrl = async (parameters: Record<string, string> = {}): Promise<string> =>
  oidc.buildAuthorizationUrl(spa, {
    redirect_uri: CALLBACK,
    scope: 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(oidc.randomPKCECodeVerifier()),
    code_challenge_method: 'S256',
    state: 's t&te',
    ...parameters,
  }).href;

describe('prompt=none', () => {
  test('without a session is login_required, with state and iss', async () => {
    const page = await createPerson(server.baseUrl).open(await authorizeUrl({ prompt: 'none' }));
    const { searchParams } = new URL(page.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      error: 'login_required',
      state: 's t&te',
      iss: issuer(),
    });
  });
  test('with another person in the id_token_hint is login_required', async () => {
    const round = await walk(spa);
    const tokens = await exchange(spa, round);
    await server.admin.call(createUser, { params: { realm: 'acme' }, body: { username: 'bob', password: PASSWORD } });
    const bob = createPerson(server.baseUrl);
    await bob.fill(await bob.open(await authorizeUrl()), { username: 'bob', password: PASSWORD });
    const hint = { prompt: 'none', id_token_hint: tokens.id_token ?? '' };
    const page = await bob.open(await authorizeUrl(hint));
    expect(new URL(page.url).searchParams.get('error')).toBe('login_required');
  });
});

describe('a request whose client or redirect_uri is wrong gets a page and no redirect', () => {
  const wrong: [string, Record<string, string>][] = [
    ['an unknown client', { client_id: 'nobody' }],
    ['another path', { redirect_uri: 'http://127.0.0.1/callback/' }],
    ['another host', { redirect_uri: 'http://127.0.0.1.evil.example/callback' }],
    ['user info in the host', { redirect_uri: 'http://127.0.0.1:80@evil.example/callback' }],
    ['a fragment', { redirect_uri: 'http://127.0.0.1/callback#x' }],
    ['https on loopback', { redirect_uri: 'https://127.0.0.1/callback' }],
    ['no redirect_uri', { redirect_uri: '' }],
  ];
  test.each(wrong)('%s', async (_, parameters) => {
    const page = await createPerson(server.baseUrl).open(await authorizeUrl(parameters));
    expect(page.status).toBe(400);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.text).toContain('invalid_request');
  });
  test('a parameter that comes twice', async () => {
    const page = await createPerson(server.baseUrl).open(`${await authorizeUrl()}&client_id=web`);
    expect(page.status).toBe(400);
  });
});

describe('an error goes back to the application', () => {
  const errors: [string, Record<string, string>, string][] = [
    ['another response_type', { response_type: 'token' }, 'unsupported_response_type'],
    ['another response_mode', { response_mode: 'fragment' }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no PKCE', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['a bad challenge', { code_challenge: 'short' }, 'invalid_request'],
    ['a scope of other clients', { scope: 'openid groups' }, 'invalid_scope'],
    ['prompt none with another', { prompt: 'none login' }, 'invalid_request'],
    ['an unknown prompt', { prompt: 'renew' }, 'invalid_request'],
    ['a bad max_age', { max_age: '-1' }, 'invalid_request'],
    ['a request object', { request: 'x.y.z' }, 'request_not_supported'],
    ['a request_uri', { request_uri: 'https://x.example' }, 'request_uri_not_supported'],
    ['a resource off the list', { resource: 'https://api.example' }, 'invalid_target'],
    ['the admin API as resource', { resource: 'ADMIN' }, 'invalid_target'],
    ['a foreign id_token_hint', { id_token_hint: 'a.b.c' }, 'invalid_request'],
  ];
  test.each(errors)('%s', async (_, parameters, error) => {
    const resource = parameters.resource === 'ADMIN' ? { resource: `${server.baseUrl}/admin` } : {};
    const page = await createPerson(server.baseUrl).open(await authorizeUrl({ ...parameters, ...resource }));
    const landed = new URL(page.url);
    expect(landed.origin + landed.pathname).toBe(CALLBACK);
    expect(landed.searchParams.get('error')).toBe(error);
    expect(landed.searchParams.get('iss')).toBe(issuer());
  });
});

test('form_post answers a page that posts itself, under a CSP that names its script', async () => {
  const { person } = await walk(spa);
  const page = await person.open(await authorizeUrl({ response_mode: 'form_post' }));
  expect(page.fields).toMatchObject({ state: 's t&te', iss: issuer() });
  expect(page.fields.code).toMatch(/^svc_ac_/);
  expect(page.text).toContain(`action="${CALLBACK}"`);
  expect(page.headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^']+'/);
});

test('the request may come by POST', async () => {
  const url = new URL(await authorizeUrl());
  const page = await createPerson(server.baseUrl).post(url.pathname, Object.fromEntries(url.searchParams));
  expect(page.heading).toBe('Sign in');
});

test('a browser application may call the token endpoint from its own origin, and no other', async () => {
  const allowed = await post(server, 'acme', 'token', { client_id: 'spa' }, { origin: 'https://spa.example' });
  expect(allowed.headers.get('access-control-allow-origin')).toBe('https://spa.example');
  const other = await post(server, 'acme', 'token', { client_id: 'spa' }, { origin: 'https://evil.example' });
  expect(other.headers.get('access-control-allow-origin')).toBeNull();
  const preflight = await fetch(`${issuer()}/oauth2/token`, {
    method: 'OPTIONS',
    headers: { origin: 'https://spa.example', 'access-control-request-method': 'POST' },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
});

test('discovery says only what works, in both forms', async () => {
  const [document, metadata] = await Promise.all(
    [
      `${issuer()}/.well-known/openid-configuration`,
      `${server.baseUrl}/.well-known/oauth-authorization-server/realms/acme`,
    ].map(async (url) => (await fetch(url)).text()),
  );
  expect(metadata).toBe(document);
  const parsed = JSON.parse(document ?? '');
  expect(parsed).toMatchObject({
    issuer: issuer(),
    response_types_supported: ['code'],
    acr_values_supported: ['1', '2', '3', '6'],
  });
  expect(parsed.scopes_supported).toContain('offline_access');
  expect(decodeProtectedHeader((await exchange(spa, await walk(spa))).access_token)).toMatchObject({ alg: 'RS256' });
  expect(decodeJwt((await exchange(spa, await walk(spa))).access_token).iss).toBe(parsed.issuer);
});
