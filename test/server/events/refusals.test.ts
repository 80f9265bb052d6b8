import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { newRefreshToken } from '../../../server/crypto/refresh-token.ts';
import { makeClient, makeRealm, post } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let offset = 0;
const lines: string[] = [];

beforeAll(async () => {
  server = await startTestServer({
    env: { SVC_TRUST_PROXY: '127.0.0.1' },
    now: () => new Date(Date.now() + offset),
    lines,
  });
  await makeRealm(server, 'acme');
  await makeClient(server, 'acme', {
    clientId: 'spa',
    tokenEndpointAuthMethod: 'none',
    redirectUris: ['http://127.0.0.1/'],
  });
});
afterAll(() => server?.stop());

/** The refusals of the log, once there are `wanted` of them and no more have come for a while. */
async function refusals(wanted: number, type = 'TOKEN_REFUSED') {
  for (let same = 0, before = -1; ; await sleep(50)) {
    const query = { type, limit: 1000 };
    const { body: events = [] } = await server.admin.call(listEvents, { params: { realm: 'acme' }, query });
    same = events.length === before && events.length >= wanted ? same + 1 : 0;
    before = events.length;
    if (same === 6) return events;
  }
}
const from = (address: string) => ({ 'x-forwarded-for': address });
const guess = (address: string, i: number) =>
  post(server, 'acme', 'token', { grant_type: 'client_credentials', client_id: `made-up-${i}` }, from(address));
/** A public client needs no proof to ask with tokens of its own making. */
const invented = (address: string) => {
  const refresh_token = newRefreshToken('0199a1b2-0000-7000-8000-000000000000').token;
  return post(server, 'acme', 'token', { grant_type: 'refresh_token', client_id: 'spa', refresh_token }, from(address));
};

test('of what one address is refused in a minute the first few are told one by one, and the others as a number', async () => {
  for (let i = 0; i < 15; i += 1) expect((await guess('192.0.2.1', i)).status).toBe(401);
  // one subscriber's addresses are one, and a realm's own client is no way around
  for (let i = 0; i < 15; i += 1) expect((await invented('192.0.2.1')).body.error).toBe('invalid_grant');
  await guess('192.0.2.2', 99);
  const events = await refusals(21);
  expect(events).toHaveLength(21);
  expect(events.filter(({ ipAddress }) => ipAddress === '192.0.2.1')).toHaveLength(20);
  expect(events.filter(({ clientId }) => clientId === 'made-up-99')).toHaveLength(1);

  offset += 61_000;
  await guess('192.0.2.1', 100);
  const later = await refusals(23);
  expect(later).toHaveLength(23);
  expect(later.find(({ data }) => 'unrecorded' in data)).toMatchObject({
    ipAddress: '192.0.2.1',
    clientId: null,
    outcome: 'failure',
    data: { unrecorded: 10 },
  });
});

test('a /64 of IPv6 is one address', async () => {
  offset += 61_000;
  const before = (await refusals(0)).length;
  for (let i = 0; i < 25; i += 1) await guess(`2001:db8::${i + 1}`, i);
  expect((await refusals(before + 20)).length).toBe(before + 20);
});

const authorize = (query: Record<string, string>, address: string) =>
  fetch(`${server.baseUrl}/realms/acme/oauth2/authorize?${new URLSearchParams(query)}`, {
    headers: from(address),
    redirect: 'manual',
  });

test('an unknown client and a foreign redirect URI leave an event and a line that say who, what and from where', async () => {
  const good = { client_id: 'spa', redirect_uri: 'http://127.0.0.1/', response_type: 'code' };
  for (const query of [
    { ...good, client_id: 'n\u00f6body\n' },
    { ...good, redirect_uri: `https://thief.example/${'x'.repeat(1_000)}` },
  ])
    expect((await authorize(query, '192.0.2.7')).status).toBe(400);
  // What goes to the application is its own to look at.
  expect((await authorize({ ...good, prompt: 'none' }, '192.0.2.7')).status).toBe(303);
  const events = await refusals(2, 'AUTHORIZATION_REFUSED');
  expect(events.toReversed()).toMatchObject([
    { clientId: 'n?body?', ipAddress: '192.0.2.7', outcome: 'failure', data: { redirectUri: 'http://127.0.0.1/' } },
    { clientId: 'spa', ipAddress: '192.0.2.7', outcome: 'failure', data: { error: 'invalid_request' } },
  ]);
  expect(events[0]?.data.redirectUri).toMatch(/^https:\/\/thief\.example\/x{478}$/);
  const line = lines.map((text) => JSON.parse(text)).find(({ client }) => client === 'n?body?');
  expect(line).toMatchObject({ realm: 'acme', address: '192.0.2.7', msg: 'invalid_request' });
});

test('a flood of these is told as a number, and hides no other kind of refusal', async () => {
  offset += 61_000;
  const before = (await refusals(0)).length;
  for (let i = 0; i < 30; i += 1) await authorize({ client_id: `made-up-${i}` }, '192.0.2.8');
  expect(await refusals(22, 'AUTHORIZATION_REFUSED')).toHaveLength(22);
  await guess('192.0.2.8', 1);
  expect(await refusals(before + 1)).toHaveLength(before + 1);
  expect(lines.some((text) => JSON.parse(text).client === 'made-up-1' && text.includes('"realm":"acme"'))).toBe(true);
});

test('the same refusal of a workload again and again is told as a number, and none is lost', async () => {
  const workload = { issuer: 'https://issuer.example', subject: 'job', audience: 'realmkeeper' };
  await server.admin.call(createWorkloadIdentity, {
    params: { realm: 'acme' },
    body: { ...workload, name: 'off', clientId: 'spa', scopes: '', enabled: false },
  });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor((Date.now() + offset) / 1000);
  const token = (sub: string) =>
    `${part({ alg: 'RS256' })}.${part({ iss: workload.issuer, sub, aud: workload.audience, iat, exp: iat + 60 })}.AA`;
  const exchange = (sub: string) =>
    fetch(`${server.baseUrl}/realms/acme/workload-identity/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...from('192.0.2.9') },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        subject_token: token(sub),
      }),
    });
  const strangers = Array.from({ length: 30 }, (_, i) => exchange(`stranger-${i}`));
  const answers = await Promise.all([...strangers, ...Array.from({ length: 25 }, () => exchange('job'))]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  const type = 'WORKLOAD_TOKEN_REFUSED';
  const first = await refusals(25, type);
  expect(first).toHaveLength(25);
  expect(first.filter(({ data }) => data.credential === 'off')).toHaveLength(5);
  offset += 61_000;
  await Promise.all([exchange('job'), exchange('stranger')]);
  const later = await refusals(29, type);
  expect(later).toHaveLength(29);
  const counted = later.filter(({ data }) => 'unrecorded' in data).map(({ data }) => data);
  expect(counted).toHaveLength(2);
  expect(counted).toContainEqual(expect.objectContaining({ unrecorded: 10 }));
  const { issuer, subject } = workload;
  expect(counted).toContainEqual(
    expect.objectContaining({
      unrecorded: 20,
      issuer,
      subject,
      credential: 'off',
      reason: 'the credential is disabled',
    }),
  );
});
