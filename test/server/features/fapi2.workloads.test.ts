// FAPI 2.0 of a realm, and the workloads that exchange their platform's token: they too get no token that is not bound to a key.
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { type Keys, makeKeys } from '../../support/bank.ts';
import { claimsIn, makeClient, makeRealm } from '../../support/clients.ts';
import { makeProofKey, type ProofKey } from '../../support/dpop.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'bank';
const params = { realm: REALM };
let server: TestServer;
let platform: Receiver;
let keys: Keys;
let key: ProofKey;
let id: string;

beforeAll(async () => {
  [platform, keys, key] = await Promise.all([startReceiver(), makeKeys('RS256'), makeProofKey()]);
  platform.answer = () => ({ body: JSON.stringify({ keys: [keys.jwk] }) });
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: platform.caFile, SVC_WORKLOAD_RATE_LIMIT: '1000' } });
  await makeRealm(server, REALM);
  id = await makeClient(server, REALM, { clientId: 'payments', grantTypes: ['client_credentials'] });
  const body = {
    name: 'pod',
    issuer: platform.url,
    jwksUri: `${platform.url}/keys`,
    subject: 'pod',
    audience: 'realmkeeper',
    clientId: 'payments',
    scopes: 'pay',
  };
  await server.admin.call(createWorkloadIdentity, { params, body });
});
afterAll(async () => {
  await server?.stop();
  await platform?.stop();
});

const at = (path: string) => `${server.baseUrl}/realms/${REALM}/${path}`;
const presentations = {
  'workload-identity/token': (jwt: string) => ({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: jwt,
  }),
  'oauth2/token': (jwt: string) => ({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: jwt }),
};
const paths = ['workload-identity/token', 'oauth2/token'] as const;

async function ask(path: keyof typeof presentations, { bound }: { bound: boolean }) {
  const jwt = await new SignJWT({})
    .setProtectedHeader({ alg: keys.alg, kid: keys.kid })
    .setIssuer(platform.url)
    .setSubject('pod')
    .setAudience('realmkeeper')
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(keys.privateKey);
  const send = async (nonce?: string) => {
    const dpop = await key.proof({ htu: at(path), claims: nonce === undefined ? {} : { nonce } });
    const body = new URLSearchParams(presentations[path](jwt));
    const answer = await fetch(at(path), { method: 'POST', body, headers: bound ? { dpop } : {} });
    return { nonce: answer.headers.get('dpop-nonce') ?? '', body: Object(await answer.json()) };
  };
  const first = await send();
  return first.body.error === 'use_dpop_nonce' ? (await send(first.nonce)).body : first.body;
}

test.each(paths)('without a profile, %s gives a bearer token', async (path) => {
  expect((await ask(path, { bound: false })).token_type).toBe('Bearer');
});

test('under a realm’s profile, a workload’s client has to meet it', async () => {
  await server.admin.call(putSettings, { params, body: { profile: 'fapi2-security' } });
  for (const path of paths) expect((await ask(path, { bound: true })).error).toBe('unauthorized_client');
  const query = { type: 'WORKLOAD_TOKEN_REFUSED' };
  await expect
    .poll(async () => (await server.admin.call(listEvents, { params, query })).body?.map(({ data }) => data?.reason))
    .toContainEqual(expect.stringContaining('tokenEndpointAuthMethod must be one of private_key_jwt'));
});

test.each(paths)('and a workload has to prove a key, at %s', async (path) => {
  const { jwk } = await makeKeys('ES256');
  const body = { tokenEndpointAuthMethod: 'private_key_jwt' as const, jwks: { keys: [jwk] } };
  await server.admin.call(putClient, { params: { ...params, id }, body });
  expect((await ask(path, { bound: false })).error).toBe('invalid_dpop_proof');
  const given = await ask(path, { bound: true });
  expect(given.token_type).toBe('DPoP');
  expect(claimsIn(given.access_token)).toMatchObject({
    cnf: { jkt: expect.any(String) },
    workload: { subject: 'pod' },
  });
});
