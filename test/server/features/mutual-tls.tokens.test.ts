// Tokens that are bound to a certificate (RFC 8705 §3, §4), by the server's own listener: userinfo, introspection, exchange, the account
// API, SCIM, the admin API, and clients that a security profile holds to mutual TLS.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { exportJWK } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { type Made, makeAuthority, makeCertificate, shows } from '../../support/certificates.ts';
import { type Answer, basic, claimsIn, makeClient, post, SECRET } from '../../support/clients.ts';
import { makeProofKey, type ProofKey } from '../../support/dpop.ts';
import { freePort } from '../../support/free-port.ts';
import { createPerson } from '../../support/person.ts';
import { makeProvider, makeRelyingParty, REALM, RP, requestPath, signInAt } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const BOUND = { tlsClientCertificateBoundAccessTokens: true } as const;
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS = 'urn:ietf:params:oauth:token-type:access_token';
let server: TestServer;
let folder: string;
let origin: string;
let mine: Made;
let other: Made;
let ca: Made;
let key: ProofKey;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'mutual-tls-'));
  const listener = await makeCertificate({ subject: 'CN=127.0.0.1' });
  const [certificateFile, keyFile] = [path.join(folder, 'tls.crt'), path.join(folder, 'tls.key')];
  await writeFile(certificateFile, listener.pem);
  await writeFile(keyFile, listener.key);
  const port = await freePort();
  server = await startTestServer({
    env: { SVC_MTLS_PORT: String(port), SVC_MTLS_CERT_FILE: certificateFile, SVC_MTLS_KEY_FILE: keyFile },
  });
  origin = `https://127.0.0.1:${port}`;
  ca = await makeAuthority();
  mine = await makeCertificate({ subject: 'CN=mine', by: ca });
  other = await makeCertificate({ subject: 'CN=other', by: ca });
  key = await makeProofKey();
  await makeProvider(server);
  await server.admin.call(putSettings, { params: { realm: REALM }, body: { tlsClientAuthAuthorities: ca.pem } });
  const scopes = { optionalClientScopes: ['email', 'account', 'offline_access'] };
  await makeRelyingParty(server, 'app', {
    ...BOUND,
    ...scopes,
    tokenEndpointAuthMethod: 'none',
    requirePkce: true,
    secret: undefined,
  });
  await makeRelyingParty(server, 'back', {
    ...BOUND,
    ...scopes,
    grantTypes: ['authorization_code', 'refresh_token', EXCHANGE],
  });
  await makeClient(server, REALM, {
    ...BOUND,
    clientId: 'admin-job',
    secret: SECRET,
    grantTypes: ['client_credentials'],
  });
});
afterAll(async () => {
  await server?.stop();
  if (folder) await rm(folder, { recursive: true });
});

const at = (endpoint: string) => `${origin}/realms/${REALM}/${endpoint}`;
const ask = (form: Record<string, string>, by?: Made, headers: Record<string, string> = {}): Promise<Answer> =>
  shows(at('oauth2/token'), { by, form, headers });
const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` });
const call = async (endpoint: string, token: unknown, by?: Made): Promise<number> =>
  (await shows(at(endpoint), { by, headers: bearer(token) })).status;

async function codeForm(clientId: string): Promise<Record<string, string>> {
  const verifier = oidc.randomPKCECodeVerifier();
  const { code = '' } = await signInAt(
    createPerson(server.baseUrl),
    requestPath({
      client_id: clientId,
      scope: 'openid email account',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  );
  return { grant_type: 'authorization_code', client_id: clientId, code, redirect_uri: RP, code_verifier: verifier };
}
const tokensOf = async (clientId: string): Promise<Answer['body']> => {
  const headers = clientId === 'app' ? {} : { authorization: basic(clientId) };
  const answer = await ask(await codeForm(clientId), mine, headers);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};

describe('A certificate-bound token', () => {
  test('names the certificate in cnf, and works at userinfo and the account API with that certificate alone', async () => {
    const { access_token: token, token_type: type } = await tokensOf('app');
    expect(type).toBe('Bearer');
    expect(claimsIn(token).cnf).toEqual({ 'x5t#S256': mine.thumbprint });
    for (const endpoint of ['oauth2/userinfo', 'account/profile']) {
      expect(await call(endpoint, token, mine), endpoint).toBe(200);
      expect(await call(endpoint, token, other), endpoint).toBe(401);
      expect(await call(endpoint, token), endpoint).toBe(401);
      const usual = await fetch(`${server.baseUrl}/realms/${REALM}/${endpoint}`, { headers: bearer(token) });
      expect(usual.status, endpoint).toBe(401);
    }
    const inBody = { form: { access_token: String(token) } };
    expect((await shows(at('oauth2/userinfo'), { by: mine, ...inBody })).status).toBe(200);
    expect((await shows(at('oauth2/userinfo'), { by: other, ...inBody })).status).toBe(401);
  });

  test('works at SCIM and the admin API with that certificate alone', async () => {
    const { access_token: token } = await tokensOf('app');
    expect(await call('scim/v2/Me', token, mine)).not.toBe(401);
    expect(await call('scim/v2/Me', token, other)).toBe(401);
    expect(await call('scim/v2/Me', token)).toBe(401);
  });

  test('is introspected with its cnf', async () => {
    const { access_token: token, refresh_token: refreshToken } = await tokensOf('app');
    const { body } = await post(server, REALM, 'introspect', { token: String(refreshToken), client_id: 'app' });
    expect(body.error).toBe('invalid_client');
    const { access_token: owned } = await tokensOf('back');
    const headers = { authorization: basic('back') };
    const shown = await post(server, REALM, 'introspect', { token: String(owned) }, headers);
    expect(shown.body).toMatchObject({ active: true, token_type: 'Bearer', cnf: { 'x5t#S256': mine.thumbprint } });
    expect(token).not.toBe(owned);
  });

  test('is not exchanged without its certificate, and the new one is bound too', async () => {
    const { access_token: token } = await tokensOf('back');
    const form = { grant_type: EXCHANGE, subject_token: String(token), subject_token_type: ACCESS };
    const headers = { authorization: basic('back') };
    const exchanged = await ask(form, mine, headers);
    expect(exchanged.status, exchanged.text).toBe(200);
    expect(claimsIn(exchanged.body.access_token).cnf).toEqual({ 'x5t#S256': mine.thumbprint });
    expect((await ask(form, other, headers)).body.error).toBe('invalid_request');
  });

  test('is exchanged for a bound one by a client that does not bind its own tokens', async () => {
    await makeRelyingParty(server, 'loose', { grantTypes: [EXCHANGE] });
    await makeRelyingParty(server, 'tight', {
      ...BOUND,
      optionalClientScopes: ['email', 'account'],
      mayActClient: 'loose',
    });
    const { access_token: token } = await tokensOf('tight');
    const form = { grant_type: EXCHANGE, subject_token: String(token), subject_token_type: ACCESS };
    const exchanged = await ask(form, mine, { authorization: basic('loose') });
    expect(exchanged.status, exchanged.text).toBe(200);
    expect(claimsIn(exchanged.body.access_token).cnf).toEqual({ 'x5t#S256': mine.thumbprint });
  });

  test('is bound to a key as well, if the client proves one, and then needs both', async () => {
    const form = { grant_type: 'client_credentials' };
    const headers = {
      authorization: basic('admin-job'),
      dpop: await key.proof({ htu: at('oauth2/token').replace('127.0.0.1', 'localhost') }),
    };
    const answer = await ask(form, mine, headers);
    expect(answer.body.token_type, answer.text).toBe('DPoP');
    expect(claimsIn(answer.body.access_token).cnf).toEqual({ jkt: key.jkt, 'x5t#S256': mine.thumbprint });
    expect(await call('oauth2/userinfo', answer.body.access_token, mine)).toBe(401);
  });
});

test('A client that binds its tokens gets none without a certificate', async () => {
  const headers = { authorization: basic('admin-job') };
  const form = { grant_type: 'client_credentials' };
  expect((await ask(form, undefined, headers)).body.error).toBe('invalid_request');
  expect((await post(server, REALM, 'token', form, headers)).body.error).toBe('invalid_request');
  expect((await ask(form, mine, headers)).status).toBe(200);
});

test('The refresh tokens of a public client are bound to its certificate, and those of a confidential one to the client', async () => {
  const open = await tokensOf('app');
  const form = { grant_type: 'refresh_token', client_id: 'app', refresh_token: String(open.refresh_token) };
  expect((await ask(form, other)).body.error).toBe('invalid_grant');
  expect((await ask(form)).body.error).toBe('invalid_request');
  const again = await ask(form, mine);
  expect([again.status, claimsIn(again.body.access_token).cnf]).toEqual([200, { 'x5t#S256': mine.thumbprint }]);
  const closed = await tokensOf('back');
  const renewed = await ask({ grant_type: 'refresh_token', refresh_token: String(closed.refresh_token) }, other, {
    authorization: basic('back'),
  });
  expect([renewed.status, claimsIn(renewed.body.access_token).cnf]).toEqual([200, { 'x5t#S256': other.thumbprint }]);
});

describe('A client under FAPI 2.0', () => {
  test('proves itself by a certificate, which binds its tokens in place of DPoP', async () => {
    await makeClient(server, REALM, {
      ...BOUND,
      clientId: 'fapi',
      profile: 'fapi2-security',
      tokenEndpointAuthMethod: 'tls_client_auth',
      tlsClientAuthSubjectDn: 'CN=mine',
      grantTypes: ['client_credentials'],
    });
    const answer = await ask({ grant_type: 'client_credentials', client_id: 'fapi' }, mine);
    expect(answer.status, answer.text).toBe(200);
    expect(claimsIn(answer.body.access_token).cnf).toEqual({ 'x5t#S256': mine.thumbprint });
  });

  test('has to prove a key by DPoP if its certificate does not bind its tokens', async () => {
    const jwk = { ...(await exportJWK(mine.keys.publicKey)), x5c: [mine.der.toString('base64')] };
    await makeClient(server, REALM, {
      clientId: 'fapi-dpop',
      profile: 'fapi2-security',
      tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
      jwks: { keys: [jwk] },
      grantTypes: ['client_credentials'],
    });
    const answer = await ask({ grant_type: 'client_credentials', client_id: 'fapi-dpop' }, mine);
    expect(answer.body.error).toBe('invalid_dpop_proof');
  });
});

test('A client registers itself for mutual TLS, but chooses no authority', async () => {
  await server.admin.call(putSettings, { params: { realm: REALM }, body: { clientRegistration: 'open' } });
  const answer = await fetch(`${server.baseUrl}/realms/${REALM}/connect/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: ['https://app.example/cb'],
      token_endpoint_auth_method: 'tls_client_auth',
      tls_client_auth_san_uri: 'spiffe://example.org/app',
      tls_client_certificate_bound_access_tokens: true,
      tls_client_auth_authorities: other.pem,
    }),
  });
  const body = await answer.json();
  expect([answer.status, body]).toEqual([
    201,
    expect.objectContaining({
      token_endpoint_auth_method: 'tls_client_auth',
      tls_client_auth_san_uri: 'spiffe://example.org/app',
      tls_client_certificate_bound_access_tokens: true,
    }),
  ]);
  expect(body).not.toHaveProperty('client_secret');
});

test('An administrator’s program uses the admin API by its certificate alone', async () => {
  const asMaster = `${origin}/realms/master`;
  const id = await makeClient(server, 'master', {
    ...BOUND,
    clientId: 'job',
    secret: SECRET,
    grantTypes: ['client_credentials'],
  });
  await server.admin.call(putClientAdminRoles, {
    params: { realm: 'master', id },
    body: { grants: [{ role: 'realm-viewer', realm: 'master' }] },
  });
  const form = { grant_type: 'client_credentials', resource: `${server.config.baseUrl}/admin` };
  const { body, text } = await shows(`${asMaster}/oauth2/token`, {
    by: mine,
    form,
    headers: { authorization: basic('job') },
  });
  expect(body.access_token, text).toBeDefined();
  const read = async (by?: Made) =>
    (await shows(`${origin}/admin/realms/master/settings`, { by, headers: bearer(body.access_token) })).status;
  expect([await read(mine), await read(other), await read()]).toEqual([200, 401, 401]);
});
