// Guessing the secrets of clients: how often, and who is not held up by it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const WEAK = 'sixteen-letters!';
let server: TestServer;
let offset = 0;
beforeAll(async () => {
  server = await startTestServer({
    env: { SVC_TRUST_PROXY: '127.0.0.1' },
    now: () => new Date(Date.now() + offset),
    costly: true,
  });
  await makeRealm(server, 'acme');
  const clients = Array.from({ length: 12 }, (_, i) => ({ clientId: `weak-${i}`, secret: `${WEAK}-${i}` }));
  for (const client of [...clients, { clientId: 'strong', secret: SECRET }])
    await makeClient(server, 'acme', { ...client, grantTypes: ['client_credentials'] });
}, 60_000);
afterAll(() => server?.stop());

async function ask(clientId: string, secret: string, address = '192.0.2.1'): Promise<number> {
  const form = { grant_type: 'client_credentials' };
  const headers = { authorization: basic(clientId, secret), 'x-forwarded-for': address };
  return (await post(server, 'acme', 'token', form, headers)).status;
}
const many = (count: number, clientId: string, address?: string) =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(clientId, `guess-${i}-of-the-secret`, address)));

test('one address may be wrong ten times about a client, whether there is such a client or not', async () => {
  for (const clientId of ['weak-0', 'strong', 'nobody']) {
    const told = await many(30, clientId);
    expect(
      told.filter((status) => status === 401),
      clientId,
    ).toHaveLength(10);
    expect(
      told.filter((status) => status === 429),
      clientId,
    ).toHaveLength(20);
  }
  // The right one isn't told to who guesses, and is to everybody else; a secret that nobody guesses is taken at any time.
  expect(await ask('weak-0', `${WEAK}-0`)).toBe(429);
  expect(await ask('weak-0', `${WEAK}-0`, '192.0.2.2')).toBe(200);
  expect(await ask('strong', SECRET)).toBe(200);
  offset += 300_000;
  expect(await ask('weak-0', `${WEAK}-0`)).toBe(200);
});

test('the same wrong secret again is no further guess', async () => {
  const told = await Promise.all(Array.from({ length: 40 }, () => ask('weak-1', 'the secret of last year')));
  expect(new Set(told)).toEqual(new Set([401]));
  expect(await ask('weak-1', `${WEAK}-1`)).toBe(200);
});

test('a flood of guesses at clients and made-up names holds up no client that comes for the first time', async () => {
  offset += 300_000;
  const flood = [
    ...Array.from({ length: 300 }, (_, i) => ask(`made-up-${i}`, `guess-${i}-of-the-secret`)),
    ...Array.from({ length: 300 }, (_, i) => ask('weak-2', `guess-${i}-of-the-secret`, `198.51.100.${i % 200}`)),
  ];
  await flood[0];
  const first = await Promise.all([3, 4, 5, 6, 7, 8, 9, 10, 11].map((i) => ask(`weak-${i}`, `${WEAK}-${i}`)));
  expect(new Set(first)).toEqual(new Set([200]));
  await Promise.all(flood);
}, 60_000);

test('a refused client is named in the audit log, whichever way it named itself and wherever it asked', async () => {
  const address = '203.0.113.9';
  const jwt = `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.${Buffer.from('{"sub":"by-assertion"}').toString('base64url')}.AA`;
  const forms: [string, Record<string, string>, Record<string, string>][] = [
    ['token', { grant_type: 'client_credentials' }, { authorization: basic('by-header', 'wrong') }],
    ['token', { grant_type: 'client_credentials', client_id: 'by-form', client_secret: 'wrong' }, {}],
    [
      'token',
      {
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: jwt,
      },
      {},
    ],
    ['introspect', { token: 'x' }, { authorization: basic('at-introspection', 'wrong') }],
    ['revoke', { token: 'x' }, { authorization: basic('at-revocation', 'wrong') }],
    ['token', { grant_type: 'x', client_id: `täuschung\u202e${'x'.repeat(400)}` }, {}],
    // Without a colon it may be a secret.
    ['token', { grant_type: 'x' }, { authorization: `Basic ${Buffer.from('only-a-secret').toString('base64')}` }],
  ];
  for (const [endpoint, form, headers] of forms)
    expect((await post(server, 'acme', endpoint, form, { ...headers, 'x-forwarded-for': address })).status).toBe(401);
  const told = async () =>
    (
      await server.admin.call(listEvents, {
        params: { realm: 'acme' },
        query: { type: 'TOKEN_REFUSED', limit: 1000 },
      })
    ).body!.filter(({ ipAddress }) => ipAddress === address);
  await expect.poll(async () => (await told()).length).toBe(forms.length);
  expect((await told()).map(({ clientId }) => clientId).toReversed()).toEqual([
    'by-header',
    'by-form',
    'by-assertion',
    'at-introspection',
    'at-revocation',
    `t?uschung?${'x'.repeat(245)}`,
    null,
  ]);
});
