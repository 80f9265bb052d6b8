// What a relying party gets and may do with it, as the OpenID Foundation's suite checks it (modules by their names, oidcc-…):
// ID tokens, access tokens (RFC 9068), claims by scope, codes (RFC 6749, 7636), refresh (OIDC Core §12), resources (RFC 8707).
import { hash } from 'node:crypto';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { newVerifier } from '../../support/applications.ts';
import { basic, claimsIn, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import {
  exchange,
  freshTokens,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  RP_WITH_QUERY,
  requestPath,
  STANDARD_SCOPES,
  signedIn,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let offset = 0;
const issuer = () => `${server.baseUrl}/realms/${REALM}`;
const [ORDERS, STOCK] = ['https://orders.example', 'https://stock.example'];
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + offset) });
  await makeProvider(server);
  const resourceIndicators = [ORDERS, STOCK];
  await server.admin.call(putSettings, { params: { realm: REALM }, body: { resourceIndicators } });
});
afterAll(async () => server?.stop());

const refresh = (token: unknown, more: Record<string, string> = {}, clientId = 'rp') =>
  post(
    server,
    REALM,
    'token',
    { grant_type: 'refresh_token', refresh_token: String(token), ...more },
    { authorization: basic(clientId) },
  );
const userinfo = async (token: unknown) => {
  const response = await fetch(`${issuer()}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: JSON.parse(await response.text()) };
};
const atHash = (token: unknown) => hash('sha256', String(token), 'buffer').subarray(0, 16).toString('base64url');

describe('the ID token', () => {
  test('oidcc-server, oidcc-idtoken-signature: says who, by whom, for whom, when and how', async () => {
    const { body } = await freshTokens(server, { nonce: 'n-0S6_WzA2Mj' });
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'openid', expires_in: expect.any(Number) });
    const jwks = createRemoteJWKSet(new URL(`${issuer()}/oauth2/jwks`));
    const { payload, protectedHeader } = await jwtVerify(String(body.id_token), jwks, {
      issuer: issuer(),
      audience: 'rp',
    });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: issuer(),
      sub: expect.stringMatching(/^[\x21-\x7e]{1,255}$/),
      aud: 'rp',
      exp: expect.any(Number),
      iat: expect.any(Number),
      auth_time: expect.any(Number),
      nonce: 'n-0S6_WzA2Mj',
      at_hash: atHash(body.access_token),
      acr: '1',
      amr: ['pwd'],
      sid: expect.any(String),
    });
  });

  test('has no nonce where none was sent, and there is none where openid was not asked for', async () => {
    expect(claimsIn((await freshTokens(server)).body.id_token)).not.toHaveProperty('nonce');
    const plain = await freshTokens(server, { scope: 'profile' });
    expect(plain.body.scope).toBe('profile');
    expect(plain.body).not.toHaveProperty('id_token');
  });

  test('names the same person to every client, and one who is signed in by the time they signed in', async () => {
    const { person, body } = await freshTokens(server);
    const first = claimsIn(body.id_token);
    offset += 5_000;
    const again = await exchange(
      server,
      await signInAt(person, requestPath({ client_id: 'rp2', max_age: '10000' })),
      {},
      'rp2',
    );
    const { sub, auth_time, sid } = claimsIn(again.body.id_token);
    expect({ sub, auth_time, sid }).toEqual({ sub: first.sub, auth_time: first.auth_time, sid: first.sid });
  });

  test.each([
    ['oidcc-prompt-login', { prompt: 'login' }],
    ['oidcc-max-age-1', { max_age: '1' }],
    ['prompt=select_account', { prompt: 'select_account' }],
  ])('%s: tells of the new sign-in, by the same person', async (_, parameters) => {
    const { person, body } = await freshTokens(server);
    const before = claimsIn(body.id_token);
    offset += 5_000;
    const again = await exchange(server, await signInAt(person, requestPath(parameters)));
    const after = claimsIn(again.body.id_token);
    expect(after.sub).toBe(before.sub);
    expect(Number(after.auth_time) - Number(before.auth_time)).toBeGreaterThanOrEqual(5);
  });
});

test('RFC 9068: an access token says for whom, of whom and for what, and its type keeps it from being an ID token', async () => {
  const { body } = await freshTokens(server, { scope: 'openid email' });
  expect(decodeProtectedHeader(String(body.access_token))).toMatchObject({ alg: 'RS256', typ: 'at+jwt' });
  const claims = claimsIn(body.access_token);
  expect(claims).toMatchObject({
    iss: issuer(),
    aud: issuer(),
    client_id: 'rp',
    scope: 'openid email',
    jti: expect.any(String),
    auth_time: expect.any(Number),
    acr: '1',
    amr: ['pwd'],
  });
  expect(Number(claims.exp) - Number(claims.iat)).toBe(body.expires_in);
  expect(claims.sub).toBe(claimsIn(body.id_token).sub);
});

const name = { name: 'Alice Ames', given_name: 'Alice', family_name: 'Ames', preferred_username: 'alice' };
const profile = { ...name, nickname: 'Al', zoneinfo: 'Europe/Zurich', updated_at: expect.any(Number) };
const email = { email: 'alice@example.com', email_verified: true };
const phone = { phone_number: '+41 1', phone_number_verified: true };
const address = { address: { locality: 'Bern', country: 'CH' } };
test('OAuth 2.1 §1.4.1: a request without a scope gets the client’s defaults, and the answer says which', async () => {
  await makeRelyingParty(server, 'defaults', {
    defaultClientScopes: ['email', 'profile'],
    optionalClientScopes: ['phone'],
  });
  const { answer } = await signedIn(server, { client_id: 'defaults', scope: '' });
  const { body } = await exchange(server, answer, {}, 'defaults');
  expect(String(body.scope).split(' ').sort()).toEqual(['email', 'profile']);
  expect(claimsIn(body.access_token).scope).toBe(body.scope);
});

test('a scope that is not understood is in nothing that is given', async () => {
  const { body } = await freshTokens(server, { scope: 'openid email orders:read' });
  expect([body.scope, claimsIn(body.access_token).scope]).toEqual(['openid email', 'openid email']);
  expect((await refresh(body.refresh_token, { scope: 'orders:read' })).body.error).toBe('invalid_scope');
});

test.each([
  ['oidcc-userinfo-get, openid alone', 'openid', {}],
  ['oidcc-scope-profile', 'openid profile', profile],
  ['oidcc-scope-email', 'openid email', email],
  ['oidcc-scope-phone', 'openid phone', phone],
  ['oidcc-scope-address', 'openid address', address],
  ['oidcc-scope-all', `openid ${STANDARD_SCOPES.join(' ')}`, { ...profile, ...email, ...phone, ...address }],
])('%s: userinfo says what the scopes say, and nothing else', async (_, scope, claims) => {
  const { body } = await freshTokens(server, { scope });
  expect(String(body.scope).split(' ').sort()).toEqual(scope.split(' ').sort());
  expect(await userinfo(body.access_token)).toEqual({
    status: 200,
    body: { sub: claimsIn(body.id_token).sub, ...claims },
  });
});

test('a realm with an issuer of its own says so everywhere alike', async () => {
  const own = 'https://id.example/op';
  const params = { realm: REALM };
  await server.admin.call(putSettings, { params, body: { issuer: own } });
  const { answer } = await signedIn(server, { scope: 'openid email' });
  const { body } = await exchange(server, answer);
  const discovery = JSON.parse(await (await fetch(`${issuer()}/.well-known/openid-configuration`)).text());
  const [id, access] = [claimsIn(body.id_token), claimsIn(body.access_token)];
  expect([discovery.issuer, answer.iss, id.iss, access.iss, access.aud]).toEqual([own, own, own, own, own]);
  expect((await userinfo(body.access_token)).status).toBe(200);
  await server.admin.call(putSettings, { params, body: { issuer: null } });
  // What the issuer of before has signed is not the present one's.
  expect((await userinfo(body.access_token)).status).toBe(401);
});

describe('a code', () => {
  test('oidcc-codereuse: used twice ends the tokens of the first use, at userinfo and by refresh', async () => {
    const { code, body } = await freshTokens(server);
    expect((await userinfo(body.access_token)).status).toBe(200);
    expect((await exchange(server, { code })).body.error).toBe('invalid_grant');
    expect((await userinfo(body.access_token)).status).toBe(401);
    expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('oidcc-codereuse-30seconds, and after its life', async () => {
    for (const seconds of [30, 60]) {
      const { code, body } = await freshTokens(server);
      offset += seconds * 1000;
      expect((await exchange(server, { code })).body.error).toBe('invalid_grant');
      expect((await userinfo(body.access_token)).status).toBe(401);
    }
  });

  test.each([
    ['another client', {}, 'rp2'],
    ['another redirect_uri of the same client', { redirect_uri: RP_WITH_QUERY }, 'rp'],
    ['RFC 9700 §4.8.2: a verifier where no challenge was sent', { code_verifier: 'v'.repeat(43) }, 'rp'],
    ['a malformed verifier where no challenge was sent', { code_verifier: 'v' }, 'rp'],
  ])('is refused to %s, and gives nothing afterwards that it should not', async (_, more, clientId) => {
    const { answer } = await signedIn(server);
    const refused = await exchange(server, answer, more, clientId);
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant']);
    // Somebody else's try costs its owner nothing; one's own wrong try costs the code.
    expect((await exchange(server, answer)).status).toBe(clientId === 'rp' ? 400 : 200);
  });

  test('RFC 7636 §4.5: works with its verifier alone, the longest and the shortest', async () => {
    for (const verifier of [newVerifier(), 'v'.repeat(128), '-._~'.padEnd(43, 'A')]) {
      const challenge = {
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
      };
      const { answer } = await signedIn(server, challenge);
      expect((await exchange(server, answer, { code_verifier: verifier })).status).toBe(200);
      for (const wrong of [{}, { code_verifier: challenge.code_challenge }, { code_verifier: `${verifier}x` }]) {
        const { answer: other } = await signedIn(server, challenge);
        expect((await exchange(server, other, wrong)).body.error).toBe('invalid_grant');
      }
    }
  });

  test('oidcc-server-client-secret-post: works by a secret in the form', async () => {
    await makeRelyingParty(server, 'poster', { tokenEndpointAuthMethod: 'client_secret_post' });
    const asked = { client_id: 'poster' };
    const form = { grant_type: 'authorization_code', redirect_uri: RP, client_id: 'poster' };
    const exchanged = async (client_secret: string) => {
      const { answer } = await signedIn(server, asked);
      return post(server, REALM, 'token', { ...form, code: answer.code ?? '', client_secret });
    };
    expect((await exchanged('wrong')).body.error).toBe('invalid_client');
    const { status, body } = await exchanged(SECRET);
    expect([status, claimsIn(body.id_token).aud]).toEqual([200, 'poster']);
  });

  test('oidcc-alternate-happy-flow: works for a second client, without state and nonce', async () => {
    const { answer } = await signedIn(server, { client_id: 'rp2', state: '' });
    expect(Object.keys(answer).sort()).toEqual(['code', 'iss']);
    const { status, body } = await exchange(server, answer, {}, 'rp2');
    expect([status, claimsIn(body.id_token).aud]).toEqual([200, 'rp2']);
  });

  test('is got again by its redirect_uri with a query of its own', async () => {
    const { answer } = await signedIn(server, { redirect_uri: RP_WITH_QUERY });
    expect(answer.tenant).toBe('1');
    expect((await exchange(server, answer, { redirect_uri: RP_WITH_QUERY })).status).toBe(200);
  });

  test('RFC 6749 §2.3.1: nothing of a token request counts in its address', async () => {
    const { answer } = await signedIn(server);
    const form = { grant_type: 'authorization_code', code: answer.code ?? '', redirect_uri: RP };
    const inAddress = await post(
      server,
      REALM,
      `token?${new URLSearchParams(form)}`,
      {},
      { authorization: basic('rp') },
    );
    expect(inAddress.body.error).toBe('invalid_request');
    const charset = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
    const answered = await post(server, REALM, 'token', form, { authorization: basic('rp'), ...charset });
    expect(answered.status).toBe(200);
    expect(answered.headers.get('cache-control')).toBe('no-store');
    expect(answered.headers.get('pragma')).toBe('no-cache');
  });
});

describe('oidcc-refresh-token', () => {
  test('OIDC Core §12.2: the next ID token is by the same about the same, of the same sign-in', async () => {
    const { body } = await freshTokens(server, { scope: 'openid email', nonce: 'n' });
    offset += 2_000;
    const next = await refresh(body.refresh_token);
    expect(next.status).toBe(200);
    const [before, after] = [claimsIn(body.id_token), claimsIn(next.body.id_token)];
    const { iss, sub, aud, auth_time, acr, sid } = before;
    expect(after).toMatchObject({ iss, sub, aud, auth_time, acr, sid, at_hash: atHash(next.body.access_token) });
    expect(Number(after.iat)).toBeGreaterThan(Number(before.iat));
    expect(after).not.toHaveProperty('nonce');
    expect(next.body.scope).toBe(body.scope);
  });

  test('another client gets nothing for it, and costs its owner nothing', async () => {
    const { body } = await freshTokens(server);
    expect((await refresh(body.refresh_token, {}, 'rp2')).body.error).toBe('invalid_grant');
    expect((await refresh(body.refresh_token)).status).toBe(200);
  });

  test.each([
    ['narrower', 'openid', 200],
    ['the same', 'openid email', 200],
    ['wider', 'openid email phone', 400],
    ['unknown', 'openid root', 400],
  ])('RFC 6749 §6: for a scope that is %s', async (_, scope, status) => {
    const { body } = await freshTokens(server, { scope: 'openid email' });
    const answer = await refresh(body.refresh_token, { scope });
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body.scope).toBe(scope);
    else expect(answer.body.error).toBe('invalid_scope');
  });
});

describe('RFC 8707: resources', () => {
  const both = async () => {
    const { person } = await signedIn(server);
    const page = await person.open(`${requestPath()}&${new URLSearchParams({ resource: ORDERS })}&resource=${STOCK}`);
    return { code: new URL(page.url).searchParams.get('code') ?? '' };
  };
  const audience = (body: Record<string, unknown>) => [claimsIn(body.access_token).aud].flat();

  test('several are the audience together, with the issuer where openid wants userinfo', async () => {
    const { body } = await exchange(server, await both());
    expect(audience(body)).toEqual([ORDERS, STOCK, issuer()]);
    expect((await userinfo(body.access_token)).status).toBe(200);
  });

  test('a token request narrows them, and its refresh token keeps all', async () => {
    const { body } = await exchange(server, await both(), { resource: STOCK });
    expect(audience(body)).toEqual([STOCK, issuer()]);
    const next = await refresh(body.refresh_token, { resource: ORDERS });
    expect(audience(next.body)).toEqual([ORDERS, issuer()]);
    const all = await refresh(next.body.refresh_token);
    expect(audience(all.body)).toEqual([ORDERS, STOCK, issuer()]);
  });

  test.each(['https://else.example', `${ORDERS}/more`, `${ORDERS}#x`, 'orders', 'HTTPS://orders.example'])(
    '%s is an invalid_target at every endpoint',
    async (resource) => {
      const page = await createPerson(server.baseUrl).open(requestPath({ resource }));
      expect(new URL(page.url).searchParams.get('error')).toBe('invalid_target');
      const code = await both();
      expect((await exchange(server, code, { resource })).body.error).toBe('invalid_target');
      // What was refused has used nothing up.
      const { body } = await exchange(server, code);
      expect((await refresh(body.refresh_token, { resource })).body.error).toBe('invalid_target');
      expect((await refresh(body.refresh_token)).status).toBe(200);
    },
  );

  test('one that the realm or the client may have no more is in no token from then on, and a refusal costs nothing', async () => {
    const { body } = await exchange(server, await both());
    let token = body.refresh_token;
    const refreshed = async (more: Record<string, string> = {}) => {
      const answer = await refresh(token, more);
      token = answer.body.refresh_token ?? token;
      return answer.body.error ?? audience(answer.body);
    };
    const params = { realm: REALM };
    await server.admin.call(putSettings, { params, body: { resourceIndicators: [STOCK] } });
    expect(await refreshed()).toBe('invalid_target');
    expect(await refreshed({ resource: ORDERS })).toBe('invalid_target');
    expect(await refreshed({ resource: STOCK })).toEqual([STOCK, issuer()]);
    await server.admin.call(putSettings, { params, body: { resourceIndicators: [ORDERS, STOCK] } });
    expect(await refreshed()).toEqual([ORDERS, STOCK, issuer()]);
    const clients = (await server.admin.call(listClients, { params })).body ?? [];
    const ofClient = { realm: REALM, id: clients.find(({ clientId }) => clientId === 'rp')?.id ?? '' };
    await server.admin.call(putClient, { params: ofClient, body: { allowedResources: [ORDERS] } });
    expect(await refreshed()).toBe('invalid_target');
    expect(await refreshed({ resource: ORDERS })).toEqual([ORDERS, issuer()]);
    await server.admin.call(putClient, { params: ofClient, body: { allowedResources: [] } });
    expect(await refreshed()).toEqual([ORDERS, STOCK, issuer()]);
  });
});
