// The endpoints around the code flow, as a conformance suite and a hostile client meet them: userinfo (OIDC Core §5.3, RFC 6750),
// introspection (RFC 7662), revocation (RFC 7009), discovery (OIDC Discovery, RFC 8414), CORS, caching, enumeration.
import { generateKeyPairSync, hash } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshClientScopes } from '../../../server/contract/client-scopes.ts';
import { newVerifier } from '../../support/applications.ts';
import { type Answer, basic, claimsIn, makeRealm, post, SECRET } from '../../support/clients.ts';
import {
  exchange,
  freshTokens,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  signedIn,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let offset = 0;
const ORIGIN = 'https://spa.example';
const keys = {
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  Ed25519: generateKeyPairSync('ed25519'),
};
const at = (endpoint: string) => `${server.baseUrl}/realms/${REALM}/oauth2/${endpoint}`;
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + offset) });
  await makeProvider(server);
  await makeRealm(server, 'elsewhere');
  const robot = { grantTypes: ['client_credentials' as const], redirectUris: [] };
  await makeRelyingParty(server, 'robot', { ...robot, allowedResources: [`${server.baseUrl}/realms/${REALM}`] });
  await makeRelyingParty(server, 'keyed', {
    ...robot,
    secret: undefined,
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks: { keys: Object.values(keys).map((pair) => pair.publicKey.export({ format: 'jwk' })) },
  });
  await makeRelyingParty(server, 'off', { ...robot, enabled: false });
  await makeRelyingParty(server, 'all', {
    optionalClientScopes: freshClientScopes.filter((name) => name !== 'openid'),
  });
  await makeRelyingParty(server, 'spa', {
    secret: undefined,
    tokenEndpointAuthMethod: 'none',
    requirePkce: true,
    webOrigins: [ORIGIN],
  });
});
afterAll(async () => server?.stop());

const form = { 'content-type': 'application/x-www-form-urlencoded' };
interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  query?: string;
}
async function ask(endpoint: string, { query = '', ...init }: Asked): Promise<Answer> {
  const response = await fetch(at(endpoint) + query, { redirect: 'manual', ...init });
  const text = await response.text();
  const body = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, text, body };
}
const robotToken = async () => {
  const { body } = await post(
    server,
    REALM,
    'token',
    { grant_type: 'client_credentials' },
    { authorization: basic('robot') },
  );
  return String(body.access_token);
};

describe('userinfo', () => {
  const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` });
  const inBody = (token: unknown) => new URLSearchParams({ access_token: String(token) }).toString();

  test('oidcc-userinfo-get, oidcc-userinfo-post-header, oidcc-userinfo-post-body: says the same, to be kept by nobody', async () => {
    const { body } = await freshTokens(server, { scope: 'openid profile' });
    const token = body.access_token;
    const ways: Asked[] = [
      { headers: bearer(token) },
      { headers: { authorization: `bearer ${token}` } },
      { method: 'POST', headers: bearer(token) },
      { method: 'POST', headers: { ...bearer(token), ...form }, body: '' },
      { method: 'POST', headers: form, body: inBody(token) },
    ];
    for (const way of ways) {
      const answer = await ask('userinfo', way);
      expect([answer.status, answer.body.sub]).toEqual([200, claimsIn(body.id_token).sub]);
      expect(answer.body.name).toBe('Alice Ames');
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  const refusals: [string, (tokens: Record<string, unknown>) => Asked | Promise<Asked>, number, string | undefined][] =
    [
      ['no token', () => ({}), 401, undefined],
      ['another scheme', () => ({ headers: { authorization: basic('rp') } }), 401, undefined],
      ['a token in the address', (t) => ({ query: `?${inBody(t.access_token)}` }), 401, undefined],
      [
        'a token twice',
        (t) => ({ method: 'POST', headers: { ...bearer(t.access_token), ...form }, body: inBody(t.access_token) }),
        400,
        'invalid_request',
      ],
      ['garbage', () => ({ headers: bearer('a.b.c') }), 401, 'invalid_token'],
      ['an ID token', (t) => ({ headers: bearer(t.id_token) }), 401, 'invalid_token'],
      ['a refresh token', (t) => ({ headers: bearer(t.refresh_token) }), 401, 'invalid_token'],
      [
        'a signature that does not hold',
        (t) => ({ headers: bearer(`${String(t.access_token).slice(0, -8)}AAAAAAAA`) }),
        401,
        'invalid_token',
      ],
      ['a service account’s', async () => ({ headers: bearer(await robotToken()) }), 403, 'insufficient_scope'],
    ];
  test.each(refusals)('RFC 6750 §3: refuses %s', async (_, asked, status, error) => {
    const { body } = await freshTokens(server);
    const answer = await ask('userinfo', await asked(body));
    expect(answer.status).toBe(status);
    const challenge = answer.headers.get('www-authenticate') ?? '';
    expect(challenge).toMatch(/^Bearer realm="op"/);
    expect(/error="([^"]*)"/.exec(challenge)?.[1]).toBe(error);
  });

  test('refuses a token whose session has ended, or whose time has come', async () => {
    const { person, body } = await freshTokens(server);
    await person.open(
      `/realms/${REALM}/oauth2/logout?${new URLSearchParams({ id_token_hint: String(body.id_token) })}`,
    );
    expect((await ask('userinfo', { headers: bearer(body.access_token) })).status).toBe(401);
    const offline = await freshTokens(server, { scope: 'openid offline_access' });
    offset += 3_601_000;
    expect((await ask('userinfo', { headers: bearer(offline.body.access_token) })).status).toBe(401);
  });
});

describe('RFC 7662: introspection', () => {
  const robot = { authorization: basic('robot') };
  const INACTIVE = [200, '{"active":false}'];
  const introspect = async (
    token: unknown,
    headers: Record<string, string> = robot,
    more: Record<string, string> = {},
  ) => {
    const { status, text } = await post(server, REALM, 'introspect', { token: String(token), ...more }, headers);
    return [status, text];
  };

  test('says of an active token what it says itself, whatever the hint', async () => {
    const { body } = await freshTokens(server, { scope: 'openid email' });
    for (const token_type_hint of ['access_token', 'refresh_token', 'something']) {
      const [status, text] = await introspect(body.access_token, robot, { token_type_hint });
      const { iss, sub, aud, exp, iat, jti, client_id, scope } = claimsIn(body.access_token);
      expect(status).toBe(200);
      expect(JSON.parse(String(text))).toMatchObject({
        ...{ active: true, token_type: 'Bearer', username: 'alice' },
        ...{ iss, sub, aud, exp, iat, jti, client_id, scope },
      });
    }
  });

  test('of all else it says the same nothing', async () => {
    const { body } = await freshTokens(server);
    const used = await freshTokens(server);
    await exchange(server, { code: used.code });
    const [header, payload] = String(body.access_token).split('.');
    const nothings = ['x', 'a.b.c', 'svc_rt_x', 'svc_ac_x', body.id_token, body.refresh_token, used.body.access_token];
    for (const token of [...nothings, `${header}.${payload}.`, 'ü', 'x'.repeat(10_000)])
      expect(await introspect(token)).toEqual(INACTIVE);
    expect(await introspect(body.access_token, { authorization: basic('rp2') })).toEqual(INACTIVE);
    offset += 3_601_000;
    expect(await introspect(body.access_token)).toEqual(INACTIVE);
  });

  test('is for clients that prove who they are, by POST', async () => {
    expect((await introspect('x', {}))[0]).toBe(401);
    expect((await post(server, REALM, 'introspect', { token: 'x', client_id: 'spa' })).status).toBe(401);
    expect((await ask('introspect', { query: '?token=x', headers: robot })).status).toBe(405);
  });
});

describe('RFC 7009: revocation', () => {
  test('is 200 for whatever there is to revoke or not, whatever the hint; and 400 without a token', async () => {
    const auth = { authorization: basic('rp') };
    const { body } = await freshTokens(server);
    for (const token of [
      'x',
      'a.b.c',
      body.id_token,
      body.access_token,
      body.access_token,
      body.refresh_token,
      body.refresh_token,
    ])
      for (const token_type_hint of ['refresh_token', 'something']) {
        const answer = await post(server, REALM, 'revoke', { token: String(token), token_type_hint }, auth);
        expect([answer.status, answer.text]).toEqual([200, '']);
      }
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) };
    expect((await post(server, REALM, 'token', refresh, auth)).body.error).toBe('invalid_grant');
    expect((await post(server, REALM, 'revoke', {}, auth)).body.error).toBe('invalid_request');
    expect((await post(server, REALM, 'revoke', { token: 'x' })).body.error).toBe('invalid_client');
  });
});

describe('nobody finds out which clients there are', () => {
  const secret = SECRET.toLowerCase();
  const wrong: [string, Record<string, string>, Record<string, string>][] = [
    ['a wrong secret', {}, { authorization: basic('rp', secret) }],
    ['an unknown client', {}, { authorization: basic('nobody', secret) }],
    ['a public client with a secret', {}, { authorization: basic('spa', secret) }],
    ['a client of another method', {}, { authorization: basic('keyed', secret) }],
    ['a disabled client with its secret', {}, { authorization: basic('off') }],
    ['a confidential client without a proof', { client_id: 'rp' }, {}],
    ['an unknown public client', { client_id: 'nobody' }, {}],
    ['a wrong secret in the body', { client_id: 'rp', client_secret: secret }, {}],
    ['nobody in particular', {}, {}],
    ['a header that is none', {}, { authorization: 'Basic !' }],
  ];
  test.each(['token', 'introspect', 'revoke'])('by %s: every refusal is the same, to the header', async (endpoint) => {
    const answers = new Set<string>();
    for (const [, more, headers] of wrong) {
      const answer = await post(
        server,
        REALM,
        endpoint,
        { grant_type: 'client_credentials', token: 'x', ...more },
        headers,
      );
      const { date: _, ...shown } = Object.fromEntries(answer.headers);
      answers.add(JSON.stringify([answer.status, shown, answer.text]));
    }
    expect([...answers]).toHaveLength(1);
    expect([...answers][0]).toContain('invalid_client');
    expect([...answers][0]).toContain('Basic realm=');
  });

  test('RFC 6749 §5.2: descriptions are plain ASCII without quotes', async () => {
    const asked = [
      {},
      { grant_type: 'x' },
      { grant_type: 'authorization_code' },
      { grant_type: 'refresh_token', refresh_token: 'x' },
    ];
    for (const one of asked) {
      const { body } = await post(server, REALM, 'token', one, { authorization: basic('rp') });
      expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
  });
});

describe('discovery', () => {
  async function read() {
    const { body } = await ask('../.well-known/openid-configuration', {});
    return {
      all: body,
      addresses: Object.entries(body).flatMap(([key, value]) =>
        /(_endpoint|_uri)$/.test(key) ? [[key, String(value)] as const] : [],
      ),
      /** The values of one of its lists. */
      of: (key: string) => [body[`${key}_supported`]].flat().map(String),
    };
  }

  test('oidcc-discovery-endpoint-verification, oidcc-rp-initiated-logout-discovery-endpoint-verification: has what the standards want, all of it under its issuer', async () => {
    const { all, addresses, of } = await read();
    expect(all.issuer).toBe(`${server.baseUrl}/realms/${REALM}`);
    for (const [key, value] of addresses) expect([key, value.startsWith(`${all.issuer}/`)]).toEqual([key, true]);
    const address = expect.any(String);
    expect(all).toMatchObject({
      authorization_endpoint: address,
      token_endpoint: address,
      userinfo_endpoint: address,
      jwks_uri: address,
      registration_endpoint: address,
      end_session_endpoint: address,
      response_types_supported: ['code'],
      subject_types_supported: ['public', 'pairwise'],
      id_token_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      request_parameter_supported: true,
      request_uri_parameter_supported: true,
      require_request_uri_registration: true,
      claims_parameter_supported: true,
    });
    expect(of('scopes')).toContain('openid');
    const { body } = await freshTokens(server, { scope: 'openid profile email phone address', nonce: 'n' });
    expect(Object.keys(claimsIn(body.id_token)).filter((claim) => !of('claims').includes(claim))).toEqual([]);
  });

  test('every endpoint that it names is there, and knows its method', async () => {
    const { addresses } = await read();
    const gets = new Set(['authorization_endpoint', 'userinfo_endpoint', 'end_session_endpoint', 'jwks_uri']);
    for (const [key, url] of addresses) {
      const { status } = await fetch(url, { method: gets.has(key) ? 'GET' : 'POST', redirect: 'manual' });
      expect([key, [404, 405].includes(status) || status >= 500]).toEqual([key, false]);
    }
  });

  test('every grant that it names is known, and no other', async () => {
    const named = (await read()).of('grant_types');
    const others = ['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code'].concat(
      ['jwt-bearer', 'token-exchange', 'saml2-bearer'].map((name) => `urn:ietf:params:oauth:grant-type:${name}`),
      'urn:openid:params:grant-type:ciba',
    );
    for (const grant_type of [...named, ...others]) {
      const { body } = await post(server, REALM, 'token', { grant_type }, { authorization: basic('rp') });
      expect([grant_type, body.error !== 'unsupported_grant_type']).toEqual([grant_type, named.includes(grant_type)]);
    }
  });

  test('every way of client authentication that it names works, and no other is named', async () => {
    const { all, of } = await read();
    expect(of('token_endpoint_auth_methods')).toEqual([
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
      // by tokens of workloads: clients-without-secrets.test.ts
      'federated_jwt',
      'spiffe_jwt',
      'none',
    ]);
    const refresh = async (more: Record<string, string>, headers: Record<string, string> = {}) =>
      (await post(server, REALM, 'token', { grant_type: 'refresh_token', refresh_token: 'x', ...more }, headers)).body
        .error;
    expect(await refresh({}, { authorization: basic('rp') })).toBe('invalid_grant');
    expect(await refresh({ client_id: 'rp', client_secret: SECRET })).toBe('invalid_grant');
    expect(await refresh({ client_id: 'spa' })).toBe('invalid_grant');
    const keyOf: Record<string, keyof typeof keys> = { ES256: 'ES256', ES384: 'ES384', ES512: 'ES512' };
    const key = (alg: string) => keys[keyOf[alg] ?? (alg.startsWith('Ed') ? 'Ed25519' : 'RSA')].privateKey;
    const claims = { iss: 'keyed', sub: 'keyed', aud: String(all.issuer) };
    for (const alg of of('token_endpoint_auth_signing_alg_values')) {
      const jwt = new SignJWT(claims).setProtectedHeader({ alg }).setJti(alg);
      const exp = Math.floor((Date.now() + offset) / 1000) + 60;
      const answer = await post(server, REALM, 'token', {
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await jwt.setExpirationTime(exp).sign(key(alg)),
      });
      expect([alg, answer.status]).toEqual([alg, 200]);
    }
  });

  test('every scope that it names can be had, and every response mode and prompt', async () => {
    const { of } = await read();
    const scopes = of('scopes').filter((scope) => scope !== 'openid');
    const { person } = await signedIn(server);
    const errorOf = async (more: Record<string, string>) => {
      const { url } = await person.open(requestPath({ client_id: 'all', ...more }));
      return new URL(url).searchParams.get('error');
    };
    for (const scope of scopes) expect([scope, await errorOf({ scope: `openid ${scope}` })]).toEqual([scope, null]);
    for (const response_mode of of('response_modes')) expect(await errorOf({ response_mode })).toBeNull();
    for (const prompt of of('prompt_values')) expect(await errorOf({ prompt })).toBeNull();
    for (const acr_values of of('acr_values')) expect(await errorOf({ acr_values })).toBeNull();
  });

  test('what is not built is neither named nor there', async () => {
    const { all } = await read();
    const unnamed = ['check_session_iframe'].concat(
      ['require_signed_request_object', 'mtls_endpoint_aliases'],
      ['tls_client_certificate_bound_access_tokens'],
    );
    expect(unnamed.filter((key) => key in all)).toEqual([]);
    for (const endpoint of ['bc-authorize']) {
      const answer = await post(server, REALM, endpoint, { client_id: 'rp' }, { authorization: basic('rp') });
      expect([endpoint, answer.status]).toEqual([endpoint, 404]);
    }
  });
});

describe('CORS', () => {
  const allowed = async (endpoint: string, method: string, origin: string) => {
    const response = await fetch(endpoint, { method, headers: { origin, ...form }, redirect: 'manual' });
    await response.body?.cancel();
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    return response.headers.get('access-control-allow-origin');
  };
  test.each([
    ['token', 'POST', ORIGIN, null],
    ['userinfo', 'GET', ORIGIN, null],
    ['revoke', 'POST', ORIGIN, null],
    ['jwks', 'GET', '*', '*'],
    ['../.well-known/openid-configuration', 'GET', '*', '*'],
    ['introspect', 'POST', null, null],
    ['authorize', 'GET', null, null],
    ['logout', 'GET', null, null],
  ])('%s may be read by the origins that should, and never with cookies', async (endpoint, method, own, others) => {
    expect(await allowed(at(endpoint), method, ORIGIN)).toBe(own);
    expect(await allowed(at(endpoint), method, 'https://else.example')).toBe(others);
    expect(await allowed(at(endpoint), 'OPTIONS', 'https://else.example')).toBe(others);
  });

  test('a browser application gets its tokens across origins, and userinfo by them', async () => {
    const verifier = newVerifier();
    const { answer } = await signedIn(server, {
      client_id: 'spa',
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    });
    const code = { grant_type: 'authorization_code', code: answer.code ?? '', code_verifier: verifier };
    const tokens = await post(
      server,
      REALM,
      'token',
      { client_id: 'spa', redirect_uri: RP, ...code },
      { origin: ORIGIN },
    );
    expect([tokens.status, tokens.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN]);
    const preflight = await ask('userinfo', {
      method: 'OPTIONS',
      headers: {
        origin: ORIGIN,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, ORIGIN]);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(preflight.headers.get('vary')).toBe('Origin');
    const authorization = `Bearer ${tokens.body.access_token}`;
    for (const [token, status] of [
      [authorization, 200],
      ['Bearer x', 401],
    ] as const) {
      const claims = await ask('userinfo', { headers: { origin: ORIGIN, authorization: token } });
      expect([claims.status, claims.headers.get('access-control-allow-origin')]).toEqual([status, ORIGIN]);
      expect(claims.headers.get('access-control-expose-headers')).toBe('WWW-Authenticate, DPoP-Nonce');
    }
  });
});
