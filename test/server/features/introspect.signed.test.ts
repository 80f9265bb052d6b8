// Introspection as a signed JWT (RFC 9701), by its media type; encrypted for a resource server that registered a key.
import { compactDecrypt, createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Keys, keySetOf, makeKeys } from '../../support/bank.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'introspected';
const JWT = 'application/token-introspection+jwt';
let server: TestServer;
let issuer: string;
let box: Keys;

beforeAll(async () => {
  server = await startTestServer();
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeRealm(server, REALM);
  box = await makeKeys('ECDH-ES');
  const machine = { secret: SECRET, grantTypes: ['client_credentials' as const] };
  for (const clientId of ['app', 'stranger']) await makeClient(server, REALM, { clientId, ...machine });
  await makeClient(server, REALM, {
    clientId: 'sealed',
    ...machine,
    allowedResources: [issuer],
    introspectionSignedResponseAlg: 'ES256',
    introspectionEncryptedResponseAlg: 'ECDH-ES+A256KW',
    jwks: { keys: [box.jwk] },
  });
});
afterAll(async () => server?.stop());

const tokenOf = async (clientId: string): Promise<string> => {
  const form = { grant_type: 'client_credentials' };
  return String((await post(server, REALM, 'token', form, { authorization: basic(clientId) })).body.access_token);
};
const introspect = (token: string, clientId: string, accept?: string) =>
  post(server, REALM, 'introspect', { token }, { authorization: basic(clientId), ...(accept && { accept }) });
const verified = async (jwt: string, audience: string) => {
  const jwks = createLocalJWKSet(await keySetOf(issuer));
  return jwtVerify(jwt, jwks, { issuer, audience, typ: 'token-introspection+jwt' });
};

test('the JWT says what JSON says, below token_introspection, and has neither sub nor exp of its own', async () => {
  const token = await tokenOf('app');
  const json = await introspect(token, 'app');
  expect(json.headers.get('content-type')).toContain('application/json');
  const answer = await introspect(token, 'app', JWT);
  expect(answer.headers.get('content-type')?.split(';')[0]).toBe(JWT);
  expect(answer.headers.get('cache-control')).toBe(json.headers.get('cache-control'));
  const { payload, protectedHeader } = await verified(answer.text, 'app');
  expect(protectedHeader.alg).toBe('RS256');
  expect(Object.keys(payload).sort()).toEqual(['aud', 'iat', 'iss', 'token_introspection']);
  expect(payload.token_introspection).toEqual(json.body);
});

test('openid-client asks for it and checks it', async () => {
  const metadata = { introspection_signed_response_alg: 'RS256' };
  const insecure = { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] };
  const config = await oidc.discovery(new URL(issuer), 'app', metadata, oidc.ClientSecretBasic(SECRET), insecure);
  expect(config.serverMetadata()).toMatchObject({
    introspection_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    introspection_encryption_alg_values_supported: expect.arrayContaining(['ECDH-ES+A256KW']),
    introspection_encryption_enc_values_supported: expect.arrayContaining(['A128CBC-HS256']),
  });
  expect(await oidc.tokenIntrospection(config, await tokenOf('app'))).toMatchObject({ active: true, client_id: 'app' });
});

test('a resource server that registered a key gets it encrypted', async () => {
  const { text } = await introspect(await tokenOf('app'), 'sealed', JWT);
  expect(decodeProtectedHeader(text)).toMatchObject({ alg: 'ECDH-ES+A256KW', enc: 'A128CBC-HS256', cty: 'JWT' });
  const { plaintext } = await compactDecrypt(text, box.privateKey);
  const { payload, protectedHeader } = await verified(Buffer.from(plaintext).toString(), 'sealed');
  expect(protectedHeader.alg).toBe('ES256');
  expect(payload.token_introspection).toMatchObject({ active: true, client_id: 'app' });
});

test('nothing is said of a token that is not the asking client’s, or is no token', async () => {
  for (const token of [await tokenOf('app'), 'nothing']) {
    const { text } = await introspect(token, 'stranger', JWT);
    expect(claimsIn(text).token_introspection).toEqual({ active: false });
  }
  expect((await post(server, REALM, 'introspect', { token: 'x' }, { accept: JWT })).status).toBe(401);
});

test('the answer is no access token and no ID token', async () => {
  const { text } = await introspect(await tokenOf('app'), 'app', JWT);
  expect((await introspect(text, 'app')).body).toEqual({ active: false });
  const userinfo = await fetch(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${text}` } });
  expect(userinfo.status).toBe(401);
});

test.each([
  [JWT, true],
  [`application/json;q=0.5, ${JWT}`, true],
  [`${JWT};q=0.5, application/json;q=0.4`, true],
  [`${JWT}; q=0.2, application/json`, false],
  [`${JWT};q=0`, false],
  ['*/*', false],
  ['application/jwt', false],
  ['', false],
])('Accept: %s', async (accept, signed) => {
  const { headers } = await introspect(await tokenOf('app'), 'app', accept);
  expect(headers.get('content-type')?.startsWith(JWT)).toBe(signed);
  expect(headers.get('vary')?.toLowerCase()).toContain('accept');
});
