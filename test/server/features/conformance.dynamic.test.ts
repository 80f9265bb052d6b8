// The Dynamic OP plan of the OpenID Foundation's suite, module by module (oidcc-…): clients that register themselves, and prove who
// they are by private_key_jwt with the token endpoint as audience, as the suite does. Where modules are the Basic plan's too, the
// other files of conformance ask more.
import { randomUUID } from 'node:crypto';
import {
  createRemoteJWKSet,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rotateKeys } from '../../../server/contract/keys.ts';
import { putProvisioning } from '../../../server/contract/provisioning.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { post } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import {
  makeProvider,
  REALM,
  RP,
  requestPath,
  responseParameters,
  STATE,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
/** The relying party's own host. */
let host: Receiver;
let issuer: string;
let now = new Date();
const params = { realm: REALM };
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const newKeys = async (kid: string) => {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { privateKey, kid, jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' }] } };
};
type Keys = Awaited<ReturnType<typeof newKeys>>;
const keys = await newKeys('first');
const nextKeys = await newKeys('second');

/** What the relying party's host has, by path. */
const served = new Map<string, string>();
const serve = (path: string, body: unknown): string => {
  served.set(path, typeof body === 'string' ? body : JSON.stringify(body));
  return `${host.url}${path}`;
};

beforeAll(async () => {
  host = await startReceiver();
  host.answer = ({ url }) => ({ status: served.has(url) ? 200 : 404, body: served.get(url) ?? '' });
  server = await startTestServer({ now: () => now, env: { SVC_OUTBOUND_CA_FILE: host.caFile } });
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  await server.admin.call(putProvisioning, { params, body: { registration: 'open', requireConsent: false } });
  // How the suite makes its assertions; docs/openid-connect.md says why a fresh realm doesn't take them.
  await server.admin.call(putSettings, { params, body: { clientAssertionAudience: 'endpoints' } });
});
afterAll(async () => {
  await server?.stop();
  await host?.stop();
});
// What one address may register is counted by the minute.
beforeEach(() => {
  now = new Date(now.getTime() + 61_000);
});

async function register(more: Record<string, unknown> = {}) {
  const answer = await fetch(`${issuer}/connect/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [RP],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'private_key_jwt',
      ...(more.jwks_uri === undefined && { jwks: keys.jwks }),
      ...more,
    }),
  });
  return { status: answer.status, body: Object(await answer.json()) };
}
const registered = async (more?: Record<string, unknown>): Promise<string> => {
  const { status, body } = await register(more);
  expect([status, body.error_description]).toEqual([201, undefined]);
  return body.client_id;
};

const sign = ({ privateKey, kid }: Keys, claims: JWTPayload) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
const at = () => Math.floor(now.getTime() / 1000);
const proof = (clientId: string, { by = keys, aud = `${issuer}/oauth2/token` }: { by?: Keys; aud?: string } = {}) =>
  sign(by, { iss: clientId, sub: clientId, aud, jti: randomUUID(), iat: at(), exp: at() + 60 });
const ask = async (clientId: string, form: Record<string, string>, how?: Parameters<typeof proof>[1]) =>
  post(server, REALM, 'token', {
    client_assertion_type: ASSERTION,
    client_assertion: await proof(clientId, how),
    ...form,
  });
/** Somebody new signs in to it, and it gets its tokens. */
async function tokensOf(clientId: string, more: Record<string, string> = {}, how?: Parameters<typeof proof>[1]) {
  const { code = '' } = await signInAt(createPerson(server.baseUrl), requestPath({ client_id: clientId, ...more }));
  const form = { grant_type: 'authorization_code', code, redirect_uri: more.redirect_uri ?? RP };
  const { status, body } = await ask(clientId, form, how);
  expect([status, body.error_description]).toEqual([200, undefined]);
  return body;
}
const verified = async (token: unknown, audience: string) =>
  jwtVerify(String(token), createRemoteJWKSet(new URL(`${issuer}/oauth2/jwks`)), {
    issuer,
    audience,
    currentDate: now,
  });
const refresh = (clientId: string, token: unknown, how?: Parameters<typeof proof>[1]) =>
  ask(clientId, { grant_type: 'refresh_token', refresh_token: String(token) }, how);
const open = async (clientId: string, more: Record<string, string>) =>
  createPerson(server.baseUrl).open(requestPath({ client_id: clientId, ...more }));

describe('a client that has registered itself', () => {
  test('oidcc-server, oidcc-idtoken-rs256: gets tokens, signed by RS256', async () => {
    const { status, body } = await register({ id_token_signed_response_alg: 'RS256' });
    expect([status, body.id_token_signed_response_alg]).toEqual([201, 'RS256']);
    const { id_token } = await tokensOf(body.client_id, { nonce: 'n' });
    const { payload, protectedHeader } = await verified(id_token, body.client_id);
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
    expect(payload).toMatchObject({ nonce: 'n', sub: expect.any(String) });
  });

  test('oidcc-idtoken-unsigned: none is no algorithm, and discovery names none', async () => {
    const { status, body } = await register({ id_token_signed_response_alg: 'none' });
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata']);
    const discovery = Object(await (await fetch(`${issuer}/.well-known/openid-configuration`)).json());
    expect(discovery.id_token_signing_alg_values_supported).not.toContain('none');
    expect(discovery.request_object_signing_alg_values_supported).not.toContain('none');
  });

  test('oidcc-userinfo-rs256: gets userinfo as a JWT', async () => {
    const clientId = await registered({ userinfo_signed_response_alg: 'RS256' });
    const { access_token, id_token } = await tokensOf(clientId, { scope: 'openid email' });
    const answer = await fetch(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${access_token}` } });
    expect(answer.headers.get('content-type')).toContain('application/jwt');
    const { payload, protectedHeader } = await verified(await answer.text(), clientId);
    expect(protectedHeader.alg).toBe('RS256');
    expect(payload).toMatchObject({
      sub: (await verified(id_token, clientId)).payload.sub,
      email: 'alice@example.com',
    });
  });

  test('oidcc-ensure-client-assertion-with-iss-aud-succeeds: names the issuer as audience', async () => {
    const { id_token } = await tokensOf(await registered(), {}, { aud: issuer });
    expect(id_token).toBeDefined();
  });

  test('oidcc-refresh-token: refreshes, for the same person', async () => {
    const clientId = await registered();
    const first = await tokensOf(clientId, { scope: 'openid offline_access' });
    const { status, body } = await refresh(clientId, first.refresh_token);
    expect(status).toBe(200);
    const subjects = [first, body].map(async ({ id_token }) => (await verified(id_token, clientId)).payload.sub);
    expect(new Set(await Promise.all(subjects)).size).toBe(1);
  });

  test('oidcc-server-rotate-keys: verifies what was signed before and after', async () => {
    const clientId = await registered();
    const before = await tokensOf(clientId);
    const kidOf = async (token: unknown) => (await verified(token, clientId)).protectedHeader.kid;
    const kid = await kidOf(before.id_token);
    await server.admin.call(rotateKeys, { params });
    const after = await kidOf((await tokensOf(clientId)).id_token);
    expect([after === kid, await kidOf(before.id_token)]).toEqual([false, kid]);
  });
});

describe('its request objects', () => {
  const objectOf = (clientId: string) => ({
    iss: clientId,
    aud: issuer,
    client_id: clientId,
    response_type: 'code',
    redirect_uri: RP,
    scope: 'openid',
    state: STATE,
    nonce: 'inside',
  });

  test('oidcc-request-uri-signed-rs256: are fetched where it keeps them', async () => {
    const discovery = Object(await (await fetch(`${issuer}/.well-known/openid-configuration`)).json());
    expect(discovery).toMatchObject({ request_uri_parameter_supported: true, require_request_uri_registration: true });
    expect(discovery.request_object_signing_alg_values_supported).toContain('RS256');
    const request_uri = `${host.url}/request.jwt`;
    const { body } = await register({ request_uris: [request_uri], request_object_signing_alg: 'RS256' });
    expect(body.request_uris).toEqual([request_uri]);
    serve('/request.jwt', await sign(keys, objectOf(body.client_id)));
    const { id_token } = await tokensOf(body.client_id, { request_uri });
    expect((await verified(id_token, body.client_id)).payload.nonce).toBe('inside');
  });

  test('oidcc-request-uri-unsigned, oidcc-ensure-request-object-with-redirect-uri: are signed', async () => {
    const request_uri = `${host.url}/unsigned.jwt`;
    const refused = await register({ request_uris: [request_uri], request_object_signing_alg: 'none' });
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_client_metadata']);
    const clientId = await registered({ request_uris: [request_uri] });
    serve('/unsigned.jwt', new UnsecuredJWT(objectOf(clientId)).encode());
    expect(responseParameters(await open(clientId, { request_uri }))).toMatchObject({
      error: 'invalid_request_object',
      state: STATE,
    });
    serve('/unsigned.jwt', await sign(keys, { ...objectOf(clientId), redirect_uri: 'https://evil.example/' }));
    expect((await open(clientId, { request_uri, redirect_uri: RP })).status).toBe(400);
  });
});

test('oidcc-registration-logo-uri, oidcc-registration-policy-uri, oidcc-registration-tos-uri: stand on the sign-in page', async () => {
  const shown = { logo_uri: `${RP}/logo.png`, policy_uri: `${RP}/policy`, tos_uri: `${RP}/terms`, client_uri: RP };
  const { status, body } = await register(shown);
  expect([status, body]).toEqual([201, expect.objectContaining(shown)]);
  const page = await open(body.client_id, {});
  expect(page.heading).toBe('Sign in');
  expect(page.text).toContain(`<img src="${shown.logo_uri}"`);
  for (const to of [shown.policy_uri, shown.tos_uri, shown.client_uri]) expect(page.text).toContain(`<a href="${to}"`);
});

describe('its keys', () => {
  test('oidcc-registration-jwks-uri: are read where it says', async () => {
    const clientId = await registered({ jwks_uri: serve('/jwks.json', keys.jwks) });
    expect((await tokensOf(clientId)).id_token).toBeDefined();
  });

  test('oidcc-refresh-token-rp-key-rotation: are read again when it has new ones', async () => {
    const clientId = await registered({ jwks_uri: serve('/rotated.json', keys.jwks) });
    const { refresh_token } = await tokensOf(clientId, { scope: 'openid offline_access' });
    serve('/rotated.json', nextKeys.jwks);
    const { status, body } = await refresh(clientId, refresh_token, { by: nextKeys });
    expect([status, body.id_token]).toEqual([200, expect.any(String)]);
    expect((await refresh(clientId, body.refresh_token)).body.error).toBe('invalid_client');
  });
});

describe('its redirect URIs', () => {
  test('oidcc-redirect-uri-query-OK: keep a query of their own', async () => {
    const redirect_uri = `${RP}?foo=bar`;
    const clientId = await registered({ redirect_uris: [redirect_uri] });
    const answer = await signInAt(createPerson(server.baseUrl), requestPath({ client_id: clientId, redirect_uri }));
    expect(answer).toMatchObject({ foo: 'bar', state: STATE, code: expect.any(String), iss: issuer });
    expect((await tokensOf(clientId, { redirect_uri })).id_token).toBeDefined();
  });

  test.each([
    ['oidcc-redirect-uri-query-mismatch', [`${RP}?foo=bar`], `${RP}?bar=foo`],
    ['oidcc-redirect-uri-query-added', [RP], `${RP}?foo=bar`],
    ['oidcc-ensure-redirect-uri-in-authorization-request', [RP], ''],
  ])('%s: another or none is refused on a page', async (_, redirect_uris, redirect_uri) => {
    const page = await open(await registered({ redirect_uris }), { redirect_uri });
    expect([page.status, new URL(page.url).origin, responseParameters(page)]).toEqual([400, server.baseUrl, undefined]);
  });

  test('oidcc-redirect-uri-regfrag: have no fragment', async () => {
    const { status, body } = await register({ redirect_uris: [`${RP}#foobar`] });
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
  });
});

describe('its sector', () => {
  const pairwise = { subject_type: 'pairwise' };

  test('oidcc-registration-sector-uri: is one whose keeper lists its redirect URIs', async () => {
    const clientId = await registered({ ...pairwise, sector_identifier_uri: serve('/sector.json', [RP]) });
    const { payload } = await verified((await tokensOf(clientId)).id_token, clientId);
    const elsewhere = await registered();
    expect(payload.sub).not.toBe((await verified((await tokensOf(elsewhere)).id_token, elsewhere)).payload.sub);
  });

  test('oidcc-registration-sector-bad: is refused where they are not listed', async () => {
    const sector_identifier_uri = serve('/bad-sector.json', ['https://elsewhere.example/cb']);
    const { status, body } = await register({ ...pairwise, sector_identifier_uri });
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata']);
  });
});
