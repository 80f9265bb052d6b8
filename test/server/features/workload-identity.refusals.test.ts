// Owns: how many audit rows one address can cause by refused exchanges. Does not own: that each cause is answered with the same bytes and
// named in the audit log (workload-identity.exchange.test.ts), counts of other refusals (events/refusals.test.ts).
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { makeClient, makeRealm } from '../../support/clients.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'acme';
const MINUTE_MS = 60_000;
let server: TestServer;
let issuer: Receiver;
let offset = 0;
type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
let own: Key;
let foreign: Key;

beforeAll(async () => {
  const pair = await generateKeyPair('RS256');
  own = pair.privateKey;
  foreign = (await generateKeyPair('RS256')).privateKey;
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  issuer = await startReceiver();
  issuer.answer = ({ url }) => ({
    body: JSON.stringify(
      url.endsWith('/keys') ? { keys: [jwk] } : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` },
    ),
  });
  server = await startTestServer({
    env: { SVC_OUTBOUND_CA_FILE: issuer.caFile, SVC_TRUST_PROXY: '127.0.0.1' },
    now: () => new Date(Date.now() + offset),
  });
  await makeRealm(server, REALM);
  await makeClient(server, REALM, { clientId: 'api', grantTypes: ['client_credentials'] });
  await server.admin.call(createWorkloadIdentity, {
    params: { realm: REALM },
    body: { name: 'job', issuer: issuer.url, subject: 'job', audience: 'here', clientId: 'api', scopes: 'orders' },
  });
});
afterAll(async () => {
  await server?.stop();
  await issuer?.stop();
});

const seconds = () => Math.floor((Date.now() + offset) / 1000);
const token = (claims: object = {}, key = own) =>
  new SignJWT({ iss: issuer.url, sub: 'job', aud: 'here', iat: seconds(), exp: seconds() + 600, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .sign(key);
const exchange = async (jwt: Promise<string>, more: object = {}) =>
  fetch(`${server.baseUrl}/realms/${REALM}/workload-identity/token`, {
    method: 'POST',
    headers: { 'x-forwarded-for': '192.0.2.1' },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: await jwt,
      ...more,
    }),
  });
const rows = async () => {
  const query = { type: 'WORKLOAD_TOKEN_REFUSED', limit: 1000 };
  return (await server.admin.call(listEvents, { params: { realm: REALM }, query })).body ?? [];
};
const six = <T>(make: (i: number) => T): T[] => Array.from({ length: 6 }, (_, i) => make(i));

test('a workload that is refused for ever new reasons gets ten rows a minute and two counts, and no refusal is lost', async () => {
  const answers = await Promise.all([
    ...six((i) => exchange(token({ iat: seconds() - 9_000, exp: seconds() - 900 - i }))),
    ...six((i) => exchange(token({ iat: seconds() + 900 + i, exp: seconds() + 9_000 }))),
    ...six((i) => exchange(token({ nbf: seconds() + 900 + i }))),
    ...six((i) => exchange(token({ exp: seconds() + 90_000 + i }))),
    ...six((i) => exchange(token(), { resource: `https://other-${i}.example` })),
    ...six((i) => exchange(token({ jti: `forged-${i}` }, foreign))),
  ]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400, 401]));
  await expect.poll(async () => (await rows()).length, { timeout: 5_000 }).toBe(10);

  offset += MINUTE_MS + 1_000;
  await exchange(token({ nbf: seconds() + 900 }));
  await exchange(token({}, foreign));
  await expect.poll(async () => (await rows()).length, { timeout: 5_000 }).toBe(14);
  const counted = (await rows()).flatMap(({ data }) => ('unrecorded' in data ? [data] : []));
  expect(counted).toHaveLength(2);
  expect(counted.map(({ unrecorded }) => unrecorded).toSorted()).toEqual([1, 25]);
  for (const data of counted) expect(data).toMatchObject({ credential: 'job', issuer: issuer.url, subject: 'job' });
});
