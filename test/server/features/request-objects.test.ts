// Request objects (RFC 9101): openid-client's way, by value and pushed, and what others make of them.
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PASSWORD } from '../../support/applications.ts';
import { basic, claimsIn, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  RP_WITH_QUERY,
  requestPath,
  responseParameters,
  STATE,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let issuer: string;
let now = new Date();
const keys = await generateKeyPair('ES256', { extractable: true });
const strangers = await generateKeyPair('ES256');
const rsa = await generateKeyPair('RS256', { extractable: true });

const at = () => Math.floor(now.getTime() / 1000);
const asked = () => ({
  iss: 'signer',
  aud: issuer,
  exp: at() + 300,
  client_id: 'signer',
  response_type: 'code',
  redirect_uri: RP,
  scope: 'openid email',
  state: STATE,
  nonce: 'inside',
});
const sign = (
  claims: Record<string, unknown> = {},
  {
    key = keys.privateKey,
    header = {},
  }: { key?: Parameters<SignJWT['sign']>[0]; header?: Record<string, string> } = {},
): Promise<string> =>
  new SignJWT({ ...asked(), ...claims }).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(key);
/** Of `signer`, with nothing beside the object but what an OAuth 2.0 request must have. */
const pathOf = (request: string, more: Record<string, string> = {}): string =>
  `/realms/${REALM}/oauth2/authorize?${new URLSearchParams({ client_id: 'signer', request, ...more })}`;
const open = async (request: string, more?: Record<string, string>) =>
  responseParameters(await createPerson(server.baseUrl).open(pathOf(request, more)));
const push = (form: Record<string, string>, clientId = 'signer') =>
  post(server, REALM, 'par', form, { authorization: basic(clientId) });

beforeAll(async () => {
  server = await startTestServer({ now: () => now });
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  const jwks = {
    keys: [
      { ...(await exportJWK(keys.publicKey)), kid: 'one' },
      { ...(await exportJWK(rsa.publicKey)), kid: 'two' },
    ],
  };
  await makeRelyingParty(server, 'signer', { jwks });
  await makeRelyingParty(server, 'strict', {
    jwks,
    requireSignedRequestObject: true,
    requestObjectSigningAlg: 'ES256',
  });
  await makeRelyingParty(server, 'prover', { jwks, tokenEndpointAuthMethod: 'private_key_jwt', secret: undefined });
});
afterAll(async () => server?.stop());
beforeEach(() => {
  now = new Date();
});

describe('openid-client', () => {
  const configOf = async (clientId: string) => {
    const insecure = { execute: [oidc.allowInsecureRequests] };
    return oidc.discovery(new URL(issuer), clientId, undefined, oidc.ClientSecretBasic(SECRET), insecure);
  };
  const signed = async (config: oidc.Configuration, verifier: string) =>
    oidc.buildAuthorizationUrlWithJAR(
      config,
      {
        redirect_uri: RP,
        response_type: 'code',
        scope: 'openid email',
        state: 'state',
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        claims: JSON.stringify({ id_token: { email: null } }),
      },
      { key: keys.privateKey, kid: 'one' },
    );
  const finish = async (config: oidc.Configuration, url: URL, verifier: string) => {
    const person = createPerson(server.baseUrl);
    const landed = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
    return oidc.authorizationCodeGrant(config, new URL(landed.url), {
      pkceCodeVerifier: verifier,
      expectedState: 'state',
    });
  };

  test('signs a request, and the code gives what the object asked for', async () => {
    const config = await configOf('strict');
    expect(config.serverMetadata()).toMatchObject({
      request_parameter_supported: true,
      request_uri_parameter_supported: true,
      require_request_uri_registration: true,
      request_object_signing_alg_values_supported: expect.arrayContaining(['ES256', 'PS256', 'RS256', 'EdDSA']),
    });
    const verifier = oidc.randomPKCECodeVerifier();
    const url = await signed(config, verifier);
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request']);
    const tokens = await finish(config, url, verifier);
    expect(tokens.claims()).toMatchObject({ aud: 'strict', email: 'alice@example.com' });
  });

  test('pushes a signed request', async () => {
    const config = await configOf('strict');
    const verifier = oidc.randomPKCECodeVerifier();
    const { searchParams } = await signed(config, verifier);
    const url = await oidc.buildAuthorizationUrlWithPAR(config, searchParams);
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    const tokens = await finish(config, url, verifier);
    expect(tokens.scope).toBe('openid email');
  });
});

describe('what stands beside the object', () => {
  test('counts for nothing, whether the object says it or not', async () => {
    const outside = {
      response_type: 'code',
      scope: 'openid email profile offline_access',
      nonce: 'outside',
      state: 'outside',
      redirect_uri: RP_WITH_QUERY,
      response_mode: 'form_post',
      claims: '{"id_token":{"given_name":null}}',
    };
    const { nonce: _, ...claims } = asked();
    const request = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(keys.privateKey);
    const answer = await signInAt(createPerson(server.baseUrl), pathOf(request, outside));
    expect(answer).toMatchObject({ state: STATE, code: expect.any(String) });
    expect(answer.tenant).toBeUndefined();
    const { body } = await exchange(server, answer, {}, 'signer');
    expect(body.scope).toBe('openid email');
    expect(body.refresh_token).toBeDefined();
    const idToken = claimsIn(body.id_token);
    expect(idToken.nonce).toBeUndefined();
    expect(idToken.given_name).toBeUndefined();
  });

  test('can’t add the PKCE challenge of somebody else', async () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const outside = { code_challenge: challenge, code_challenge_method: 'S256' };
    const answer = await signInAt(createPerson(server.baseUrl), pathOf(await sign(), outside));
    const used = await exchange(server, answer, { code_verifier: verifier }, 'signer');
    expect(used.body.error).toBe('invalid_grant');
  });

  test('is not pushed either', async () => {
    const pushed = await push({ request: await sign(), scope: 'openid profile', nonce: 'outside' });
    expect(pushed.status).toBe(201);
    const opening = new URLSearchParams({ client_id: 'signer', request_uri: String(pushed.body.request_uri) });
    const answer = await signInAt(createPerson(server.baseUrl), `/realms/${REALM}/oauth2/authorize?${opening}`);
    const { body } = await exchange(server, answer, {}, 'signer');
    expect(claimsIn(body.id_token)).toMatchObject({ nonce: 'inside' });
    expect(body.scope).toBe('openid email');
  });
});

describe('is refused, by both ways:', () => {
  const unsigned = async () => new UnsecuredJWT(asked()).encode();
  const bySecret = async (secret: string) => sign({}, { key: Buffer.from(secret), header: { alg: 'HS256' } });
  test.each<[string, () => Promise<string>]>([
    ['what nobody signed', unsigned],
    ['what somebody else signed', () => sign({}, { key: strangers.privateKey })],
    ['what is signed by the client’s secret', () => bySecret(SECRET)],
    [
      'what is signed by its public key as a secret',
      async () => bySecret(JSON.stringify(await exportJWK(keys.publicKey))),
    ],
    ['what is no JWT', async () => 'x.y.z'],
    ['what is encrypted', async () => 'eyJhbGciOiJSU0EtT0FFUCJ9.e.e.e.e'],
    ['another application’s', () => sign({ iss: 'rp', client_id: 'rp' })],
    ['one in which another application is meant', () => sign({ client_id: 'rp' })],
    ['one that another application says', () => sign({ iss: 'rp' })],
    ['one without client_id', () => sign({ client_id: undefined })],
    ['one for another issuer', () => sign({ aud: 'https://other.example' })],
    ['one that is for others too', () => sign({ aud: [issuer, 'https://other.example'] })],
    ['one for nobody', () => sign({ aud: undefined })],
    ['one without an end', () => sign({ exp: undefined })],
    ['one that has expired', () => sign({ exp: at() - 61 })],
    ['one that lives too long', () => sign({ exp: at() + 3_700 })],
    ['one of tomorrow', () => sign({ nbf: at() + 120 })],
    ['what would prove the client', () => sign({ sub: 'signer', jti: 'one' })],
    ['a DPoP proof', () => sign({}, { header: { typ: 'dpop+jwt' } })],
    ['an access token', () => sign({}, { header: { typ: 'at+jwt' } })],
    ['an object in an object', async () => sign({ request: await sign() })],
    ['a reference in an object', () => sign({ request_uri: 'https://rp.example/r' })],
    ['what is no parameter', () => sign({ prompt: true })],
    ['what is nested too deeply', () => sign({ extra: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) })],
  ])('%s', async (_, request) => {
    const jwt = await request();
    // Where to is said beside it, for those that don't say it themselves.
    expect(await open(jwt, { redirect_uri: RP, state: STATE })).toMatchObject({
      error: 'invalid_request_object',
      state: STATE,
      iss: issuer,
    });
    const pushed = await push({ request: jwt });
    expect([pushed.status, pushed.body.error]).toEqual([400, 'invalid_request_object']);
  });

  test('an address that isn’t the client’s, on a page', async () => {
    const page = await createPerson(server.baseUrl).open(pathOf(await sign({ redirect_uri: 'https://evil.example/' })));
    expect([page.status, responseParameters(page)]).toEqual([400, undefined]);
  });

  test('a request_uri by reference, and an object of a client without keys', async () => {
    const reference = { redirect_uri: RP, request_uri: 'https://rp.example/object' };
    const page = await createPerson(server.baseUrl).open(requestPath(reference));
    expect(responseParameters(page)?.error).toBe('request_uri_not_supported');
    const answer = await createPerson(server.baseUrl).open(requestPath({ request: await sign() }));
    expect(responseParameters(answer)?.error).toBe('request_not_supported');
  });
});

describe('a client that must sign its requests', () => {
  const plain = { response_type: 'code', redirect_uri: RP, scope: 'openid' };

  test('is told so where it doesn’t, pushed or not', async () => {
    const page = await createPerson(server.baseUrl).open(requestPath({ client_id: 'strict' }));
    expect(responseParameters(page)).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('9101'),
    });
    expect((await push(plain, 'strict')).body.error).toBe('invalid_request');
  });

  test('signs by the algorithm that it has registered', async () => {
    const mine = { iss: 'strict', client_id: 'strict' };
    const other = await sign(mine, { key: rsa.privateKey, header: { alg: 'RS256', kid: 'two' } });
    expect((await push({ request: other }, 'strict')).body.error).toBe('invalid_request_object');
    expect((await push({ request: await sign(mine) }, 'strict')).status).toBe(201);
  });

  test('gets nowhere without keys', async () => {
    await makeRelyingParty(server, 'keyless', { requireSignedRequestObject: true });
    const mine = await sign({ iss: 'keyless', client_id: 'keyless' });
    expect((await push({ request: mine }, 'keyless')).body.error).toBe('request_not_supported');
    expect((await push(plain, 'keyless')).body.error).toBe('invalid_request');
  });
});

test('an object may grow old while the person signs in, and begins nothing afterwards', async () => {
  const path = pathOf(await sign());
  const person = createPerson(server.baseUrl);
  const page = await person.open(path);
  now = new Date(now.getTime() + 600_000);
  const answer = responseParameters(await person.fill(page, { username: 'alice', password: PASSWORD }));
  expect(answer?.code).toBeDefined();
  expect(responseParameters(await createPerson(server.baseUrl).open(path))?.error).toBe('invalid_request_object');
});

test('an object proves no client at the token endpoint', async () => {
  const proof = (header: Record<string, string>) =>
    sign({ iss: 'prover', sub: 'prover', client_id: 'prover', jti: crypto.randomUUID() }, { header });
  const introspect = async (assertion: string) =>
    post(server, REALM, 'introspect', {
      token: 'x',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    });
  expect((await introspect(await proof({ typ: 'oauth-authz-req+jwt' }))).body.error).toBe('invalid_client');
  expect((await introspect(await proof({ typ: 'JWT' }))).body).toEqual({ active: false });
});
