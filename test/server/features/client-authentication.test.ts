// private_key_jwt (RFC 7523), revocation (RFC 7009) and introspection (RFC 7662) over HTTP.
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { CALLBACK, getCode, PASSWORD, redeem, refresh } from '../../support/applications.ts';
import { type Answer, basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const pairs = {
  ES256: generateKeyPair('ES256', { extractable: true }),
  PS256: generateKeyPair('PS256', { extractable: true }),
  RS384: generateKeyPair('RS384', { extractable: true }),
};
type Alg = keyof typeof pairs;
let jwksHost: Receiver;
let offset = 0;
beforeAll(async () => {
  jwksHost = await startReceiver();
  const env = { SVC_OUTBOUND_CA_FILE: jwksHost.caFile };
  server = await startTestServer({ env, now: () => new Date(Date.now() + offset) });
  for (const realm of ['acme', 'other']) {
    await makeRealm(server, realm);
    const keys = await Promise.all(
      Object.entries(pairs).map(async ([kid, pair]) => ({ ...(await exportJWK((await pair).publicKey)), kid })),
    );
    for (const clientId of ['signer', 'second']) {
      await makeClient(server, realm, {
        clientId,
        tokenEndpointAuthMethod: 'private_key_jwt',
        jwks: { keys },
        grantTypes: ['client_credentials'],
      });
    }
  }
  await makeClient(server, 'acme', { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
  await makeClient(server, 'acme', {
    clientId: 'api',
    secret: SECRET,
    grantTypes: ['client_credentials'],
    allowedResources: [`${server.baseUrl}/realms/acme`],
  });
  await server.admin.call(createUser, {
    params: { realm: 'acme' },
    body: { username: 'alice', password: PASSWORD },
  });
});
afterAll(async () => {
  await server?.stop();
  await jwksHost?.stop();
});

const seconds = () => Math.floor(Date.now() / 1000);
let count = 0;
async function assertion(claims: Record<string, unknown> = {}, alg: Alg = 'ES256'): Promise<string> {
  count += 1;
  const { privateKey } = await pairs[alg];
  const aud = `${server.baseUrl}/realms/acme`;
  const all = { iss: 'signer', sub: 'signer', aud, exp: seconds() + 60, jti: `j${count}`, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg, kid: alg }).sign(privateKey);
}
const send = (jwt: string, more: Record<string, string> = {}, realm = 'acme'): Promise<Answer> =>
  post(server, realm, 'token', {
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: jwt,
    ...more,
  });

describe('private_key_jwt', () => {
  test.each(Object.keys(pairs) as Alg[])('takes %s', async (alg) => {
    expect((await send(await assertion({}, alg))).status).toBe(200);
  });

  const audience = (clientAssertionAudience: 'issuer' | 'endpoints') =>
    server.admin.call(putSettings, { params: { realm: 'acme' }, body: { clientAssertionAudience } });

  test('takes the issuer as audience, and nothing beside it or in its place', async () => {
    const issuer = `${server.baseUrl}/realms/acme`;
    for (const aud of [issuer, [issuer]]) expect((await send(await assertion({ aud }))).status).toBe(200);
    for (const aud of [['https://x.example', issuer], [issuer, issuer], [], `${issuer}/`, `${issuer}/oauth2/token`])
      expect((await send(await assertion({ aud }))).status, String(aud)).toBe(401);
  });

  test('takes older clients’ audiences where the realm says so: a list, and the endpoint that is called', async () => {
    const issuer = `${server.baseUrl}/realms/acme`;
    await audience('endpoints');
    expect((await send(await assertion({ aud: issuer }))).status).toBe(200);
    expect((await send(await assertion({ aud: ['https://x.example', issuer] }))).status).toBe(200);
    expect((await send(await assertion({ aud: 'https://x.example' }))).status).toBe(401);
    const form = {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      token: 'x',
    };
    for (const endpoint of ['introspect', 'revoke']) {
      const jwt = await assertion({ aud: `${issuer}/oauth2/${endpoint}` });
      expect((await post(server, 'acme', endpoint, { ...form, client_assertion: jwt })).status).toBe(200);
    }
    await audience('issuer');
  });

  test('takes one client’s word for its audience before the realm’s', async () => {
    const issuer = `${server.baseUrl}/realms/acme`;
    const own = async (clientAssertionAudience: 'issuer' | 'endpoints' | null) => {
      const found = await server.admin.call(listClients, { params: { realm: 'acme' }, query: { q: 'signer' } });
      const id = found.body?.find(({ clientId }) => clientId === 'signer')?.id ?? '';
      await server.admin.call(putClient, { params: { realm: 'acme', id }, body: { clientAssertionAudience } });
    };
    const statuses = async () => {
      const auds = [issuer, `${issuer}/oauth2/token`, [`${issuer}/oauth2/token`, issuer], 'https://x.example'];
      const answers: number[] = [];
      for (const aud of auds) answers.push((await send(await assertion({ aud }))).status);
      return answers;
    };
    await own('endpoints');
    expect(await statuses()).toEqual([200, 200, 200, 401]);
    // of another realm, and of another client that says nothing
    expect((await send(await assertion({ aud: `${server.baseUrl}/realms/other/oauth2/token` }))).status).toBe(401);
    const second = { iss: 'second', sub: 'second', aud: `${issuer}/oauth2/token` };
    expect((await send(await assertion(second))).status).toBe(401);
    expect((await send(await assertion({ ...second, aud: issuer }))).status).toBe(200);
    await audience('endpoints');
    await own('issuer');
    expect(await statuses()).toEqual([200, 401, 401, 401]);
    await own(null);
    expect(await statuses()).toEqual([200, 200, 200, 401]);
    await audience('issuer');
    expect(await statuses()).toEqual([200, 401, 401, 401]);
  });

  const wrong: [string, Record<string, unknown>][] = [
    ['another issuer', { iss: 'second' }],
    ['another subject', { sub: 'second' }],
    ['an unknown client', { iss: 'nobody', sub: 'nobody' }],
    ['another audience', { aud: 'https://x.example' }],
    ['the other realm as audience', { aud: 'http://localhost/realms/other' }],
    ['no exp', { exp: undefined }],
    ['an exp that is past', { exp: 1 }],
    ['a life of a day', { exp: Math.floor(Date.now() / 1000) + 86_400 }],
    ['no jti', { jti: undefined }],
    ['a jti that is a number', { jti: 5 }],
    ['a jti that is an object', { jti: {} }],
    ['an nbf to come', { nbf: Math.floor(Date.now() / 1000) + 600 }],
  ];
  test.each(wrong)('refuses %s with the one invalid_client', async (_, claims) => {
    const { status, text } = await send(await assertion(claims));
    expect(text).toBe('{"error":"invalid_client","error_description":"The client could not be authenticated"}');
    expect(status).toBe(401);
  });

  test('refuses a second use, also by two at once, and use at another realm', async () => {
    const jwt = await assertion();
    const answers = await Promise.all([send(jwt), send(jwt), send(jwt)]);
    expect(answers.map((a) => a.status).sort()).toEqual([200, 401, 401]);
    expect((await send(jwt)).status).toBe(401);
    expect((await send(await assertion(), {}, 'other')).status).toBe(401);
  });

  test('refuses alg none, HMAC with a public key, another key, and a secret in its place', async () => {
    const [, payload] = (await assertion()).split('.');
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    expect((await send(`${encode({ alg: 'none' })}.${payload}.`)).status).toBe(401);
    const key = new TextEncoder().encode(JSON.stringify(await exportJWK((await pairs.ES256).publicKey)));
    const claims = {
      iss: 'signer',
      sub: 'signer',
      aud: `${server.baseUrl}/realms/acme`,
      exp: seconds() + 60,
      jti: 'h',
    };
    expect((await send(await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key))).status).toBe(401);
    const stranger = await generateKeyPair('ES256');
    const forged = new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'ES256' });
    expect((await send(await forged.sign(stranger.privateKey))).status).toBe(401);
    const secret = { grant_type: 'client_credentials' };
    expect((await post(server, 'acme', 'token', secret, { authorization: basic('signer') })).status).toBe(401);
    expect((await send('nonsense')).status).toBe(401);
    expect((await send(await assertion(), { client_assertion_type: 'x' })).status).toBe(401);
    expect((await send(await assertion(), { client_id: 'second' })).status).toBe(401);
  });
});

describe('revocation and introspection', () => {
  const api = { authorization: basic('api') };
  const introspect = (token: unknown, headers: Record<string, string> = api) =>
    post(server, 'acme', 'introspect', { token: String(token) }, headers);
  const revoke = (token: unknown, clientId = 'spa') =>
    post(server, 'acme', 'revoke', { token: String(token), client_id: clientId });
  const tokens = async () => (await redeem(server, 'acme', 'spa', await getCode(server, 'acme', 'spa'))).body;

  test('an access token that was revoked is inactive at once, its grant lives on', async () => {
    const body = await tokens();
    expect((await introspect(body.access_token)).body).toMatchObject({
      active: true,
      username: 'alice',
      client_id: 'spa',
    });
    expect((await revoke(body.access_token)).status).toBe(200);
    expect((await introspect(body.access_token)).text).toBe('{"active":false}');
    const userinfo = await fetch(`${server.baseUrl}/realms/acme/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(userinfo.status).toBe(401);
    expect(userinfo.headers.get('www-authenticate')).toContain('invalid_token');
    expect((await refresh(server, 'acme', 'spa', body.refresh_token)).status).toBe(200);
  });

  test('a refresh token that was revoked ends its access tokens, too', async () => {
    const body = await tokens();
    expect((await revoke(body.refresh_token)).status).toBe(200);
    expect((await introspect(body.access_token)).text).toBe('{"active":false}');
    expect((await refresh(server, 'acme', 'spa', body.refresh_token)).status).toBe(400);
  });

  test('what is unknown or another client’s is answered like what was revoked, and stays', async () => {
    const body = await tokens();
    await makeClient(server, 'acme', { clientId: 'rival', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
    for (const token of ['x', 'svc_rt_x', body.refresh_token, body.access_token]) {
      const answer = await revoke(token, 'rival');
      expect([answer.status, answer.text]).toEqual([200, '']);
    }
    expect((await introspect(body.access_token)).body.active).toBe(true);
    expect((await revoke('x', 'nobody')).status).toBe(401);
  });

  test('introspection is for confidential clients, and shows refresh tokens to their own alone', async () => {
    const body = await tokens();
    expect((await introspect(body.refresh_token)).text).toBe('{"active":false}');
    const anonymous = await post(server, 'acme', 'introspect', { token: 'x', client_id: 'spa' });
    expect(anonymous.body.error).toBe('invalid_client');
    expect((await introspect('x.y.z')).text).toBe('{"active":false}');
    const idToken = await introspect(body.id_token);
    expect(idToken.text).toBe('{"active":false}');
    expect((await post(server, 'acme', 'introspect', {}, api)).body.error).toBe('invalid_request');
  });
});

test('a flood of wrong secrets, where one is checked slowly, keeps nobody from signing in', async () => {
  await makeRealm(server, 'weak');
  const secret = 'sixteen-letters!';
  await makeClient(server, 'weak', { clientId: 'weak', secret, grantTypes: ['client_credentials'] });
  const ask = async (clientId: string, guess: string) =>
    (
      await post(
        server,
        'weak',
        'token',
        { grant_type: 'client_credentials' },
        { authorization: basic(clientId, guess) },
      )
    ).status;
  const burst = await Promise.all(Array.from({ length: 40 }, () => ask('weak', secret)));
  expect(new Set(burst)).toEqual(new Set([200]));
  const flood = Array.from({ length: 600 }, (_, i) => ask(i % 2 ? 'weak' : 'nobody', `guess-${i}-of-the-secret`));
  await flood[0];
  await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
  const told = new Set(await Promise.all(flood));
  expect([...told].sort()).toEqual([401, 429]);
});

// Last: the clock runs on.
test('keys at a jwksUri are fetched once, and again when the client has new ones, but not again and again', async () => {
  // Of kinds that nobody here knows, and for other purposes: they are in the way of none.
  const others = [
    { kty: 'AKP', alg: 'ML-DSA-44', pub: 'x' },
    { kty: 'OKP', crv: 'X25519', x: 'x' },
    { kty: 'oct' },
    null,
  ];
  const published = async (alg: Alg) => {
    const key = { ...(await exportJWK((await pairs[alg]).publicKey)), kid: alg };
    const body = JSON.stringify({ keys: [...others, key] });
    jwksHost.answer = () => ({ body });
  };
  await published('ES256');
  await makeClient(server, 'acme', {
    clientId: 'remote',
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwksUri: `${jwksHost.url}/jwks`,
    grantTypes: ['client_credentials'],
  });
  const remote = (alg: Alg) => assertion({ iss: 'remote', sub: 'remote', exp: seconds() + offset / 1000 + 60 }, alg);
  expect((await send(await remote('ES256'))).status).toBe(200);
  expect((await send(await remote('ES256'))).status).toBe(200);
  expect(jwksHost.received).toHaveLength(1);
  // oidcc-refresh-token-rp-key-rotation: the client is known by its new key at once.
  await published('PS256');
  expect((await send(await remote('PS256'))).status).toBe(200);
  expect(jwksHost.received).toHaveLength(2);
  expect((await send(await remote('ES256'))).status).toBe(401);
  await published('ES256');
  expect((await send(await remote('ES256'))).status).toBe(401);
  expect(jwksHost.received).toHaveLength(2);
  offset += 31_000;
  expect((await send(await remote('ES256'))).status).toBe(200);
  expect(jwksHost.received).toHaveLength(3);
  await published('PS256');
  offset += 31_000;
  expect((await send(await remote('PS256'))).status).toBe(200);
  jwksHost.answer = () => ({ status: 500 });
  offset += 700_000;
  expect((await send(await remote('PS256'))).status).toBe(401);
});
