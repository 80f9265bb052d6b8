// JWT Secured Authorization Response Mode (JARM): the same answers as by query and form, signed, and encrypted for who wants it.
import { compactDecrypt, createLocalJWKSet, decodeProtectedHeader, generateKeyPair, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { PASSWORD } from '../../support/applications.ts';
import { type Keys, keySetOf, makeKeys } from '../../support/bank.ts';
import { SECRET } from '../../support/clients.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  RP_WITH_QUERY,
  requestPath,
  STATE,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let issuer: string;
let box: Keys;

beforeAll(async () => {
  server = await startTestServer();
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  box = await makeKeys('RSA-OAEP-256');
  await makeRelyingParty(server, 'sealed', {
    authorizationSignedResponseAlg: 'ES256',
    authorizationEncryptedResponseAlg: 'RSA-OAEP-256',
    authorizationEncryptedResponseEnc: 'A256GCM',
    jwks: { keys: [{ ...box.jwk, use: 'enc' }] },
  });
});
afterAll(async () => server?.stop());

async function landed(more: Record<string, string>): Promise<ShownPage> {
  const person = createPerson(server.baseUrl);
  const page = await person.open(requestPath(more));
  return page.heading === 'Sign in' ? person.fill(page, { username: 'alice', password: PASSWORD }) : page;
}
const read = async (response: string, audience = 'rp') => {
  const jwks = createLocalJWKSet(await keySetOf(issuer));
  return (await jwtVerify(response, jwks, { issuer, audience, requiredClaims: ['exp'] })).payload;
};
/** The parameters of the answer by each mode. */
const answers: Record<string, (page: ShownPage) => Record<string, string>> = {
  jwt: ({ url }) => Object.fromEntries(new URL(url).searchParams),
  'query.jwt': ({ url }) => Object.fromEntries(new URL(url).searchParams),
  'fragment.jwt': ({ url }) => Object.fromEntries(new URLSearchParams(new URL(url).hash.slice(1))),
  'form_post.jwt': ({ fields }) => fields,
};

describe.each(Object.keys(answers))('response_mode %s', (mode) => {
  const parametersOf = (page: ShownPage) => answers[mode]?.(page) ?? expect.fail();

  test('holds code, state, iss, aud and a short life, and nothing stands beside the JWT', async () => {
    const { response = '', ...beside } = parametersOf(await landed({ response_mode: mode }));
    expect(beside).toEqual({});
    const claims = await read(response);
    expect(claims).toMatchObject({ code: expect.stringMatching(/^svc_ac_/), state: STATE });
    expect(Number(claims.exp) - Date.now() / 1000).toBeLessThan(600);
    expect(decodeProtectedHeader(response).alg).toBe('RS256');
    const { status } = await exchange(server, { code: String(claims.code) });
    expect(status).toBe(200);
  });

  test('carries errors in the same way', async () => {
    const { response = '', ...beside } = parametersOf(await landed({ response_mode: mode, prompt: 'none' }));
    expect(beside).toEqual({});
    expect(await read(response)).toMatchObject({ error: 'login_required', state: STATE });
    const refused = parametersOf(await landed({ response_mode: mode, response_type: 'token' }));
    expect(await read(refused.response ?? '')).toMatchObject({ error: 'unsupported_response_type' });
  });
});

test('a redirect URI keeps its own query', async () => {
  const { url } = await landed({ response_mode: 'jwt', redirect_uri: RP_WITH_QUERY });
  expect([...new URL(url).searchParams.keys()]).toEqual(['tenant', 'response']);
  const fragment = await landed({ response_mode: 'fragment.jwt', redirect_uri: RP_WITH_QUERY });
  expect(new URL(fragment.url).search).toBe('?tenant=1');
});

test('openid-client reads it', async () => {
  const insecure = { execute: [oidc.allowInsecureRequests, oidc.useJwtResponseMode] };
  const config = await oidc.discovery(new URL(issuer), 'rp', undefined, oidc.ClientSecretBasic(SECRET), insecure);
  expect(config.serverMetadata()).toMatchObject({
    response_modes_supported: ['query', 'form_post', 'jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'],
    authorization_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    authorization_encryption_alg_values_supported: expect.arrayContaining(['RSA-OAEP-256', 'ECDH-ES']),
    authorization_encryption_enc_values_supported: expect.arrayContaining(['A128CBC-HS256', 'A256GCM']),
  });
  const url = oidc.buildAuthorizationUrl(config, { redirect_uri: RP, scope: 'openid', state: 'mine' });
  expect(url.searchParams.get('response_mode')).toBe('jwt');
  const person = createPerson(server.baseUrl);
  const page = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
  const tokens = await oidc.authorizationCodeGrant(config, new URL(page.url), { expectedState: 'mine' });
  expect(tokens.claims()?.aud).toBe('rp');
});

test('an application that registered a key gets it signed, then encrypted', async () => {
  const { url } = await landed({ client_id: 'sealed', response_mode: 'jwt' });
  const response = new URL(url).searchParams.get('response') ?? '';
  expect(decodeProtectedHeader(response)).toMatchObject({ alg: 'RSA-OAEP-256', enc: 'A256GCM', cty: 'JWT' });
  const { plaintext } = await compactDecrypt(response, box.privateKey);
  const signed = Buffer.from(plaintext).toString();
  expect(decodeProtectedHeader(signed).alg).toBe('ES256');
  expect(await read(signed, 'sealed')).toMatchObject({ code: expect.any(String) });
  // By the other modes it is as for any application.
  expect(new URL((await landed({ client_id: 'sealed' })).url).searchParams.get('code')).toMatch(/^svc_ac_/);
});

test('a response is no ID token: a hint is refused by it', async () => {
  const { url } = await landed({ response_mode: 'jwt' });
  const hint = new URL(url).searchParams.get('response') ?? '';
  const { url: answer } = await landed({ id_token_hint: hint });
  expect(new URL(answer).searchParams.get('error')).toBe('invalid_request');
});

test('an unknown mode is refused in plain, and a key that nothing is encrypted for as the client is saved', async () => {
  for (const mode of ['fragment', 'jwt.query', 'constructor', 'JWT'])
    expect(new URL((await landed({ response_mode: mode })).url).searchParams.get('error')).toBe('invalid_request');
  const signing = await generateKeyPair('ES256', { extractable: true });
  const { exportJWK } = await import('jose');
  const jwk = await exportJWK(signing.publicKey);
  const save = (more: object) =>
    server.admin.call(createClient, { params: { realm: REALM }, body: { clientId: 'new', secret: SECRET, ...more } });
  const fault = (path: string) => ({ problem: { errors: [expect.objectContaining({ path })] } });
  const alg = 'authorizationEncryptedResponseAlg';
  await expect(save({ [alg]: 'RSA-OAEP-256' })).rejects.toMatchObject(fault(alg));
  await expect(save({ [alg]: 'RSA-OAEP-256', jwks: { keys: [jwk] } })).rejects.toMatchObject(fault(alg));
  await expect(save({ [alg]: 'ECDH-ES', jwks: { keys: [{ ...jwk, use: 'sig' }] } })).rejects.toMatchObject(fault(alg));
  await expect(save({ authorizationEncryptedResponseEnc: 'A256GCM' })).rejects.toMatchObject(
    fault('authorizationEncryptedResponseEnc'),
  );
  await expect(save({ [alg]: 'RSA1_5', jwks: { keys: [box.jwk] } })).rejects.toThrow();
});
