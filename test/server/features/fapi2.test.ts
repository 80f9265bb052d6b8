// FAPI 2.0 Security Profile: what the profile sets for a client, what it refuses, and what an administrator sees of it.
import { decodeProtectedHeader, generateKeyPair } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClientInput } from '../../../server/contract/clients.ts';
import { getClient, listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { BANK, type Bank, createBank, type Keys, keySetOf, makeBankClient, makeKeys } from '../../support/bank.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { makeProofKey, type ProofKey } from '../../support/dpop.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'bank';
let server: TestServer;
let bank: Bank;
let keys: Keys;
let rsa: Keys;
let key: ProofKey;
let now = new Date();
const params = { realm: REALM };

async function people(realm: string) {
  await server.admin.call(createUser, { params: { realm }, body: { username: 'alice', password: PASSWORD } });
}

beforeAll(async () => {
  server = await startTestServer({ now: () => now });
  [keys, rsa, key] = await Promise.all([makeKeys('ES256'), makeKeys('RS256'), makeProofKey()]);
  await makeRealm(server, REALM);
  await people(REALM);
  await makeBankClient(server, REALM, { clientId: 'bank', keys: [keys, rsa], profile: 'fapi2-security' });
  bank = createBank(server, { realm: REALM, clientId: 'bank', keys, now: () => now });
});
afterAll(async () => server?.stop());
beforeEach(() => {
  now = new Date();
});

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const request = {
  client_id: 'bank',
  response_type: 'code',
  redirect_uri: BANK,
  scope: 'openid',
  code_challenge: challenge,
  code_challenge_method: 'S256',
};
const { code_challenge: _, code_challenge_method: __, ...withoutPkce } = request;
async function codeBy(of: Bank, form: Record<string, string> = request): Promise<URL> {
  const pushed = await of.post('par', form);
  expect(pushed.body).toMatchObject({ request_uri: expect.any(String), expires_in: 60 });
  const query = new URLSearchParams({
    client_id: String(form.client_id),
    request_uri: String(pushed.body.request_uri),
  });
  const person = createPerson(server.baseUrl);
  const page = await person.open(`${new URL(of.issuer).pathname}/oauth2/authorize?${query}`);
  return new URL((await person.fill(page, { username: 'alice', password: PASSWORD })).url);
}
const redeem = (code: string | null, more: Parameters<Bank['post']>[2] = { key }) =>
  bank.post(
    'token',
    { grant_type: 'authorization_code', code: code ?? '', redirect_uri: BANK, code_verifier: verifier },
    more,
  );

test('openid-client signs a person in as the profile says', async () => {
  const config = await bank.configuration({ id_token_signed_response_alg: 'PS256' });
  const dpop = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'));
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const parameters = {
    redirect_uri: BANK,
    scope: 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  };
  const url = await oidc.buildAuthorizationUrlWithPAR(config, parameters, { DPoP: dpop });
  const person = createPerson(server.baseUrl);
  const landed = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
  expect(new URL(landed.url).searchParams.get('iss')).toBe(bank.issuer);
  const tokens = await oidc.authorizationCodeGrant(config, new URL(landed.url), { pkceCodeVerifier }, undefined, {
    DPoP: dpop,
  });
  expect(tokens.token_type).toBe('dpop');
  for (const token of [tokens.id_token, tokens.access_token])
    expect(decodeProtectedHeader(String(token)).alg).toBe('PS256');
  expect(claimsIn(tokens.access_token).cnf).toMatchObject({ jkt: expect.any(String) });
  const sub = tokens.claims()?.sub ?? '';
  expect((await oidc.fetchUserInfo(config, tokens.access_token, sub, { DPoP: dpop })).sub).toBe(sub);
  const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP: dpop });
  expect(refreshed.refresh_token).toBe(tokens.refresh_token);
  const again = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP: dpop });
  expect(claimsIn(again.access_token).cnf).toEqual(claimsIn(tokens.access_token).cnf);
});

describe('refused of a client under the profile:', () => {
  const machine = { grant_type: 'client_credentials' };
  const told = async (by: Parameters<Bank['post']>[2]) => (await bank.post('token', machine, by)).body.error;

  test('assertions by RS256, for an endpoint, for a list, or of a later time', async () => {
    expect((await bank.post('token', machine, { key })).body.token_type).toBe('DPoP');
    await server.admin.call(putSettings, { params, body: { clientAssertionAudience: 'endpoints' } });
    const later = Math.floor(now.getTime() / 1000) + 90;
    const refused = [
      bank.assertion({}, rsa),
      bank.assertion({ aud: `${bank.issuer}/oauth2/token` }),
      bank.assertion({ aud: [bank.issuer] }),
      bank.assertion({ aud: [bank.issuer, 'https://other.example'] }),
      bank.assertion({ nbf: later }),
      bank.assertion({ iat: later }),
    ];
    for (const one of refused) expect(await told({ key, assertion: await one })).toBe('invalid_client');
    const soon = Math.floor(now.getTime() / 1000) + 8;
    expect(await told({ key, assertion: await bank.assertion({ nbf: soon, iat: soon }) })).toBe('use_dpop_nonce');
    await server.admin.call(putSettings, { params, body: { clientAssertionAudience: 'issuer' } });
  });

  test('a token request that proves no key, or a key by RS256', async () => {
    expect(await told({})).toBe('invalid_dpop_proof');
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const { exportJWK, SignJWT } = await import('jose');
    const jwk = await exportJWK(publicKey);
    const claims = {
      htm: 'POST',
      htu: `${bank.issuer}/oauth2/token`,
      jti: crypto.randomUUID(),
      iat: Math.floor(now.getTime() / 1000),
    };
    const proof = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', typ: 'dpop+jwt', jwk }).sign(privateKey);
    const answer = await bank.post('token', machine, { headers: { dpop: await proof } });
    expect(answer.body.error).toBe('invalid_dpop_proof');
  });

  test('an authorization request that is not pushed, or has no PKCE', async () => {
    const direct = `/realms/${REALM}/oauth2/authorize?${new URLSearchParams(request)}`;
    const { url } = await createPerson(server.baseUrl).open(direct);
    expect(new URL(url).searchParams.get('error')).toBe('invalid_request');
    expect((await bank.post('par', withoutPkce)).body.error).toBe('invalid_request');
    const unproven = await post(server, REALM, 'par', request);
    expect(unproven.body.error).toBe('invalid_client');
  });

  test('a code that is over a minute old, or used before', async () => {
    const old = await codeBy(bank);
    now = new Date(now.getTime() + 61_000);
    expect((await redeem(old.searchParams.get('code'))).body.error).toBe('invalid_grant');
    const url = await codeBy(bank);
    expect((await redeem(url.searchParams.get('code'))).status).toBe(200);
    expect((await redeem(url.searchParams.get('code'))).body.error).toBe('invalid_grant');
  });

  test('a bound token without its key', async () => {
    const { body } = await redeem((await codeBy(bank)).searchParams.get('code'));
    const userinfo = await fetch(`${bank.issuer}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(userinfo.status).toBe(401);
  });
});

describe('a client’s own profile', () => {
  const contradictions: [string, Partial<ClientInput>, string][] = [
    ['a secret', { tokenEndpointAuthMethod: 'client_secret_basic' }, 'tokenEndpointAuthMethod'],
    ['a public client', { tokenEndpointAuthMethod: 'none' }, 'tokenEndpointAuthMethod'],
    ['assertions for an endpoint', { clientAssertionAudience: 'endpoints' }, 'clientAssertionAudience'],
    ['refresh tokens that rotate', { reuseRefreshTokens: false }, 'reuseRefreshTokens'],
    ['a redirect in the open', { redirectUris: ['http://bank.example/cb', BANK] }, 'redirectUris[0]'],
    ['ID tokens by RS256', { idTokenSignedResponseAlg: 'RS256' }, 'idTokenSignedResponseAlg'],
    ['assertions by RS512', { tokenEndpointAuthSigningAlg: 'RS512' }, 'tokenEndpointAuthSigningAlg'],
    ['requests by RS256', { requestObjectSigningAlg: 'RS256' }, 'requestObjectSigningAlg'],
  ];
  test.each(contradictions)('refuses %s as it is saved', async (_, fields, path) => {
    const made = makeBankClient(server, REALM, {
      clientId: 'other',
      keys: [keys],
      profile: 'fapi2-security',
      ...fields,
    });
    await expect(made).rejects.toMatchObject({
      problem: {
        errors: expect.arrayContaining([
          expect.objectContaining({ path, message: expect.stringContaining('fapi2-security') }),
        ]),
      },
    });
  });

  test('sets what it demands, whatever the client’s fields say, and they come back without it', async () => {
    const body = { clientId: 'loose', keys: [keys], requirePkce: false };
    const id = await makeBankClient(server, REALM, body);
    const at = { params: { realm: REALM, id } };
    const loose = createBank(server, { realm: REALM, clientId: 'loose', keys, now: () => now });
    const form = { ...withoutPkce, client_id: 'loose' };
    expect((await loose.post('par', form)).status).toBe(201);
    const { body: held } = await server.admin.call(putClient, { ...at, body: { profile: 'fapi2-security' } });
    expect(held).toMatchObject({ effectiveProfile: 'fapi2-security', profileLacks: [], requirePkce: false });
    expect((await loose.post('par', form)).body.error).toBe('invalid_request');
    await server.admin.call(putClient, { ...at, body: { profile: null } });
    expect((await loose.post('par', form)).status).toBe(201);
  });
});

describe('a realm’s profile', () => {
  const realm = 'strict';
  const at = { params: { realm } };
  let strict: Bank;
  beforeAll(async () => {
    await makeRealm(server, realm);
    await people(realm);
    await makeBankClient(server, realm, { clientId: 'fit', keys: [keys] });
    await makeClient(server, realm, { clientId: 'old', secret: SECRET, grantTypes: ['client_credentials'] });
    await makeBankClient(server, realm, { clientId: 'half', keys: [rsa], accessTokenSignedResponseAlg: 'RS256' });
    strict = createBank(server, { realm, clientId: 'fit', keys, now: () => now });
  });
  const old = () => post(server, realm, 'token', { grant_type: 'client_credentials' }, { authorization: basic('old') });

  test('is planned: what it changes, and which clients it refuses', async () => {
    const body = { realm: { profile: 'fapi2-security' as const } };
    const { body: plan } = await server.admin.call(importRealm, {
      ...at,
      query: { manager: 'test', dryRun: 'true' },
      body,
    });
    const messages = plan?.consequences.map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining('private_key_jwt'));
    expect(messages).toContainEqual(expect.stringContaining('DPoP'));
    expect(plan?.warnings).toContainEqual({
      kind: 'settings',
      key: 'profile',
      message: expect.stringMatching(/half: accessTokenSignedResponseAlg.*old: tokenEndpointAuthMethod/),
    });
    expect(plan?.warnings[0]?.message).not.toContain('fit');
    expect((await old()).status).toBe(200);
  });

  test('holds all clients to it, and says what each lacks', async () => {
    await server.admin.call(putSettings, { ...at, body: { profile: 'fapi2-security' } });
    expect((await keySetOf(strict.issuer)).keys.map(({ alg }) => alg).sort()).toEqual(['PS256', 'RS256']);
    const refused = await old();
    expect([refused.status, refused.body.error]).toEqual([400, 'unauthorized_client']);
    expect(refused.text).not.toContain('tokenEndpointAuthMethod');
    expect(
      (await post(server, realm, 'token', { grant_type: 'client_credentials' }, { authorization: basic('old', 'x') }))
        .body.error,
    ).toBe('invalid_client');
    const { body: clients } = await server.admin.call(listClients, { ...at, query: {} });
    const lacks = Object.fromEntries((clients ?? []).map(({ clientId, profileLacks }) => [clientId, profileLacks]));
    expect(lacks).toEqual({
      fit: [],
      half: [expect.stringContaining('accessTokenSignedResponseAlg must be one of PS256, ES256, EdDSA')],
      old: [expect.stringContaining('tokenEndpointAuthMethod must be one of private_key_jwt, tls_client_auth')],
    });
    const query = { type: 'TOKEN_REFUSED' };
    await expect
      .poll(async () => (await server.admin.call(listEvents, { ...at, query })).body?.map(({ clientId }) => clientId))
      .toContain('old');
    const token = await strict.post('token', { grant_type: 'client_credentials' }, { key });
    expect(decodeProtectedHeader(String(token.body.access_token)).alg).toBe('PS256');
    expect((await strict.post('token', { grant_type: 'client_credentials' })).body.error).toBe('invalid_dpop_proof');
  });

  test('a client that is corrected works at once', async () => {
    const { body: clients } = await server.admin.call(listClients, { ...at, query: { q: 'half' } });
    const id = clients?.[0]?.id ?? '';
    const body = { accessTokenSignedResponseAlg: null, jwks: { keys: [keys.jwk] } };
    await server.admin.call(putClient, { params: { realm, id }, body });
    const { body: half } = await server.admin.call(getClient, { params: { realm, id } });
    expect(half).toMatchObject({ profile: null, effectiveProfile: 'fapi2-security', profileLacks: [] });
    const corrected = createBank(server, { realm, clientId: 'half', keys, now: () => now });
    expect((await corrected.post('token', { grant_type: 'client_credentials' }, { key })).status).toBe(200);
  });

  test('discovery names only what the profile leaves', async () => {
    const document = await (await fetch(`${strict.issuer}/.well-known/openid-configuration`)).json();
    const algorithms = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];
    expect(document).toMatchObject({
      require_pushed_authorization_requests: true,
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      introspection_endpoint_auth_methods_supported: ['private_key_jwt'],
      dpop_signing_alg_values_supported: algorithms,
      request_object_signing_alg_values_supported: algorithms,
      id_token_signing_alg_values_supported: ['PS256', 'ES256', 'EdDSA'],
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
    });
    expect(document).not.toHaveProperty('require_signed_request_object');
  });

  test('a client that registers itself must meet it', async () => {
    await server.admin.call(putSettings, { ...at, body: { clientRegistration: 'open' } });
    const register = async (metadata: object) => {
      const response = await fetch(`${strict.issuer}/connect/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: [BANK], ...metadata }),
      });
      return response.json();
    };
    expect(await register({})).toMatchObject({ error: 'invalid_client_metadata' });
    const fit = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [keys.jwk] } };
    expect(await register({ ...fit, id_token_signed_response_alg: 'RS256' })).toMatchObject({
      error: 'invalid_client_metadata',
    });
    expect(await register({ ...fit, token_endpoint_auth_signing_alg: 'ES256' })).toMatchObject({
      client_id: expect.any(String),
      id_token_signed_response_alg: 'PS256',
      token_endpoint_auth_signing_alg: 'ES256',
    });
  });

  test('is not for master, whose administrators come by a public client', async () => {
    const put = server.admin.call(putSettings, { params: { realm: 'master' }, body: { profile: 'fapi2-security' } });
    await expect(put).rejects.toMatchObject({ problem: { errors: [{ path: 'profile' }] } });
    const { body } = await server.admin.call(getSettings, { params: { realm: 'master' } });
    expect(body?.profile).toBeNull();
  });
});
