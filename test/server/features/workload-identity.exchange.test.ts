import { createHmac } from 'node:crypto';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import { createClient, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createWorkloadIdentity, putWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { makeProofKey } from '../../support/dpop.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const SUBJECT = 'system:serviceaccount:shop:api';
const AUDIENCE = 'realmkeeper';
const OPERATOR_SECRET = 'operator-secret-of-the-test-0123456789';

type Signer = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
let server: TestServer;
let issuer: Receiver;
const signers = new Map<string, { alg: string; privateKey: Signer; jwk: Record<string, unknown> }>();
/** What the issuer publishes. */
let published: Record<string, unknown>[] = [];

async function newKey(kid: string, alg: string): Promise<void> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  signers.set(kid, { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } });
}
const jwkOf = (kid: string) => signers.get(kid)?.jwk ?? {};

beforeAll(async () => {
  issuer = await startReceiver();
  await Promise.all([newKey('rsa', 'RS256'), newKey('stranger', 'RS256')]);
  server = await startTestServer({
    env: {
      SVC_OUTBOUND_CA_FILE: issuer.caFile,
      SVC_WORKLOAD_RATE_LIMIT: '1000',
      SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET,
      SVC_OPERATOR_ISSUER: issuer.url,
      SVC_OPERATOR_SUBJECT: SUBJECT,
      SVC_OPERATOR_AUDIENCE: AUDIENCE,
    },
  });
  const { admin } = server;
  await admin.call(createRealm, { body: { realm: 'acme' } });
  await admin.call(createRealm, { body: { realm: 'other' } });
  await admin.call(createClient, {
    params: { realm: 'acme' },
    body: { clientId: 'api', grantTypes: ['client_credentials'] },
  });
  await admin.call(createWorkloadIdentity, { params: { realm: 'acme' }, body: credential('main') });
});
afterAll(async () => {
  await server?.stop();
  await issuer.stop();
});
beforeEach(() => {
  published = [...signers.values()].map((s) => s.jwk).filter(({ kid }) => kid !== 'stranger');
  issuer.answer = ({ url }) => {
    if (url.endsWith('/.well-known/openid-configuration')) {
      const base = issuer.url + url.replace('/.well-known/openid-configuration', '');
      return { body: JSON.stringify({ issuer: base, jwks_uri: `${base}/keys` }) };
    }
    return { body: JSON.stringify({ keys: published }) };
  };
});

const credential = (name: string, more: Partial<ReturnType<typeof shape>> = {}) => ({ ...shape(name), ...more });
const shape = (name: string) => ({
  name,
  issuer: issuer.url,
  jwksUri: null as string | null,
  subject: SUBJECT,
  audience: AUDIENCE,
  clientId: 'api',
  scopes: 'orders:read orders:write',
  enabled: true,
});
const seconds = () => Math.floor(Date.now() / 1000);

/** A good token, but for what is said. */
async function token(
  claims: Record<string, unknown> = {},
  { kid = 'rsa', header = {} }: { kid?: string; header?: Record<string, unknown> } = {},
): Promise<string> {
  const { alg, privateKey } = signers.get(kid)!;
  const all = { iss: issuer.url, sub: SUBJECT, aud: AUDIENCE, iat: seconds(), exp: seconds() + 600, ...claims };
  const body = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(body).setProtectedHeader({ alg, kid, ...header }).sign(privateKey, { crit: { x: true } });
}
const endpoint = (realm = 'acme') => `${server.baseUrl}/realms/${realm}/workload-identity/token`;
const post = (form: Record<string, string> | string, realm = 'acme', headers: Record<string, string> = {}) =>
  fetch(endpoint(realm), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form),
  });
const exchange = (subject_token: string, more: Record<string, string> = {}, realm = 'acme') =>
  post({ grant_type: GRANT, subject_token, subject_token_type: JWT, ...more }, realm);

describe('a token that holds', () => {
  test('is traded for a short-lived access token of the client, with the workload in it, signed by the realm', async () => {
    const response = await exchange(await token());
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const body = Object(await response.json());
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'scope', 'token_type']);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 300, scope: 'orders:read orders:write' });
    const { iat = 0, exp = 0, ...claims } = decodeJwt(body.access_token);
    expect(exp - iat).toBe(300);
    expect(claims).toMatchObject({
      iss: `${server.baseUrl}/realms/acme`,
      sub: 'api',
      client_id: 'api',
      scope: 'orders:read orders:write',
      workload: { issuer: issuer.url, subject: SUBJECT },
    });
    const { createRemoteJWKSet, jwtVerify } = await import('jose');
    const jwks = createRemoteJWKSet(new URL(`${server.baseUrl}/realms/acme/oauth2/jwks`));
    await jwtVerify(body.access_token, jwks, { algorithms: ['RS256'], typ: 'at+jwt' });
  });

  test('is bound to a key that the request proves, by the nonce that its client needs and each answer brings', async () => {
    const params = { realm: 'other' };
    const bound = { clientId: 'bound', grantTypes: ['client_credentials' as const], dpopBoundAccessTokens: true };
    await server.admin.call(createClient, { params, body: bound });
    const body = credential('bound', { issuer: `${issuer.url}/bound`, clientId: 'bound' });
    await server.admin.call(createWorkloadIdentity, { params, body });
    const key = await makeProofKey();
    const htu = `${server.baseUrl}/realms/other/workload-identity/token`;
    const ask = async (claims: object, of = key) => {
      const form = {
        grant_type: GRANT,
        subject_token: await token({ iss: `${issuer.url}/bound` }),
        subject_token_type: JWT,
      };
      const dpop = await of.proof({ htu, claims });
      const answer = await fetch(htu, { method: 'POST', headers: { dpop }, body: new URLSearchParams(form) });
      return { status: answer.status, nonce: answer.headers.get('dpop-nonce'), body: Object(await answer.json()) };
    };
    const first = await ask({});
    expect([first.status, first.body.error]).toEqual([400, 'use_dpop_nonce']);
    expect(first.nonce).toBeTruthy();
    expect((await ask({ nonce: `${first.nonce}x` })).body.error).toBe('use_dpop_nonce');
    const { status, body: given } = await ask({ nonce: first.nonce });
    expect([status, given.token_type]).toEqual([200, 'DPoP']);
    expect(decodeJwt(given.access_token).cnf).toEqual({ jkt: key.jkt });
    const elsewhere = { nonce: first.nonce, htu: `${server.baseUrl}/realms/other/oauth2/token` };
    expect((await ask(elsewhere)).body.error).toBe('invalid_dpop_proof');
  });

  test.each(['RS384', 'RS512', 'ES256', 'ES384', 'ES512'])('may be signed with %s', async (alg) => {
    await newKey(alg, alg);
    published = [...published, jwkOf(alg)];
    await server.admin.call(createWorkloadIdentity, {
      params: { realm: 'acme' },
      body: credential(alg, { issuer: `${issuer.url}/${alg}` }),
    });
    const jwt = await token({ iss: `${issuer.url}/${alg}` }, { kid: alg });
    expect((await exchange(jwt)).status).toBe(200);
  });

  test.each([
    ['an audience in a list', () => ({ aud: ['else', AUDIENCE] })],
    ['a not-before within the skew', () => ({ nbf: seconds() + 50 })],
    ['an end within the skew', () => ({ iat: seconds() - 600, exp: seconds() - 40 })],
    ['a life of a day', () => ({ iat: seconds() - 10, exp: seconds() - 10 + 86_400 })],
  ])('may have %s', async (_, claims) => expect((await exchange(await token(claims()))).status).toBe(200));

  test('gets what it asks for of the credential’s scopes, and no more', async () => {
    const scopeOf = async (scope: string) => Object(await (await exchange(await token(), { scope })).json()).scope;
    expect(await scopeOf('orders:read')).toBe('orders:read');
    expect(await scopeOf('admin orders:write')).toBe('orders:write');
    expect(await scopeOf('admin')).toBeUndefined();
  });

  test('is accepted after the issuer rotated its keys, by one fetch', async () => {
    const iss = `${issuer.url}/rotating`;
    const body = credential('rotating', { issuer: iss });
    await server.admin.call(createWorkloadIdentity, { params: { realm: 'acme' }, body });
    expect((await exchange(await token({ iss }))).status).toBe(200);
    await newKey('next', 'RS256');
    published = [jwkOf('next')];
    issuer.received.length = 0;
    expect((await exchange(await token({ iss }, { kid: 'next' }))).status).toBe(200);
    expect((await exchange(await token({ iss }, { kid: 'next' }))).status).toBe(200);
    // The key that is gone is refused from then on, and asking for it again and again fetches nothing.
    expect((await exchange(await token({ iss }))).status).toBe(401);
    expect(issuer.received.map((r) => r.url)).toEqual(['/rotating/.well-known/openid-configuration', '/rotating/keys']);
    signers.delete('next');
  });

  test('lives as long as the realm says', async () => {
    const ttl = (workloadTokenTtlSeconds: number) =>
      server.admin.call(putSettings, { params: { realm: 'acme' }, body: { workloadTokenTtlSeconds } });
    await ttl(60);
    expect(await (await exchange(await token())).json()).toMatchObject({ expires_in: 60 });
    await ttl(300);
  });

  test('may name a resource of the realm’s list, and no other', async () => {
    const resource = 'https://orders.example';
    await server.admin.call(putSettings, { params: { realm: 'acme' }, body: { resourceIndicators: [resource] } });
    const good = Object(await (await exchange(await token(), { resource })).json());
    expect(decodeJwt(good.access_token).aud).toBe(resource);
    const bad = await exchange(await token(), { resource: `${server.baseUrl}/admin` });
    expect([bad.status, await bad.json()]).toMatchObject([400, { error: 'invalid_target' }]);
  });
});

describe('an exchange that fails', () => {
  const hmac = (key: string): string => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: issuer.url, sub: SUBJECT, aud: AUDIENCE, iat: seconds(), exp: seconds() + 600 };
    const input = `${part({ alg: 'HS256', kid: 'rsa' })}.${part(claims)}`;
    return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
  };
  const unsigned = (): string => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: issuer.url, sub: SUBJECT, aud: AUDIENCE, iat: seconds(), exp: seconds() + 600 };
    return `${part({ alg: 'none' })}.${part(claims)}.`;
  };
  const tampered = async (): Promise<string> => {
    const [header, payload = '', signature] = (await token()).split('.');
    const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), extra: true };
    return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
  };
  const at = (path: string) => ({ iss: issuer.url + path });
  const causes: Record<string, () => Promise<string>> = {
    'not a JWT': async () => 'abc',
    'a JWT of nothing': async () => '..',
    'a NUL in its subject': () => token({ sub: `${SUBJECT}\0` }),
    'alg none': async () => unsigned(),
    'HMAC with the public key': async () => hmac(JSON.stringify(jwkOf('rsa'))),
    'PS256, which is not on the list': () => token({}, { kid: 'pss' }),
    'a tampered payload': tampered,
    'a key that the issuer does not have, under its kid': () => token({}, { kid: 'stranger', header: { kid: 'rsa' } }),
    'an unknown kid': () => token({}, { kid: 'stranger' }),
    'no kid and a wrong key': () => token({}, { kid: 'stranger', header: { kid: undefined } }),
    'an unknown issuer': () => token(at('/unknown')),
    'an issuer with another slash': () => token(at('/')),
    'another subject': () => token({ sub: 'system:serviceaccount:shop:other' }),
    'a subject that a wildcard would match': () => token({ sub: `${SUBJECT}-2` }),
    'another audience': () => token({ aud: 'else' }),
    'an audience in another case': () => token({ aud: AUDIENCE.toUpperCase() }),
    'no audience': () => token({ aud: undefined }),
    'an end in the past': () => token({ iat: seconds() - 600, exp: seconds() - 61 }),
    'no end': () => token({ exp: undefined }),
    'no iat': () => token({ iat: undefined }),
    'an iat in the future': () => token({ iat: seconds() + 300, exp: seconds() + 600 }),
    'an nbf in the future': () => token({ nbf: seconds() + 300 }),
    'an nbf that is text': () => token({ nbf: 'now' }),
    'a life longer than a day': () => token({ exp: seconds() + 86_401 }),
    'a disabled credential': () => token(at('/disabled')),
    'a disabled client': () => token(at('/client-disabled')),
    'a critical extension': () => token({}, { header: { crit: ['x'], x: 1 } }),
    'a discovery document of another issuer': () => token(at('/liar')),
    'a discovery document with keys over http': () => token(at('/http')),
    'an issuer that answers 500': () => token(at('/500')),
    'an issuer that redirects': () => token(at('/302')),
    'keys of more than 256 KiB': () => token(at('/big')),
    'more than 100 keys': () => token(at('/many')),
    'keys that are no JSON': () => token(at('/text')),
    'an issuer that does not answer in time': () => token(at('/slow')),
    'an issuer at a private address': () => token({ iss: 'https://10.0.0.1' }),
    'keys at a private address': () => token(at('/private-keys')),
  };
  let usual: (typeof issuer)['answer'];

  beforeAll(async () => {
    await newKey('pss', 'PS256');
    const { admin } = server;
    const params = { realm: 'acme' };
    const make = (name: string, more: Partial<ReturnType<typeof shape>> = {}) =>
      admin.call(createWorkloadIdentity, {
        params,
        body: credential(name, { issuer: `${issuer.url}/${name}`, ...more }),
      });
    for (const name of ['liar', 'http', '500', '302', 'big', 'many', 'text', 'slow']) await make(name);
    await make('private', { issuer: 'https://10.0.0.1' });
    await make('private-keys', { jwksUri: 'https://192.168.1.1/keys' });
    await make('disabled', { enabled: false });
    const gone = await admin.call(createClient, { params, body: { clientId: 'gone' } });
    await make('client-disabled', { clientId: 'gone' });
    await admin.call(putClient, {
      params: { ...params, id: gone.body!.id },
      body: { clientId: 'gone', enabled: false },
    });
  });
  beforeEach(() => {
    usual = issuer.answer;
    issuer.answer = (request) => {
      const [, name = ''] = request.url.split('/');
      const keys = request.url.endsWith('/keys');
      if (name === 'liar' && !keys)
        return { body: JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }) };
      if (name === 'http' && !keys)
        return { body: JSON.stringify({ issuer: `${issuer.url}/http`, jwks_uri: 'http://127.0.0.1/keys' }) };
      if (name === '500') return { status: 500 };
      if (name === '302')
        return { status: 302, headers: { location: `${issuer.url}/.well-known/openid-configuration` } };
      if (name === 'big' && keys) return { body: JSON.stringify({ keys: published, pad: 'x'.repeat(256 * 1024) }) };
      if (name === 'many' && keys)
        return { body: JSON.stringify({ keys: Array.from({ length: 101 }, () => jwkOf('rsa')) }) };
      if (name === 'text' && keys) return { body: 'keys' };
      if (name === 'slow') return { ...usual(request), afterMs: 4_000 };
      return usual(request);
    };
  });

  test('answers each cause with the same bytes, headers and time, and the audit log says which it was', async () => {
    const outcomes = await Promise.all(
      Object.entries(causes).map(async ([cause, make]) => {
        const jwt = await make();
        const started = performance.now();
        const response = await exchange(jwt);
        const body = await response.text();
        const headers = [...response.headers].filter(([name]) => name !== 'date');
        return { cause, ms: performance.now() - started, answer: { status: response.status, body, headers } };
      }),
    );
    const answers = new Map(outcomes.map((o) => [JSON.stringify(o.answer), o.cause]));
    expect(outcomes[0]?.answer).toMatchObject({ status: 401, body: '{"error":"invalid_grant"}' });
    expect([...answers.values()]).toHaveLength(1);
    const times = outcomes.map((o) => o.ms).toSorted((a, b) => a - b);
    expect(times[0]).toBeGreaterThan(1_990);
    const events = await server.admin.call(listEvents, {
      params: { realm: 'acme' },
      query: { type: 'WORKLOAD_TOKEN_REFUSED', limit: 1000 },
    });
    const refused = events.body!.filter(
      ({ data }) => data.reason !== 'a resource is not allowed' && !`${data.issuer}`.endsWith('rotating'),
    );
    expect(refused).toHaveLength(outcomes.length);
    expect(new Set(refused.map((e) => e.data.reason)).size).toBeGreaterThan(15);
    for (const event of refused) expect(event.data).toHaveProperty('issuer');
  });

  test('in another realm is the same, although this realm knows the workload', async () => {
    const response = await exchange(await token(), {}, 'other');
    expect([response.status, await response.text()]).toEqual([401, '{"error":"invalid_grant"}']);
  });

  test('for a credential that was disabled just now is the same', async () => {
    const params = { realm: 'acme' };
    const body = credential('toggled', { issuer: `${issuer.url}/toggled` });
    const made = await server.admin.call(createWorkloadIdentity, { params, body });
    const jwt = await token(at('/toggled'));
    expect((await exchange(jwt)).status).toBe(200);
    await server.admin.call(putWorkloadIdentity, {
      params: { ...params, id: made.body!.id },
      body: { ...made.body!, enabled: false },
    });
    expect((await exchange(jwt)).status).toBe(401);
  });

  test.each([
    ['no grant_type', { subject_token: 'x', subject_token_type: JWT }, 'invalid_request'],
    [
      'another grant_type',
      { grant_type: 'password', subject_token: 'x', subject_token_type: JWT },
      'unsupported_grant_type',
    ],
    ['no subject_token', { grant_type: GRANT, subject_token_type: JWT }, 'invalid_request'],
    ['no subject_token_type', { grant_type: GRANT, subject_token: 'x' }, 'invalid_request'],
    [
      'another subject_token_type',
      { grant_type: GRANT, subject_token: 'x', subject_token_type: 'x' },
      'invalid_request',
    ],
    [
      'a malformed scope',
      { grant_type: GRANT, subject_token: 'x', subject_token_type: JWT, scope: '"' },
      'invalid_scope',
    ],
  ])('with %s is a 400', async (_, form, error) => {
    const response = await post(form);
    expect([response.status, await response.json()]).toMatchObject([400, { error }]);
  });

  test('with a JSON body is a 400', async () => {
    const response = await fetch(`${server.baseUrl}/realms/acme/workload-identity/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(400);
  });
});

describe('a client that holds admin roles', () => {
  const list = async (bearer: string) =>
    (await fetch(`${server.baseUrl}/admin/realms`, { headers: { authorization: `Bearer ${bearer}` } })).status;

  test('is the operator, which signs in by its own token and no stored secret, and asks for the admin API', async () => {
    const resource = `${server.baseUrl}/admin`;
    const good = Object(await (await exchange(await token(), { resource }, 'master')).json());
    expect(decodeJwt(good.access_token)).toMatchObject({ aud: resource, client_id: 'operator' });
    expect(await list(good.access_token)).toBe(200);
    // Not asked for: a token that the admin API refuses.
    const plain = Object(await (await exchange(await token(), {}, 'master')).json());
    expect(await list(plain.access_token)).toBe(401);
  });

  test('gets a credential only from someone who holds as much', async () => {
    const { admin, pool, baseUrl } = server;
    const master = { realm: 'master' };
    const secret = 'limited-secret-of-the-test-0123456789-abcdef';
    const made = await admin.call(createClient, {
      params: master,
      body: { clientId: 'limited', grantTypes: ['client_credentials'], secret },
    });
    await pool.query(
      `insert into admin_grant (realm_id, role_id, client, target_realm)
       select 'master', id, $1, 'master' from admin_role where realm_id = 'master' and name = 'realm-admin'`,
      [made.body!.id],
    );
    const answer = await fetch(`${baseUrl}/realms/master/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`limited:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: `${baseUrl}/admin` }),
    });
    const { access_token: bearer } = Object(await answer.json());
    const post = (body: object) =>
      fetch(`${baseUrl}/admin/realms/master/workload-identity`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const refused = await post(credential('up', { subject: 'someone', clientId: 'operator' }));
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { type: 'urn:svc:problem:privilege-escalation' },
    ]);
    expect((await post(credential('level', { subject: 'someone', clientId: 'limited' }))).status).toBe(201);
  });

  test('may have come to them after its credential: one without adminAccess asks for the admin API in vain', async () => {
    const { admin } = server;
    const params = { realm: 'acme' };
    const made = await admin.call(createClient, {
      params,
      body: { clientId: 'rising', grantTypes: ['client_credentials'] },
    });
    const of = (name: string, adminAccess: boolean) =>
      admin.call(createWorkloadIdentity, {
        params,
        body: { ...credential(name, { subject: name, clientId: 'rising' }), adminAccess },
      });
    await Promise.all([of('with', true), of('without', false)]);
    const body = { grants: [{ role: 'realm-viewer', realm: 'acme' }] };
    await admin.call(putClientAdminRoles, { params: { ...params, id: made.body!.id }, body });
    const resource = `${server.baseUrl}/admin`;
    expect((await exchange(await token({ sub: 'with' }), { resource })).status).toBe(200);
    const refused = await exchange(await token({ sub: 'without' }), { resource });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_target' }]);
    expect((await exchange(await token({ sub: 'without' }))).status).toBe(200);
  });
});

test('success is audited with issuer, subject and client', async () => {
  await exchange(await token());
  const events = await server.admin.call(listEvents, {
    params: { realm: 'acme' },
    query: { type: 'WORKLOAD_TOKEN_ISSUED', limit: 1 },
  });
  expect(events.body?.[0]).toMatchObject({
    clientId: 'api',
    outcome: 'success',
    actor: { type: 'workload', name: SUBJECT },
    data: { issuer: issuer.url, subject: SUBJECT, credential: 'main' },
  });
});

test('a credential that is taken away while its issuer is asked for keys gives no token', async () => {
  const path = `${issuer.url}/taken`;
  const params = { realm: 'acme' };
  const { body: made } = await server.admin.call(createWorkloadIdentity, {
    params,
    body: credential('taken', { issuer: path }),
  });
  const answer = issuer.answer;
  let asked = 0;
  issuer.answer = async (request) => {
    if (request.url.endsWith('/keys')) {
      asked += 1;
      await server.admin.call(putWorkloadIdentity, {
        params: { realm: 'acme', id: made?.id ?? '' },
        body: { ...credential('taken', { issuer: path }), enabled: false },
      });
    }
    return answer(request);
  };
  const refused = await exchange(await token({ iss: path }));
  expect([refused.status, asked]).toEqual([401, 1]);
});
