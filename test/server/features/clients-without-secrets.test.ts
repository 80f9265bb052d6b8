// Clients that a workload identity authenticates: by a token of GitHub, of Kubernetes, or a JWT-SVID, at every endpoint; and tokens that
// prove nothing. RFC 7523 §3, §5; RFC 8725; draft-ietf-oauth-spiffe-client-auth. The real Kubernetes is in test/kubernetes, SPIRE in
// clients-without-secrets.spire.long.test.ts.
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import { listClients } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import {
  createWorkloadIdentity,
  deleteWorkloadIdentity,
  putWorkloadIdentity,
  type WorkloadIdentityInput,
} from '../../../server/contract/workload-identity.ts';
import { CALLBACK, getCode, PASSWORD, redeem, refresh } from '../../support/applications.ts';
import { ASSERTION, type Keys, makeKeys } from '../../support/bank.ts';
import { type Answer, claimsIn, makeClient, makeRealm, post } from '../../support/clients.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const SVID = 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe';
/** Every refusal takes so long. */
const FAILURE_MS = 600;
const REALM = 'acme';
const params = { realm: REALM };
const GITHUB = 'repo:acme/shop:ref:refs/heads/main';
const POD = 'system:serviceaccount:shop:web';
const WORKLOAD = 'spiffe://example.org/shop';
let server: TestServer;
let platform: Receiver;
let keys: Keys;
let strangers: Keys;
/** Beyond the minute in which refusals of one address are counted together. */
let offset = 0;
beforeEach(() => {
  offset += 61_000;
});

let issuer: string;
let github: string;
let cluster: string;
/** undefined: the token lacks the claim. */
type Claims = Record<string, unknown>;
const now = () => Math.floor((Date.now() + offset) / 1000);

const trust = (body: z.input<typeof WorkloadIdentityInput>, realm = REALM) =>
  server.admin.call(createWorkloadIdentity, { params: { realm }, body: { use: 'authentication', ...body } });

beforeAll(async () => {
  [platform, keys, strangers] = await Promise.all([startReceiver(), makeKeys('RS256'), makeKeys('RS256')]);
  platform.answer = () => ({ body: JSON.stringify({ keys: [keys.jwk] }) });
  [github, cluster] = [`${platform.url}/github`, `${platform.url}/cluster`];
  server = await startTestServer({
    failureMs: FAILURE_MS,
    env: { SVC_OUTBOUND_CA_FILE: platform.caFile },
    now: () => new Date(Date.now() + offset),
  });
  issuer = `${server.baseUrl}/realms/${REALM}`;
  for (const realm of [REALM, 'other']) {
    await makeRealm(server, realm);
    await makeClient(server, realm, {
      clientId: 'web',
      tokenEndpointAuthMethod: 'federated_jwt',
      redirectUris: [CALLBACK],
      grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
  }
  const machine = { grantTypes: ['client_credentials' as const] };
  await makeClient(server, REALM, { ...machine, clientId: 'deployer', tokenEndpointAuthMethod: 'federated_jwt' });
  await makeClient(server, REALM, { ...machine, clientId: 'exchanger', tokenEndpointAuthMethod: 'federated_jwt' });
  await makeClient(server, REALM, { ...machine, clientId: 'mesh', tokenEndpointAuthMethod: 'spiffe_jwt' });
  await makeClient(server, REALM, {
    ...machine,
    clientId: 'keyed',
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks: { keys: [keys.jwk] },
  });
  const jwksUri = `${platform.url}/keys`;
  await trust({ name: 'web pod', issuer: cluster, jwksUri, subject: POD, audience: issuer, clientId: 'web' });
  await trust({ name: 'main', issuer: github, jwksUri, subject: GITHUB, audience: issuer, clientId: 'deployer' });
  await trust({
    name: 'only',
    issuer: github,
    jwksUri,
    subject: 'exchange',
    audience: issuer,
    clientId: 'exchanger',
    use: 'exchange',
  });
  await trust({
    name: 'mesh',
    issuer: 'spiffe://example.org',
    jwksUri,
    subject: WORKLOAD,
    audience: issuer,
    clientId: 'mesh',
  });
  await server.admin.call(createUser, { params, body: { username: 'alice', password: PASSWORD } });
});
afterAll(async () => {
  await server?.stop();
  await platform?.stop();
});

const signed = (claims: Claims, header: object = {}, by = keys) =>
  new SignJWT(claims).setProtectedHeader({ alg: by.alg, kid: by.kid, ...header }).sign(by.privateKey);
/** As GitHub Actions writes it: a new one for each request of a job. */
const githubClaims = (more: Claims = {}): Claims => ({
  jti: crypto.randomUUID(),
  sub: GITHUB,
  aud: issuer,
  ref: 'refs/heads/main',
  repository: 'acme/shop',
  repository_owner: 'acme',
  run_id: '1234',
  workflow: 'deploy',
  job_workflow_ref: 'acme/shop/.github/workflows/deploy.yml@refs/heads/main',
  iss: github,
  nbf: now() - 600,
  exp: now() + 300,
  iat: now(),
  ...more,
});
/** As the API server writes it: the same one for as long as it lasts. */
const podClaims = (more: Claims = {}): Claims => ({
  aud: [issuer],
  exp: now() + 3600,
  iat: now(),
  nbf: now(),
  iss: cluster,
  jti: 'f4e8a4a9-2d5c-4a5e-9c02-0b8c2b9a4d11',
  'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'web', uid: 'c0ffee' }, pod: { name: 'web-1' } },
  sub: POD,
  ...more,
});
/** As SPIRE writes it without `jwt_issuer`. */
const svidClaims = (more: Claims = {}): Claims => ({
  aud: [issuer],
  exp: now() + 300,
  iat: now(),
  sub: WORKLOAD,
  ...more,
});

const ask = (assertion: string, more: Record<string, string> = {}, realm = REALM): Promise<Answer> =>
  post(server, realm, 'token', {
    grant_type: 'client_credentials',
    client_assertion_type: ASSERTION,
    client_assertion: assertion,
    ...more,
  });
const newest = async (type: string) => {
  const { body = [] } = await server.admin.call(listEvents, { params, query: { type, limit: 1 } });
  return body[0];
};
const expectReason = (why: string) =>
  expect.poll(async () => String((await newest('TOKEN_REFUSED'))?.data?.reason)).toContain(why);

test('A job of GitHub gets a token as its client, which it need not name; the audit log says by which identity', async () => {
  const answer = await ask(await signed(githubClaims()));
  expect(answer.status).toBe(200);
  expect(claimsIn(answer.body.access_token)).toMatchObject({ client_id: 'deployer', sub: 'deployer' });
  await expect
    .poll(() => newest('TOKEN_ISSUED'))
    .toMatchObject({ clientId: 'deployer', data: { grant: 'client_credentials', workloadIdentity: 'main' } });
});

test('A pod signs people in by the one token that its volume holds: code, refresh, introspection, revocation, pushed requests', async () => {
  const proof = { client_assertion_type: ASSERTION, client_assertion: await signed(podClaims()) };
  const grant = await getCode(server, REALM, 'web');
  const tokens = await redeem(server, REALM, 'web', grant, proof);
  expect(tokens.status, tokens.text).toBe(200);
  expect(await newest('TOKEN_ISSUED')).toMatchObject({ clientId: 'web', data: { workloadIdentity: 'web pod' } });
  const renewed = await refresh(server, REALM, 'web', tokens.body.refresh_token, proof);
  expect(renewed.status).toBe(200);
  expect(await newest('TOKEN_REFRESHED')).toMatchObject({ data: { workloadIdentity: 'web pod' } });
  const token = String(renewed.body.access_token);
  const shown = await post(server, REALM, 'introspect', { ...proof, token });
  expect(shown.body).toMatchObject({ active: true, client_id: 'web' });
  const pushed = await post(server, REALM, 'par', {
    ...proof,
    client_id: 'web',
    response_type: 'code',
    redirect_uri: CALLBACK,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  expect(pushed.status, pushed.text).toBe(201);
  expect((await post(server, REALM, 'revoke', { ...proof, token })).status).toBe(200);
  expect(await newest('TOKEN_REVOKED')).toMatchObject({ data: { workloadIdentity: 'web pod' } });
  expect((await post(server, REALM, 'introspect', { ...proof, token })).body).toEqual({ active: false });
});

test('A JWT-SVID proves its client by both types of assertion, with and without an issuer of its own', async () => {
  for (const client_assertion_type of [ASSERTION, SVID])
    for (const iss of [undefined, 'https://spire.example.org'])
      expect(
        (
          await ask(await signed(svidClaims(iss === undefined ? {} : { iss })), {
            client_assertion_type,
            client_id: 'mesh',
          })
        ).status,
      ).toBe(200);
  expect((await ask(await signed(svidClaims()))).status).toBe(200);
});

test('The public and the secret way to such a client are closed', async () => {
  for (const more of [{}, { client_secret: 'x'.repeat(40) }])
    expect(
      (await post(server, REALM, 'token', { grant_type: 'client_credentials', client_id: 'deployer', ...more })).status,
    ).toBe(401);
  const own = await signed({ iss: 'deployer', sub: 'deployer', aud: issuer, exp: now() + 60, jti: 'own' });
  expect((await ask(own)).status).toBe(401);
});

const wrong: readonly [string, () => Promise<string>, string][] = [
  ['for another audience', () => signed(githubClaims({ aud: 'https://else.example' })), 'another audience'],
  ['for two audiences', () => signed(githubClaims({ aud: [issuer, 'https://else.example'] })), 'several audiences'],
  [
    'of another issuer with the same subject',
    () => signed(githubClaims({ iss: `${platform.url}/else` })),
    'has this issuer and subject',
  ],
  ['that another key signed', () => signed(githubClaims(), {}, strangers), 'no key of the issuer'],
  ['that nobody signed', async () => new UnsecuredJWT({ ...githubClaims() }).encode(), 'algorithm none'],
  ['that has expired', () => signed(githubClaims({ exp: now() - 61, iat: now() - 300 })), 'it has expired'],
  ['that never expires', () => signed(githubClaims({ exp: undefined })), 'claim exp'],
  ['that lives for weeks', () => signed(githubClaims({ exp: now() + 30 * 86_400 })), 'longer than a day'],
  [
    'whose subject only begins like the declared one',
    () => signed(githubClaims({ sub: `${GITHUB}-fork` })),
    'has this issuer and subject',
  ],
  [
    'whose subject is the beginning of the declared one',
    () => signed(githubClaims({ sub: GITHUB.slice(0, -1) })),
    'has this issuer and subject',
  ],
  ['that is another kind of JWT', () => signed(githubClaims(), { typ: 'oauth-authz-req+jwt' }), 'of another kind'],
];
test(`No token proves a client that is ${wrong.map(([what]) => what).join(', ')}`, async () => {
  const answers = await Promise.all(wrong.map(async ([, make]) => ask(await make(), { client_id: 'deployer' })));
  const refused = { error: 'invalid_client', error_description: 'The client could not be authenticated' };
  expect(answers.map(({ status, body }) => [status, body])).toEqual(wrong.map(() => [401, refused]));
  const query = { type: 'TOKEN_REFUSED', limit: 50 };
  await expect
    .poll(async () => (await server.admin.call(listEvents, { params, query })).body?.map(({ data }) => data?.reason))
    .toEqual(expect.arrayContaining(wrong.map(([, , why]) => expect.stringContaining(why))));
});

describe('A token proves no client', () => {
  test('for a client other than the one that its identity authenticates', async () => {
    const token = () => signed(githubClaims());
    const others = ['web', 'keyed', 'mesh', 'no-such-client'];
    const answers = await Promise.all(others.map(async (client_id) => ask(await token(), { client_id })));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });

  test('in another realm, which has a client of the same name', async () => {
    const pod = await signed(podClaims());
    expect((await ask(pod)).status).toBe(200);
    expect((await ask(pod, { client_id: 'web' }, 'other')).status).toBe(401);
    expect((await ask(pod, {}, 'other')).status).toBe(401);
  });

  test('by an identity that is for the exchange alone', async () => {
    expect((await ask(await signed(githubClaims({ sub: 'exchange' })), { client_id: 'exchanger' })).status).toBe(401);
    await expectReason('no workload identity that authenticates this client');
  });

  test('of another trust domain, or whose issuer calls itself the trust domain', async () => {
    const confused = [
      svidClaims({ sub: 'spiffe://example.com/shop' }),
      svidClaims({ sub: 'spiffe://example.org.evil.example/shop' }),
      svidClaims({ sub: 'spiffe://example.org/shop/admin' }),
      svidClaims({ sub: 'spiffe://example.com/shop', iss: 'spiffe://example.org' }),
      svidClaims({ sub: 'shop', iss: 'spiffe://example.org' }),
    ];
    const more = { client_id: 'mesh', client_assertion_type: SVID };
    const answers = await Promise.all(confused.map(async (claims) => ask(await signed(claims), more)));
    expect(answers.map(({ status }) => status)).toEqual(confused.map(() => 401));
    // A token of an https issuer is no JWT-SVID.
    expect(
      (await ask(await signed(githubClaims()), { client_id: 'deployer', client_assertion_type: SVID })).status,
    ).toBe(401);
  });

  test('a second time, unless its platform gives it repeatedly or the identity says so', async () => {
    const once = await signed(githubClaims());
    expect((await ask(once)).status).toBe(200);
    expect((await ask(once)).status).toBe(401);
    await expectReason('the token was used before');
    const pod = await signed(podClaims());
    for (const _ of [1, 2]) expect((await ask(pod)).status).toBe(200);
    const jwksUri = `${platform.url}/keys`;
    const job = { issuer: github, jwksUri, audience: issuer, clientId: 'deployer' };
    await trust({ ...job, name: 'gitlab', subject: 'project', singleUse: false });
    await trust({ ...job, name: 'strict', subject: 'strict', singleUse: true });
    const repeated = await signed(githubClaims({ sub: 'project' }));
    for (const _ of [1, 2]) expect((await ask(repeated)).status).toBe(200);
    expect((await ask(await signed(githubClaims({ sub: 'strict', jti: undefined })))).status).toBe(401);
    await expectReason('has no jti');
  });

  test('and takes as long, in the same words, as one for a client that does not exist', async () => {
    const timed = async (client_id: string) => {
      const from = performance.now();
      const answer = await ask(await signed(githubClaims(), {}, strangers), { client_id });
      return { ms: performance.now() - from, text: answer.text, status: answer.status };
    };
    const [known, unknown, keyed] = await Promise.all(['deployer', 'no-such-client', 'keyed'].map(timed));
    for (const one of [known, unknown, keyed]) {
      expect(one?.ms).toBeGreaterThan(FAILURE_MS - 20);
      expect([one?.status, one?.text]).toEqual([401, unknown?.text]);
    }
  });
});

test('Discovery names the methods, and a realm under a security profile has none of them', async () => {
  const methods = async () =>
    Object(await (await fetch(`${issuer}/.well-known/openid-configuration`)).json())
      .token_endpoint_auth_methods_supported;
  expect(await methods()).toEqual(expect.arrayContaining(['federated_jwt', 'spiffe_jwt']));
  await server.admin.call(putSettings, { params, body: { profile: 'fapi2-security' } });
  try {
    await expect.poll(methods).not.toContain('federated_jwt');
    const answer = await ask(await signed(githubClaims()));
    expect(answer.body.error).toBe('unauthorized_client');
    const { body = [] } = await server.admin.call(listClients, { params, query: { q: 'deployer' } });
    expect(body[0]?.profileLacks).toContainEqual(expect.stringContaining('tokenEndpointAuthMethod must be one of'));
  } finally {
    await server.admin.call(putSettings, { params, body: { profile: null } });
  }
});

test('A deleted, disabled or narrowed identity authenticates nobody from then on', async () => {
  const jwksUri = `${platform.url}/keys`;
  const identity = { issuer: github, jwksUri, subject: 'gone', audience: issuer, clientId: 'deployer' };
  const id = (await trust({ ...identity, name: 'gone' })).body?.id ?? '';
  const status = async () => (await ask(await signed(githubClaims({ sub: 'gone' })))).status;
  expect(await status()).toBe(200);
  const put = (body: object) => server.admin.call(putWorkloadIdentity, { params: { ...params, id }, body });
  await put({ enabled: false });
  await expect.poll(status).toBe(401);
  await put({ enabled: true });
  await expect.poll(status).toBe(200);
  await put({ use: 'exchange' });
  await expect.poll(status).toBe(401);
  await put({ use: 'both' });
  await server.admin.call(deleteWorkloadIdentity, { params: { ...params, id } });
  expect(await status()).toBe(401);
});

test('An identity without admin access gives its client no token for the admin API, and another does', async () => {
  const jwksUri = `${platform.url}/keys`;
  const machine = { clientId: 'operator', grantTypes: ['client_credentials' as const] };
  const id = await makeClient(server, REALM, { ...machine, tokenEndpointAuthMethod: 'federated_jwt' });
  const grants = [{ role: 'realm-admin', realm: REALM }];
  await server.admin.call(putClientAdminRoles, { params: { ...params, id }, body: { grants } });
  const identity = { issuer: github, jwksUri, audience: issuer, clientId: 'operator' };
  await trust({ ...identity, name: 'may', subject: 'may' });
  await trust({ ...identity, name: 'may not', subject: 'may not', adminAccess: false });
  const asAdmin = async (sub: string) =>
    (await ask(await signed(githubClaims({ sub })), { resource: `${server.baseUrl}/admin` })).body;
  expect(await asAdmin('may')).toHaveProperty('access_token');
  expect(await asAdmin('may not')).toMatchObject({ error: 'invalid_target' });
});
