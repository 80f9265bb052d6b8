// Pushed authorization requests (RFC 9126): openid-client's way, and what others try with a request_uri.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { PASSWORD } from '../../support/applications.ts';
import { type Answer, basic, claimsIn, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  responseParameters,
  STATE,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let now = new Date();
const REQUEST = { response_type: 'code', redirect_uri: RP, scope: 'openid', state: STATE };
const push = (form: Record<string, string> = {}, clientId = 'rp'): Promise<Answer> =>
  post(server, REALM, 'par', { ...REQUEST, ...form }, { authorization: basic(clientId) });
const opening = (answer: Answer | string, clientId = 'rp', more: Record<string, string> = {}): string => {
  const uri = typeof answer === 'string' ? answer : String(answer.body.request_uri);
  return `/realms/${REALM}/oauth2/authorize?${new URLSearchParams({ client_id: clientId, request_uri: uri, ...more })}`;
};

beforeAll(async () => {
  server = await startTestServer({ now: () => now });
  await makeProvider(server);
  await makeRelyingParty(server, 'strict', { requirePushedAuthorizationRequests: true });
  await makeRelyingParty(server, 'asking', { consentRequired: true });
  await makeRelyingParty(server, 'open', { tokenEndpointAuthMethod: 'none', requirePkce: true, secret: undefined });
});
afterAll(async () => server?.stop());
beforeEach(() => {
  now = new Date();
});

test('openid-client pushes a request, a person signs in, and the code gives tokens', async () => {
  const issuer = new URL(`${server.baseUrl}/realms/${REALM}`);
  const insecure = { execute: [oidc.allowInsecureRequests] };
  const config = await oidc.discovery(issuer, 'strict', undefined, oidc.ClientSecretBasic(SECRET), insecure);
  expect(config.serverMetadata()).toMatchObject({
    pushed_authorization_request_endpoint: `${issuer.href}/oauth2/par`,
    require_pushed_authorization_requests: false,
  });
  const verifier = oidc.randomPKCECodeVerifier();
  const url = await oidc.buildAuthorizationUrlWithPAR(config, {
    redirect_uri: RP,
    scope: 'openid email',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: 'state',
  });
  expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
  const person = createPerson(server.baseUrl);
  const landed = await person.fill(await person.open(url.href), { username: 'alice', password: PASSWORD });
  const tokens = await oidc.authorizationCodeGrant(config, new URL(landed.url), {
    pkceCodeVerifier: verifier,
    expectedState: 'state',
  });
  expect(tokens.claims()?.aud).toBe('strict');
  expect(tokens.scope).toBe('openid email');
  const events = await server.admin.call(listEvents, {
    params: { realm: REALM },
    query: { type: 'AUTHORIZATION_REQUEST_PUSHED' },
  });
  expect(events.body?.[0]).toMatchObject({ clientId: 'strict', data: { scopes: ['email'] } });
});

describe('the endpoint', () => {
  test('answers 201 with a request_uri of 256 random bits that lives for a minute', async () => {
    const [one, other] = [await push(), await push()];
    expect(one.status).toBe(201);
    expect(one.headers.get('cache-control')).toBe('no-store');
    expect(one.body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/),
      expires_in: 60,
    });
    expect(other.body.request_uri).not.toBe(one.body.request_uri);
  });

  test.each<[string, Record<string, string>, number, string]>([
    ['a request_uri', { request_uri: 'https://rp.example/r' }, 400, 'invalid_request'],
    ['a request object', { request: 'x.y.z' }, 400, 'request_not_supported'],
    ['a foreign redirect_uri', { redirect_uri: 'https://evil.example/cb' }, 400, 'invalid_request'],
    ['another response_type', { response_type: 'token' }, 400, 'unsupported_response_type'],
    ['a scope of others', { scope: 'openid roles' }, 400, 'invalid_scope'],
    ['another client’s name', { client_id: 'rp2' }, 401, 'invalid_client'],
    ['a request that is too long', { login_hint: 'x'.repeat(20_000) }, 413, 'invalid_request'],
  ])('refuses %s', async (_, form, status, error) => {
    const answer = await push(form);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
  });

  test('asks for the client’s authentication, and limits guesses as the token endpoint does', async () => {
    const guess = (secret: string) => post(server, REALM, 'par', REQUEST, { authorization: basic('rp2', secret) });
    expect((await post(server, REALM, 'par', { ...REQUEST, client_id: 'rp2' })).status).toBe(401);
    const statuses: number[] = [];
    for (let n = 0; n < 11; n += 1) statuses.push((await guess(`wrong-secret-${n}`)).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
  });

  test('takes a public client with PKCE, and not without limit', async () => {
    const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
    const open = (more: Record<string, string>) =>
      post(server, REALM, 'par', { ...REQUEST, client_id: 'open', ...more });
    expect((await open({})).body.error).toBe('invalid_request');
    expect((await open(challenge)).status).toBe(201);
    const many = await Promise.all(Array.from({ length: 130 }, () => open({})));
    expect(many.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect((await push()).status).toBe(201);
  });
});

describe('a request_uri', () => {
  const isRefused = async (path: string) => {
    const page = await createPerson(server.baseUrl).open(path);
    expect(page.status).toBe(400);
    expect(page.text).toContain('invalid_request_uri');
    expect(responseParameters(page)).toBeUndefined();
  };

  test('opens once: opened again, by whomever, it is refused, and the first goes on to its code', async () => {
    const pushed = await push();
    const person = createPerson(server.baseUrl);
    const page = await person.open(opening(pushed));
    expect(page.heading).toBe('Sign in');
    await isRefused(opening(pushed));
    const answer = responseParameters(await person.fill(page, { username: 'alice', password: PASSWORD })) ?? {};
    expect((await exchange(server, answer)).status).toBe(200);
    await isRefused(opening(pushed));
    expect((await person.open(opening(pushed))).status).toBe(400);
  });

  test('of two browsers at once opens for one', async () => {
    const pushed = await push();
    const pages = await Promise.all([1, 2, 3].map(() => createPerson(server.baseUrl).open(opening(pushed))));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  test('of many at the same moment leads to its own code, and one among them that is another’s is refused', async () => {
    const person = createPerson(server.baseUrl);
    await signInAt(person, opening(await push()));
    const states = Array.from({ length: 12 }, (_, i) => `state-${i}`);
    const pushes = await Promise.all(states.map((state) => push({ state, nonce: `nonce of ${state}` })));
    const foreign = opening(await push(), 'rp2');
    const [wrong, ...pages] = await Promise.all([foreign, ...pushes.map((one) => opening(one))].map(person.open));
    expect(wrong?.status).toBe(400);
    const answers = pages.map((page) => responseParameters(page) ?? {});
    expect(answers.map(({ state }) => state)).toEqual(states);
    const tokens = await Promise.all(answers.map((answer) => exchange(server, answer)));
    const nonces = tokens.map(({ body }) => claimsIn(body.id_token).nonce);
    expect(nonces).toEqual(states.map((state) => `nonce of ${state}`));
    expect((await Promise.all(pushes.map((one) => person.open(opening(one))))).map(({ status }) => status)).toEqual(
      states.map(() => 400),
    );
  });

  test('of another client is refused, and stays good for its own', async () => {
    const pushed = await push();
    await isRefused(opening(pushed, 'rp2'));
    expect((await createPerson(server.baseUrl).open(opening(pushed))).heading).toBe('Sign in');
  });

  test('has expired after a minute', async () => {
    const pushed = await push();
    now = new Date(now.getTime() + 61_000);
    await isRefused(opening(pushed));
  });

  test('that was made up is refused, and tells no client', () =>
    isRefused(opening(`urn:ietf:params:oauth:request_uri:${'A'.repeat(43)}`)));

  test('counts alone: what the browser brings beside it is ignored', async () => {
    const mixed = { redirect_uri: `${RP}?tenant=1`, state: 'swapped', scope: 'openid email', prompt: 'none' };
    const answer = await signInAt(createPerson(server.baseUrl), opening(await push(), 'rp', mixed));
    expect(answer).toMatchObject({ state: STATE, code: expect.any(String) });
    expect(answer).not.toHaveProperty('tenant');
    expect((await exchange(server, answer)).body.scope).toBe('openid');
  });

  test('is kept over the consent page, which does not show the parameters to the browser', async () => {
    const person = createPerson(server.baseUrl);
    const form = { ...REQUEST, scope: 'openid email', login_hint: 'alice-of-sales' };
    const pushed = await post(server, REALM, 'par', form, { authorization: basic('asking') });
    const consent = await person.fill(await person.open(opening(pushed, 'asking')), {
      username: 'alice',
      password: PASSWORD,
    });
    expect(consent.heading).toBe('Allow access?');
    expect(consent.text).not.toContain('alice-of-sales');
    const allow = { ...consent.fields, decision: 'allow' };
    const answer = responseParameters(await person.post(`/realms/${REALM}/oauth2/consent`, allow)) ?? {};
    expect((await exchange(server, answer, {}, 'asking')).status).toBe(200);
    const again = await person.post(`/realms/${REALM}/oauth2/consent`, allow);
    expect([again.status, responseParameters(again)]).toEqual([400, undefined]);
  });
});

describe('where pushing is demanded', () => {
  const direct = (clientId: string) =>
    createPerson(server.baseUrl).open(
      `/realms/${REALM}/oauth2/authorize?${new URLSearchParams({ ...REQUEST, client_id: clientId })}`,
    );

  test('by the client, a request that was not pushed is sent back as invalid_request', async () => {
    expect(responseParameters(await direct('strict'))).toMatchObject({ error: 'invalid_request', state: STATE });
    expect((await direct('rp')).heading).toBe('Sign in');
  });

  test('by the realm, no client gets on without, and discovery says so', async () => {
    const demand = (requirePushedAuthorizationRequests: boolean) =>
      server.admin.call(putSettings, { params: { realm: REALM }, body: { requirePushedAuthorizationRequests } });
    await demand(true);
    expect(responseParameters(await direct('rp'))).toMatchObject({ error: 'invalid_request' });
    const discovery = await fetch(`${server.baseUrl}/realms/${REALM}/.well-known/openid-configuration`);
    expect(await discovery.json()).toMatchObject({ require_pushed_authorization_requests: true });
    expect(await signInAt(createPerson(server.baseUrl), opening(await push()))).toHaveProperty('code');
    await demand(false);
  });
});
