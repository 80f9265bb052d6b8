// DPoP (RFC 9449): openid-client's way, and what others try with proofs and with tokens whose key they don't have.
import { exportJWK, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import { createClientScope } from '../../../server/contract/client-scopes.ts';
import { sha256 } from '../../../server/crypto/tokens.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { type ProofParts as MadeBy, makeProofKey, type ProofKey } from '../../support/dpop.ts';
import { createPerson } from '../../support/person.ts';
import {
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const keys = new Map<string, ProofKey>();
beforeAll(async () => {
  for (const name of ['mine', 'other']) keys.set(name, await makeProofKey());
  server = await startTestServer();
  await makeProvider(server);
  const open = { tokenEndpointAuthMethod: 'none', requirePkce: true, secret: undefined } as const;
  await server.admin.call(createClientScope, { params: { realm: REALM }, body: { name: 'transactions' } });
  const optionalClientScopes = ['email', 'account', 'offline_access', 'transactions'];
  await makeRelyingParty(server, 'spa', { ...open, optionalClientScopes });
  await makeRelyingParty(server, 'strict', {
    dpopBoundAccessTokens: true,
    grantTypes: ['client_credentials', 'authorization_code'],
  });
});
afterAll(() => server?.stop());

const keyOf = (name: string) => keys.get(name)!;
const at = (path: string) => `${server.baseUrl}/realms/${REALM}/${path}`;
type Made = MadeBy & { key?: string };
const proof = ({ key = 'mine', ...made }: Made = {}) => keyOf(key).proof({ htu: at('oauth2/token'), ...made });
const ask = async (
  made: Made | string = {},
  clientId = 'rp',
  form: Record<string, string> = { grant_type: 'client_credentials' },
) =>
  post(server, REALM, 'token', form, {
    ...(clientId === 'spa' ? {} : { authorization: basic(clientId) }),
    dpop: typeof made === 'string' ? made : await proof(made),
  });
const machine = async (made: Made | string = {}) => {
  const answer = await ask(made, 'job');
  return [answer.status, answer.body.error ?? answer.body.token_type];
};

/** A code for the public client, and the form that redeems it. */
async function codeForm(more: Record<string, string> = {}): Promise<Record<string, string>> {
  const verifier = oidc.randomPKCECodeVerifier();
  const { code = '' } = await signInAt(
    createPerson(server.baseUrl),
    requestPath({
      client_id: 'spa',
      scope: 'openid email account offline_access transactions',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...more,
    }),
  );
  return { grant_type: 'authorization_code', client_id: 'spa', code, redirect_uri: RP, code_verifier: verifier };
}
const refreshForm = (token: unknown) => ({
  grant_type: 'refresh_token',
  client_id: 'spa',
  refresh_token: String(token),
});
const call = async (path: string, token: unknown, { scheme = 'DPoP', ...made }: Made & { scheme?: string } = {}) => {
  const ath = sha256(String(token)).toString('base64url');
  const dpop = await proof({ htm: 'GET', htu: at(path), ...made, claims: { ath, ...made.claims } });
  return (await fetch(at(path), { headers: { authorization: `${scheme} ${token}`, dpop } })).status;
};

test('openid-client signs somebody in by PAR, refreshes, and asks userinfo, with one key', async () => {
  const insecure = { execute: [oidc.allowInsecureRequests] };
  const config = await oidc.discovery(
    new URL(`${server.baseUrl}/realms/${REALM}`),
    'spa',
    undefined,
    oidc.None(),
    insecure,
  );
  expect(config.serverMetadata().dpop_signing_alg_values_supported).toEqual(
    expect.arrayContaining(['ES256', 'Ed25519']),
  );
  const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'));
  const verifier = oidc.randomPKCECodeVerifier();
  const asked = {
    redirect_uri: RP,
    scope: 'openid email',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  const url = await oidc.buildAuthorizationUrlWithPAR(config, asked, { DPoP });
  const person = createPerson(server.baseUrl);
  const landed = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
  const tokens = await oidc.authorizationCodeGrant(
    config,
    new URL(landed.url),
    { pkceCodeVerifier: verifier },
    {},
    { DPoP },
  );
  expect(tokens.token_type).toBe('dpop');
  const again = await oidc.refreshTokenGrant(config, String(tokens.refresh_token), {}, { DPoP });
  const claims = await oidc.fetchUserInfo(config, again.access_token, String(tokens.claims()?.sub), { DPoP });
  expect(claims.email).toBe('alice@example.com');
});

test('openid-client takes the nonce that a client with dpopBoundAccessTokens needs', async () => {
  const insecure = { execute: [oidc.allowInsecureRequests] };
  const config = await oidc.discovery(
    new URL(`${server.baseUrl}/realms/${REALM}`),
    'strict',
    undefined,
    oidc.ClientSecretBasic(SECRET),
    insecure,
  );
  const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('EdDSA'));
  expect((await oidc.clientCredentialsGrant(config, {}, { DPoP })).token_type).toBe('dpop');
  const first = await ask({}, 'strict');
  expect([first.status, first.body.error]).toEqual([400, 'use_dpop_nonce']);
  const nonce = first.headers.get('dpop-nonce');
  expect((await ask({ claims: { nonce } }, 'strict')).body.token_type).toBe('DPoP');
  expect((await ask({ claims: { nonce: `${nonce}x` } }, 'strict')).body.error).toBe('use_dpop_nonce');
  const bare = await post(
    server,
    REALM,
    'token',
    { grant_type: 'client_credentials' },
    { authorization: basic('strict') },
  );
  expect([bare.status, bare.body.error]).toEqual([400, 'invalid_dpop_proof']);
});

describe('a proof', () => {
  beforeAll(() => makeClient(server, REALM, { clientId: 'job', secret: SECRET, grantTypes: ['client_credentials'] }));

  test('binds the token, which says so, and introspection too', async () => {
    const { body } = await ask({}, 'job');
    const cnf = { jkt: keyOf('mine').jkt };
    expect([body.token_type, claimsIn(body.access_token).cnf]).toEqual(['DPoP', cnf]);
    const shown = await post(
      server,
      REALM,
      'introspect',
      { token: String(body.access_token) },
      { authorization: basic('job') },
    );
    expect(shown.body).toMatchObject({ active: true, token_type: 'DPoP', cnf });
  });

  test('works once, at whichever replica', async () => {
    const one = await proof();
    const answers = await Promise.all([machine(one), machine(one), machine(one)]);
    expect(answers.toSorted()).toEqual([
      [200, 'DPoP'],
      [400, 'invalid_dpop_proof'],
      [400, 'invalid_dpop_proof'],
    ]);
    const { rowCount } = await server.pool.query('select from dpop_proof where realm_id = $1', [REALM]);
    expect(rowCount).toBeGreaterThan(0);
  });

  test.each<[string, () => Made]>([
    ['of another method', () => ({ htm: 'GET' })],
    ['of another address', () => ({ htu: at('oauth2/par') })],
    ['of the address with a slash more', () => ({ htu: at('oauth2/token/') })],
    ['of the address in other letters', () => ({ htu: at('oauth2/Token') })],
    ['of another realm', () => ({ htu: at('oauth2/token').replace(`/${REALM}/`, '/other/') })],
    ['of another port', () => ({ htu: at('oauth2/token').replace(/:\d+\//, ':1/') })],
    ['of the address by https', () => ({ htu: at('oauth2/token').replace('http:', 'https:') })],
    ['of the address below another', () => ({ htu: at('oauth2/par/../token/x') })],
    ['of another server', () => ({ htu: 'https://other.example/realms/op/oauth2/token' })],
    ['of what isn’t an address', () => ({ htu: '/realms/op/oauth2/token' })],
    ['of another type', () => ({ typ: 'JWT' })],
    ['from before', () => ({ claims: { iat: Math.floor(Date.now() / 1000) - 121 } })],
    ['from later', () => ({ claims: { iat: Math.floor(Date.now() / 1000) + 121 } })],
    ['without a jti', () => ({ claims: { jti: undefined } })],
    ['that names another key than signed it', () => ({ header: { jwk: keyOf('other').jwk } })],
    ['that names no key', () => ({ header: { jwk: undefined } })],
  ])('%s is refused', async (_, made) => {
    expect(await machine(made())).toEqual([400, 'invalid_dpop_proof']);
  });

  test('with a private key in it, a secret’s signature, or none at all is refused', async () => {
    const { privateKey, jwk } = keyOf('mine');
    const leaked = await proof({ header: { jwk: { ...(await exportJWK(privateKey)) } } });
    const secret = await new SignJWT({
      htm: 'POST',
      htu: at('oauth2/token'),
      jti: 'x',
      iat: Math.floor(Date.now() / 1000),
    })
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk })
      .sign(new TextEncoder().encode(SECRET));
    for (const bad of [leaked, secret, 'x', '']) expect(await machine(bad)).toEqual([400, 'invalid_dpop_proof']);
  });

  test.each([
    ['with a query, which doesn’t count', () => `${at('oauth2/token')}?x=1`],
    ['with a fragment, which doesn’t count', () => `${at('oauth2/token')}#x`],
    [
      'with scheme and host in capitals',
      () => at('oauth2/token').replace(server.baseUrl, server.baseUrl.toUpperCase()),
    ],
  ])('may name the address %s', async (_, htu) => {
    expect(await machine({ htu: htu() })).toEqual([200, 'DPoP']);
  });
});

describe('a bound token', () => {
  let tokens: Record<string, unknown> = {};
  beforeAll(async () => {
    tokens = (await ask({}, 'spa', await codeForm())).body;
  });

  test.each([['oauth2/userinfo'], ['account/gdpr/consents']])('opens %s with its key’s proof alone', async (path) => {
    const token = tokens.access_token;
    expect(await call(path, token)).toBe(200);
    expect(await call(path, token, { scheme: 'Bearer' })).toBe(401);
    expect(await call(path, token, { key: 'other' })).toBe(401);
    expect(await call(path, token, { htm: 'POST' })).toBe(401);
    expect(await call(path, token, { claims: { ath: 'x' } })).toBe(401);
    expect((await fetch(at(path), { headers: { authorization: `DPoP ${token}` } })).status).toBe(401);
  });

  test('lets an application ask for what is signed on a device with its key’s proof alone', async () => {
    const ask = async (scheme: string, made: Made = {}) => {
      const ath = sha256(String(tokens.access_token)).toString('base64url');
      const dpop = await proof({ htu: at('tx'), ...made, claims: { ath } });
      const headers = { authorization: `${scheme} ${tokens.access_token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ text: 'Pay 12.50 EUR' });
      return (await fetch(at('tx'), { method: 'POST', headers: { ...headers, dpop }, body })).status;
    };
    expect(await ask('Bearer')).toBe(401);
    expect(await ask('DPoP', { key: 'other' })).toBe(401);
    expect(await ask('DPoP')).toBe(201);
  });

  test('is none that can be bound afterwards, nor a bearer token one that a proof comes with', async () => {
    const bare = (await post(server, REALM, 'token', await codeForm())).body;
    expect(bare.token_type).toBe('Bearer');
    expect(await call('oauth2/userinfo', bare.access_token)).toBe(401);
    expect(await call('oauth2/userinfo', bare.access_token, { scheme: 'Bearer' })).toBe(200);
  });

  test('of a public client is refreshed with its key alone, and a thief’s try does it no harm', async () => {
    const form = refreshForm(tokens.refresh_token);
    expect((await ask({ key: 'other' }, 'spa', form)).body.error).toBe('invalid_grant');
    expect((await post(server, REALM, 'token', form)).body.error).toBe('invalid_grant');
    const next = await ask({}, 'spa', form);
    expect(next.body.token_type).toBe('DPoP');
    expect((await post(server, REALM, 'token', form)).body.error).toBe('invalid_grant');
    expect((await ask({}, 'spa', refreshForm(next.body.refresh_token))).status).toBe(200);
  });
});

test('a code whose request named a key is given for that key alone', async () => {
  const stolen = await codeForm({ dpop_jkt: keyOf('mine').jkt });
  expect((await post(server, REALM, 'token', stolen)).body.error).toBe('invalid_grant');
  expect((await ask({ key: 'other' }, 'spa', await codeForm({ dpop_jkt: keyOf('mine').jkt }))).body.error).toBe(
    'invalid_grant',
  );
  expect((await ask({}, 'spa', await codeForm({ dpop_jkt: keyOf('mine').jkt }))).status).toBe(200);
  const page = await createPerson(server.baseUrl).open(requestPath({ dpop_jkt: 'x' }));
  expect(responseParameters(page)?.error).toBe('invalid_request');
  const pushed = { response_type: 'code', redirect_uri: RP, client_id: 'rp', dpop_jkt: keyOf('other').jkt };
  const refused = await post(server, REALM, 'par', pushed, {
    authorization: basic('rp'),
    dpop: await proof({ htu: at('oauth2/par') }),
  });
  expect(refused.body.error).toBe('invalid_dpop_proof');
});

test('the admin API takes a bound token with its proof alone', async () => {
  await makeRealm(server, 'ops');
  const id = await makeClient(server, 'ops', {
    clientId: 'admin-job',
    secret: SECRET,
    grantTypes: ['client_credentials'],
  });
  await server.admin.call(putClientAdminRoles, {
    params: { realm: 'ops', id },
    body: { grants: [{ role: 'realm-viewer', realm: 'ops' }] },
  });
  const { body } = await post(
    server,
    'ops',
    'token',
    { grant_type: 'client_credentials', resource: `${server.baseUrl}/admin` },
    { authorization: basic('admin-job'), dpop: await proof({ htu: `${server.baseUrl}/realms/ops/oauth2/token` }) },
  );
  const url = `${server.baseUrl}/admin/realms/ops/settings`;
  const ath = sha256(String(body.access_token)).toString('base64url');
  const get = async (scheme: string, dpop?: string) =>
    (await fetch(url, { headers: { authorization: `${scheme} ${body.access_token}`, ...(dpop && { dpop }) } })).status;
  expect(await get('DPoP', await proof({ htm: 'GET', htu: url, claims: { ath } }))).toBe(200);
  expect(await get('Bearer')).toBe(401);
  expect(await get('DPoP', await proof({ key: 'other', htm: 'GET', htu: url, claims: { ath } }))).toBe(401);
});
