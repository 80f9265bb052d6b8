// Requests that a client keeps at an address of its own (RFC 9101 §5.2, OpenID Connect Core §6.2): fetched, and then as if sent by value.
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { sha256 } from '../../../server/crypto/tokens.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, claimsIn, post } from '../../support/clients.ts';
import { createPerson, decode, type ShownPage } from '../../support/person.ts';
import { type Answer, type Receiver, startReceiver } from '../../support/receiver.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  responseParameters,
  STATE,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let host: Receiver;
let issuer: string;
let now = new Date();
const keys = await generateKeyPair('RS256', { extractable: true });

const asked = () => ({
  iss: 'signer',
  aud: issuer,
  client_id: 'signer',
  response_type: 'code',
  redirect_uri: RP,
  scope: 'openid',
  state: STATE,
  nonce: 'inside',
});
const sign = (claims: Record<string, unknown> = {}) =>
  new SignJWT({ ...asked(), ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(keys.privateKey);
const at = (path: string) => `${host.url}${path}`;
const has = (answer: Answer) => {
  host.answer = () => answer;
};
const pathOf = (request_uri: string, more: Record<string, string> = {}) =>
  `/realms/${REALM}/oauth2/authorize?${new URLSearchParams({ client_id: 'signer', request_uri, ...more })}`;
const open = (request_uri: string, more?: Record<string, string>) =>
  createPerson(server.baseUrl).open(pathOf(request_uri, more));

beforeAll(async () => {
  host = await startReceiver();
  server = await startTestServer({ now: () => now, env: { SVC_OUTBOUND_CA_FILE: host.caFile } });
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k' }] };
  await makeRelyingParty(server, 'signer', {
    jwks,
    requireSignedRequestObject: true,
    requestUris: [at('/request'), `${at('/digested')}#x`],
  });
  await makeRelyingParty(server, 'other', { jwks });
});
afterAll(async () => {
  await server?.stop();
  await host?.stop();
});
// What one address may make the server fetch is counted by the minute.
beforeEach(() => {
  now = new Date(now.getTime() + 61_000);
  host.received.length = 0;
});

test('what is there counts, and nothing beside it', async () => {
  has({ body: `${await sign()}\n`, headers: { 'content-type': 'application/oauth-authz-req+jwt' } });
  const person = createPerson(server.baseUrl);
  const page = await person.open(pathOf(at('/request'), { scope: 'openid email', nonce: 'outside', redirect_uri: RP }));
  expect(page.heading).toBe('Sign in');
  const answer = responseParameters(await person.fill(page, { username: 'alice', password: PASSWORD })) ?? {};
  expect(answer).toMatchObject({ state: STATE, iss: issuer });
  const { body } = await exchange(server, answer, {}, 'signer');
  expect([body.scope, claimsIn(body.id_token).nonce]).toEqual(['openid', 'inside']);
  expect(host.received.map(({ method, url, headers }) => [method, url, headers.cookie])).toEqual([
    ['GET', '/request', undefined],
  ]);
});

test('what is there later doesn’t change a sign-in that has begun', async () => {
  has({ body: await sign() });
  const person = createPerson(server.baseUrl);
  const page = await person.open(pathOf(at('/request')));
  has({ body: await sign({ nonce: 'changed', scope: 'openid email phone' }) });
  const answer = responseParameters(await person.fill(page, { username: 'alice', password: PASSWORD })) ?? {};
  const { body } = await exchange(server, answer, {}, 'signer');
  expect([body.scope, claimsIn(body.id_token).nonce]).toEqual(['openid', 'inside']);
  expect(host.received.length).toBe(1);
});

describe('a sign-in that is over', () => {
  const startAgain = ({ text }: ShownPage) => decode(/<a class="button full" href="([^"]*)"/.exec(text)?.[1] ?? '');

  test('is begun again by the address, with what is there by then', async () => {
    has({ body: await sign() });
    const old = await open(at('/request'));
    const later = createPerson(server.baseUrl);
    const expired = await later.post(`/realms/${REALM}/login`, old.fields);
    expect(expired.heading).toBe('This sign-in has expired');
    expect(new URL(startAgain(expired), server.baseUrl).searchParams.get('request_uri')).toBe(at('/request'));
    has({ body: await sign({ nonce: 'changed' }) });
    const page = await later.open(startAgain(expired));
    expect(page.heading).toBe('Sign in');
    const answer = responseParameters(await later.fill(page, { username: 'alice', password: PASSWORD })) ?? {};
    expect(claimsIn((await exchange(server, answer, {}, 'signer')).body.id_token).nonce).toBe('changed');
    // A form that comes once more, when what it was for is done.
    const again = responseParameters(await later.post(`/realms/${REALM}/login`, page.fields));
    expect(again).toMatchObject({ state: STATE, iss: issuer, code: expect.any(String) });
  });

  test('isn’t, where the application has taken its request away', async () => {
    has({ body: await sign() });
    const old = await open(at('/request'));
    const later = createPerson(server.baseUrl);
    const expired = await later.post(`/realms/${REALM}/login`, old.fields);
    has({ status: 404 });
    const page = await later.open(startAgain(expired));
    expect([page.status, page.text.includes('invalid_request_uri')]).toEqual([400, true]);
  });
});

test.each([
  ['the content’s hash', (object: string) => sha256(object).toString('base64url')],
  ['another text, as some applications send it', () => 'b3BlbmlkLWNvbm5lY3Q'],
  ['nothing', () => ''],
])('a fragment is a signal to caches alone: %s', async (_, fragmentOf) => {
  const object = await sign();
  has({ body: object });
  const page = await open(`${at('/digested')}#${fragmentOf(object)}`);
  expect(page.heading).toBe('Sign in');
  expect(host.received.map(({ url }) => url)).toEqual(['/digested']);
});

describe('is refused', () => {
  test.each<[string, Answer]>([
    ['what isn’t there', { status: 404 }],
    ['what is elsewhere by now', { status: 302, headers: { location: '/request?' } }],
    ['what is too long', { body: 'x'.repeat(17 * 1024) }],
  ])('on a page: %s', async (_, answer) => {
    has(answer);
    const page = await open(at('/request'), { redirect_uri: RP, state: STATE });
    expect([page.status, page.text.includes('invalid_request_uri'), responseParameters(page)]).toEqual([
      400,
      true,
      undefined,
    ]);
    expect(host.received.length).toBe(1);
  });

  test.each<[string, () => string | Promise<string>]>([
    ['what nobody signed', () => new UnsecuredJWT(asked()).encode()],
    ['what is no JWT', () => 'x.y.z'],
    ['another application’s', () => sign({ iss: 'other', client_id: 'other' })],
    ['one for another issuer', () => sign({ aud: 'https://other.example' })],
    ['one that has expired', () => sign({ exp: Math.floor(now.getTime() / 1000) - 61 })],
    ['a reference in it', () => sign({ request_uri: at('/request') })],
  ])('to the application: %s', async (_, object) => {
    has({ body: await object() });
    const page = await open(at('/request'), { redirect_uri: RP, state: STATE });
    expect(responseParameters(page)).toMatchObject({ error: 'invalid_request_object', state: STATE, iss: issuer });
  });

  test.each([
    ['an address that isn’t registered', (path: string) => at(`${path}/other`)],
    ['one with a query more', (path: string) => at(`${path}?x=1`)],
  ])('without being asked: %s', async (_, address) => {
    const page = await open(address('/request'), { redirect_uri: RP, state: STATE });
    expect(responseParameters(page)).toMatchObject({ error: 'request_uri_not_supported', state: STATE });
    expect(host.received).toEqual([]);
  });

  test('without being asked: another application’s address, and one beside a request', async () => {
    const others = await open(at('/request'), { client_id: 'other', redirect_uri: RP });
    expect(responseParameters(others)?.error).toBe('request_uri_not_supported');
    const both = await open(at('/request'), { request: await sign({ exp: Math.floor(now.getTime() / 1000) + 60 }) });
    expect(responseParameters(both)?.error).toBe('invalid_request_object');
    const pushed = { client_id: 'signer', request_uri: at('/request') };
    const answer = await post(server, REALM, 'par', pushed, { authorization: basic('signer') });
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
    expect(host.received).toEqual([]);
  });
});

test('one address makes the server fetch so many a minute', async () => {
  has({ status: 404 });
  const statuses = [];
  for (let i = 0; i < 121; i += 1) statuses.push((await open(at('/request'))).status);
  expect(statuses.slice(-2)).toEqual([400, 429]);
  expect(host.received.length).toBe(120);
});

test('an address must be https', async () => {
  const body = { clientId: 'plain', redirectUris: [RP], requestUris: ['http://rp.example/request'] };
  await expect(server.admin.call(createClient, { params: { realm: REALM }, body })).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'requestUris[0]' }] },
  });
});
