// Transactions: what the device shows is what it signs, for one application, one person and one amount, once.
import { compactVerify, importJWK } from 'jose';
import { expect, test } from 'vitest';
import { createClientScope } from '../../../server/contract/client-scopes.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { deleteCredential } from '../../../server/contract/users.ts';
import { CALLBACK, getCode, makePeopledRealm, redeem } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import type { Answered, Device } from '../../support/device.ts';
import { deviceFor } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let alice = '';
let bob = '';
let token = '';
const { seconds, later } = freshRealms('t', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  [alice = '', bob = ''] = await makePeopledRealm(server, realm, ['alice', 'bob']);
  await server.admin.call(createClientScope, { params: { realm }, body: { name: 'transactions' } });
  for (const clientId of ['bank', 'shop'])
    await makeClient(server, realm, {
      clientId,
      tokenEndpointAuthMethod: 'none',
      redirectUris: [CALLBACK],
      optionalClientScopes: ['transactions'],
    });
  token = await tokenOf('bank');
});

const phone = (userId = alice) => deviceFor(server, realm, userId, { clock: seconds });
async function tokenOf(clientId: string, username = 'alice', scope = 'openid transactions'): Promise<string> {
  const grant = await getCode(server, realm, clientId, { username, parameters: { scope } });
  return String((await redeem(server, realm, clientId, grant)).body.access_token);
}
async function ask(method: string, path: string, body?: object, bearer = token): Promise<Answered> {
  const response = await fetch(`${server.baseUrl}/realms/${realm}/tx${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}
const linked = { amount: '12.50', currency: 'EUR', payee: 'Example Ltd' };
const said = { text: 'Pay 12.50 EUR to Example Ltd', ...linked };
const sign = (device: Device, { id, challenge }: { id: string; challenge: string }, change: object = {}) =>
  device.ask('POST', `/tx/${id}/sign`, { challenge, decision: 'approve', ...said, ...change });
/** One that waits, as the device sees it. */
async function waiting(device: Device, body: object = said) {
  const { status, body: created } = await ask('POST', '', body);
  expect([status, created.status]).toEqual([201, 'waiting']);
  const list = (await device.ask('GET', '/tx')).body;
  return list.find(({ id }: { id: string }) => id === created.id);
}
const stateOf = async (id: string) => (await ask('GET', `/${id}`)).body.status;

test('what is shown is signed by the device, and consumed once with what was signed', async () => {
  const device = await phone();
  const transaction = await waiting(device);
  expect(transaction).toMatchObject({ ...said, username: 'alice', application: 'bank' });
  expect((await ask('POST', `/${transaction.id}/consume`, linked)).status).toBe(409);
  expect((await sign(device, transaction)).status).toBe(204);
  expect(await stateOf(transaction.id)).toBe('signed');
  expect((await sign(device, transaction)).status).toBe(409);
  const both = await Promise.all([1, 2].map(() => ask('POST', `/${transaction.id}/consume`, linked)));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  const { signature, publicKey } = both.find(({ status }) => status === 200)?.body ?? {};
  const { payload } = await compactVerify(signature, await importJWK(publicKey, 'ES256'));
  expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({ ...said, decision: 'approve' });
  expect(await stateOf(transaction.id)).toBe('consumed');
  const { body: events = [] } = await server.admin.call(listEvents, { params: { realm } });
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['TRANSACTION_CREATED', 'TRANSACTION_SIGNED', 'TRANSACTION_CONSUMED']),
  );
});

test('another amount or payee makes it void for good', async () => {
  const device = await phone();
  for (const change of [{ amount: '1250' }, { payee: 'Another Ltd' }, { currency: 'USD' }, { amount: undefined }]) {
    const transaction = await waiting(device);
    await sign(device, transaction);
    const answer = await ask('POST', `/${transaction.id}/consume`, { ...linked, ...change });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: Object.keys(change)[0] }] } });
    expect((await ask('POST', `/${transaction.id}/consume`, linked)).status).toBe(409);
    expect(await stateOf(transaction.id)).toBe('void');
  }
});

test('a device that signs other words, another amount or another challenge has signed nothing', async () => {
  const device = await phone();
  const transaction = await waiting(device);
  const changes = [
    { text: 'Pay 1 EUR' },
    { amount: '1.00' },
    { payee: null },
    { challenge: 'x' },
    { decision: 'maybe' },
  ];
  for (const change of changes) {
    const answer = await sign(device, transaction, change);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: Object.keys(change)[0] }] } });
  }
  expect(await stateOf(transaction.id)).toBe('waiting');
});

test('what is refused or too old can’t be signed or consumed', async () => {
  const device = await phone();
  const refused = await waiting(device, { text: 'Log in to the till' });
  expect((await sign(device, refused, { decision: 'deny' })).status).toBe(204);
  expect((await ask('POST', `/${refused.id}/consume`, {})).status).toBe(409);
  const [old, signed] = [await waiting(device), await waiting(device)];
  await sign(device, signed);
  later(301_000);
  expect((await sign(device, old)).status).toBe(409);
  expect((await ask('POST', `/${signed.id}/consume`, linked)).status).toBe(409);
  expect([await stateOf(old.id), await stateOf(signed.id), await stateOf(refused.id)]).toEqual([
    'expired',
    'expired',
    'denied',
  ]);
});

test('another application, another person and another person’s device see nothing of it', async () => {
  const others = [await tokenOf('shop'), await tokenOf('bank', 'bob')];
  const narrow = await tokenOf('bank', 'alice', 'openid');
  const [device, theirs] = [await phone(), await phone(bob)];
  const transaction = await waiting(device);
  const { id } = transaction;
  for (const other of others) {
    expect((await ask('GET', `/${id}`, undefined, other)).status).toBe(404);
    expect((await ask('POST', `/${id}/consume`, linked, other)).status).toBe(404);
  }
  expect((await theirs.ask('GET', '/tx')).body).toEqual([]);
  expect((await sign(theirs, transaction)).status).toBe(404);
  expect((await ask('POST', '', said, narrow)).status).toBe(403);
  expect((await ask('POST', '', said, 'none')).status).toBe(401);
});

test('what isn’t whole is refused, and no more than five wait for a person', async () => {
  const device = await phone();
  for (const bad of [
    {},
    { text: '' },
    { ...said, amount: '12,50' },
    { ...said, currency: undefined },
    { ...said, x: 1 },
  ])
    expect((await ask('POST', '', bad)).status, JSON.stringify(bad)).toBe(400);
  for (let n = 0; n < 5; n += 1) await waiting(device);
  expect((await ask('POST', '', said)).status).toBe(429);
});

test('what a device signed that was removed since is void', async () => {
  const device = await phone();
  const lost = await waiting(device);
  await sign(device, lost);
  const params = { realm, userId: alice, type: 'device', id: device.id() };
  await server.admin.call(deleteCredential, { params });
  // All tokens of the person ended with it.
  token = await tokenOf('bank');
  expect((await ask('POST', `/${lost.id}/consume`, linked)).status).toBe(409);
  expect(await stateOf(lost.id)).toBe('void');
  const { body: events = [] } = await server.admin.call(listEvents, { params: { realm } });
  expect(events.find(({ type }) => type === 'TRANSACTION_VOID')?.data).toEqual({
    transaction: lost.id,
    reason: 'device',
  });
});

test('nothing hidden or turned around is shown for signing, and joiners that a script needs are', async () => {
  const bad: [string, object][] = [
    ['text', { text: 'Pay \u202e1000\u202c EUR' }],
    ['text', { text: 'Pay 1\u200b2 EUR' }],
    ['text', { text: 'Pay 1\u200d2 EUR' }],
    ['text', { text: 'Pay 12 EUR\u3164' }],
    ['text', { text: 'Pay 12 EUR\u2028to Eve' }],
    ['text', { text: 'Pay 12 EUR to Cafe\u0301' }],
    ['text', { text: '\u0645\u06cc\u200c\u200c\u062e' }],
    ['text', { text: `Pay 12 EUR${' '.repeat(300)}and 9000 EUR to Eve` }],
    ['text', { text: `Pay 12 EUR${'\u3000\u00a0'.repeat(150)}and 9000 EUR to Eve` }],
    ['text', { text: 'Pay 12 EUR\nand 9000 EUR to Eve' }],
    ['text', { text: ' Pay 12 EUR' }],
    ['payee', { payee: 'Example  Ltd' }],
    ['payee', { payee: 'Example\u2066 Ltd' }],
    ['payee', { payee: 'Exam\u200cple Ltd' }],
    ['amount', { amount: '00000012.50' }],
    ['amount', { amount: '00' }],
  ];
  for (const [path, change] of bad)
    expect(await ask('POST', '', { ...said, ...change }), JSON.stringify(change)).toMatchObject({
      status: 400,
      body: { errors: [{ path }] },
    });
  const good = [
    'Pay 12.50\u00a0EUR to Caf\u00e9',
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '\u0915\u094d\u200d\u0937',
    '\u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u2764\ufe0f',
  ];
  for (const words of good)
    expect(await ask('POST', '', { text: words, amount: '0.50', currency: 'EUR' })).toMatchObject({
      status: 201,
      body: { text: words },
    });
});
