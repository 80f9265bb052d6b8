// FAPI 2.0 Message Signing: requests, authorization responses and answers of introspection that are signed, and nothing else.
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { BANK, type Bank, createBank, type Keys, keySetOf, makeBankClient, makeKeys } from '../../support/bank.ts';
import { claimsIn, makeRealm } from '../../support/clients.ts';
import { makeProofKey, type ProofKey } from '../../support/dpop.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'bank';
const JWT = 'application/token-introspection+jwt';
let server: TestServer;
let bank: Bank;
let keys: Keys;
let rsa: Keys;
let key: ProofKey;
let now = new Date();

beforeAll(async () => {
  server = await startTestServer({ now: () => now });
  [keys, rsa, key] = await Promise.all([makeKeys('ES256'), makeKeys('RS256'), makeProofKey()]);
  await makeRealm(server, REALM);
  const params = { realm: REALM };
  await server.admin.call(createUser, { params, body: { username: 'alice', password: PASSWORD } });
  // The realm's profile and the client's: the stricter one counts.
  await server.admin.call(putSettings, { params, body: { profile: 'fapi2-security' } });
  await makeBankClient(server, REALM, { clientId: 'bank', keys: [keys, rsa], profile: 'fapi2-message-signing' });
  bank = createBank(server, { realm: REALM, clientId: 'bank', keys, now: () => now });
});
afterAll(async () => server?.stop());
beforeEach(() => {
  now = new Date();
});

const at = () => Math.floor(now.getTime() / 1000);
const request = {
  response_type: 'code',
  redirect_uri: BANK,
  scope: 'openid',
  response_mode: 'jwt',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};
const push = (object: string) => bank.post('par', { client_id: 'bank', request: object });

test('openid-client signs its request, and reads a signed response and a signed introspection', async () => {
  const config = await bank.configuration({
    id_token_signed_response_alg: 'PS256',
    authorization_signed_response_alg: 'PS256',
    introspection_signed_response_alg: 'PS256',
  });
  oidc.useJwtResponseMode(config);
  const dpop = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'));
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const signed = await oidc.buildAuthorizationUrlWithJAR(
    config,
    {
      redirect_uri: BANK,
      scope: 'openid',
      state: 'mine',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    },
    { key: keys.privateKey, kid: keys.kid },
  );
  const url = await oidc.buildAuthorizationUrlWithPAR(config, signed.searchParams, { DPoP: dpop });
  const person = createPerson(server.baseUrl);
  const landed = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
  expect([...new URL(landed.url).searchParams.keys()]).toEqual(['response']);
  const checks = { pkceCodeVerifier, expectedState: 'mine' };
  const tokens = await oidc.authorizationCodeGrant(config, new URL(landed.url), checks, undefined, { DPoP: dpop });
  expect(tokens.token_type).toBe('dpop');
  const found = await oidc.tokenIntrospection(config, tokens.access_token);
  expect(found).toMatchObject({ active: true, client_id: 'bank', sub: tokens.claims()?.sub });
});

describe('a request object', () => {
  const cases: [string, object, 'taken' | 'refused'][] = [
    ['with nbf, exp and the issuer as aud', {}, 'taken'],
    ['for the issuer among others', { aud: () => [bank.issuer, 'https://other.example'] }, 'taken'],
    ['whose nbf is nearly an hour ago', { nbf: () => at() - 3500, exp: () => at() + 60 }, 'taken'],
    ['whose nbf is ten seconds ahead', { nbf: () => at() + 10 }, 'taken'],
    ['without nbf', { nbf: undefined }, 'refused'],
    ['whose nbf is over an hour ago', { nbf: () => at() - 3660, exp: () => at() + 60 }, 'refused'],
    ['whose nbf is over a minute ahead', { nbf: () => at() + 70 }, 'refused'],
    ['that was issued over a minute ahead', { iat: () => at() + 70 }, 'refused'],
    ['without exp', { exp: undefined }, 'refused'],
    ['that lives over an hour', { nbf: () => at() - 600, exp: () => at() + 3100 }, 'refused'],
    ['for another server', { aud: 'https://other.example' }, 'refused'],
    ['for others alone', { aud: ['https://other.example', 'https://third.example'] }, 'refused'],
  ];
  test.each(cases)('%s is %3$s', async (_, claims, outcome) => {
    const said = Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [name, typeof value === 'function' ? value() : value]),
    );
    const { body } = await push(await bank.object(request, said));
    expect(body.error ?? 'taken').toBe(outcome === 'taken' ? 'taken' : 'invalid_request_object');
  });

  test('by RS256 is refused, and so is a request without one', async () => {
    expect((await push(await bank.object(request, {}, rsa))).body.error).toBe('invalid_request_object');
    expect((await bank.post('par', { client_id: 'bank', ...request })).body.error).toBe('invalid_request');
  });
});

describe('a response', () => {
  test.each(['query', 'form_post', '', 'fragment'])('by response_mode %j is refused', async (mode) => {
    const { body } = await push(await bank.object({ ...request, response_mode: mode || undefined }));
    expect(body).toMatchObject({ error: 'invalid_request', error_description: expect.stringContaining('jwt') });
  });

  test('of a request that was not pushed is a signed error, in whatever mode it asked for', async () => {
    const query = new URLSearchParams({ client_id: 'bank', ...request, response_mode: 'query', state: 'mine' });
    const { url } = await createPerson(server.baseUrl).open(`/realms/${REALM}/oauth2/authorize?${query}`);
    const landed = new URL(url);
    expect([...landed.searchParams.keys()]).toEqual(['response']);
    const response = landed.searchParams.get('response') ?? '';
    const jwks = createLocalJWKSet(await keySetOf(bank.issuer));
    const { payload } = await jwtVerify(response, jwks, { issuer: bank.issuer, audience: 'bank' });
    expect(payload).toMatchObject({ error: 'invalid_request', state: 'mine' });
    expect(decodeProtectedHeader(response).alg).toBe('PS256');
  });
});

test('introspection answers as a signed JWT alone', async () => {
  const token = String((await bank.post('token', { grant_type: 'client_credentials' }, { key })).body.access_token);
  const ask = (accept?: string) => bank.post('introspect', { token }, { headers: { ...(accept && { accept }) } });
  for (const accept of [undefined, 'application/json', '*/*', `${JWT};q=0, application/json`])
    expect((await ask(accept)).body.error).toBe('invalid_request');
  const { text, headers } = await ask(JWT);
  expect(headers.get('content-type')).toContain(JWT);
  expect(claimsIn(text)).toMatchObject({ aud: 'bank', token_introspection: { active: true, client_id: 'bank' } });
});
