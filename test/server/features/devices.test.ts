// Devices are enrolled by tokens, prove themselves by what they sign, are listed and removed; and who isn't theirs gets nowhere.
import { generateKeyPair } from 'jose';
import { expect, test } from 'vitest';
import { createEnrolmentToken } from '../../../server/contract/devices.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listPushTokens } from '../../../server/contract/messages.ts';
import { deleteCredential, listCredentials, putUser } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { createDevice } from '../../support/device.ts';
import { deviceFor } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let alice = '';
let bob = '';
const { seconds, later } = freshRealms('d', startTestServer, async (started, fresh) => {
  server = started;
  realm = fresh;
  [alice = '', bob = ''] = await makePeopledRealm(server, realm, ['alice', 'bob']);
});
const tokenFor = async (userId: string) =>
  (await server.admin.call(createEnrolmentToken, { params: { realm, userId } })).body ?? { token: '', url: '' };
const devicesOf = async (userId: string) =>
  (await server.admin.call(listCredentials, { params: { realm, userId } })).body?.filter(
    ({ type }) => type === 'device',
  );
const types = async () => (await server.admin.call(listEvents, { params: { realm } })).body?.map(({ type }) => type);

test.each(['ES256', 'EdDSA'] as const)(
  'a device with an %s key is enrolled, listed without its key, and removed',
  async (algorithm) => {
    const { url } = await tokenFor(alice);
    const push = { platform: 'fcm' as const, token: 'at-the-gateway' };
    const device = await createDevice(url, { algorithm, name: 'Pixel', clock: seconds, push });
    const started = await device.start();
    expect(started.body).toMatchObject({ realm, username: 'alice', algorithms: ['ES256', 'EdDSA'] });
    const enrolled = await device.enrol();
    expect(enrolled).toMatchObject({ status: 201, body: { status: 'active' } });
    const { deviceId } = enrolled.body;
    const listed = await devicesOf(alice);
    expect(listed).toEqual([
      { id: deviceId, type: 'device', label: 'Pixel', createdAt: expect.any(Number), lastUsedAt: null },
    ]);
    const tokens = () => server.admin.call(listPushTokens, { params: { realm } });
    expect((await tokens()).body).toMatchObject([{ userId: alice, platform: 'fcm', deviceName: 'Pixel' }]);
    expect(await device.waiting()).toEqual({ status: 200, body: [] });
    expect(await device.ask('PUT', '/device/push-token', {}, { platform: 'fcm', token: 'another' })).toMatchObject({
      status: 204,
    });
    expect((await tokens()).body).toHaveLength(1);
    expect(await types()).toEqual(
      expect.arrayContaining(['DEVICE_ENROLMENT_OFFERED', 'DEVICE_ENROLMENT_USED', 'CREDENTIAL_CREATED']),
    );

    const params = { realm, userId: alice, type: 'device', id: deviceId };
    await server.admin.call(deleteCredential, { params });
    expect((await device.waiting()).status).toBe(401);
    expect((await tokens()).body).toEqual([]);
  },
);

test('a token works once, for ten minutes, in its realm, and as it was made', async () => {
  const first = await createDevice((await tokenFor(alice)).url, { clock: seconds });
  expect((await first.enrol()).status).toBe(201);
  expect((await first.start()).status).toBe(401);

  const { url, token } = await tokenFor(alice);
  const other = `${realm}-other`;
  await makePeopledRealm(server, other);
  const elsewhere = await createDevice(url.replace(`/realms/${realm}/`, `/realms/${other}/`), { clock: seconds });
  expect((await elsewhere.start()).status).toBe(401);
  const changed = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  const wrong = await createDevice(url.replace(token, changed), { clock: seconds });
  expect((await wrong.start()).status).toBe(401);
  const late = await createDevice(url, { clock: seconds });
  expect((await late.start()).status).toBe(200);
  later(601_000);
  expect((await late.start()).status).toBe(401);
});

test('two devices at once with one token: one is enrolled', async () => {
  const { url } = await tokenFor(alice);
  const both = await Promise.all([createDevice(url, { clock: seconds }), createDevice(url, { clock: seconds })]);
  const answers = await Promise.all(both.map((device) => device.enrol().catch(() => ({ status: 401 }))));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 401]);
  expect(await devicesOf(alice)).toHaveLength(1);
});

test('a key that its sender doesn’t hold, or that is none, is not enrolled, and the token stays good', async () => {
  const { url } = await tokenFor(alice);
  const device = await createDevice(url, { clock: seconds });
  const another = await createDevice(url, { clock: seconds });
  const { challenge } = (await another.start()).body;
  const bad: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ proof: await another.sign({ aud: `${device.realm}/device/enroll`, challenge }) }, {}],
    [{}, { challenge: 'another' }],
    [{}, { aud: `${device.realm}/push` }],
    [{}, { iat: seconds() - 600 }],
    [{}, { iat: seconds() + 600 }],
    [{ proof: 'none' }, {}],
    [{ publicKey: { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) } }, {}],
    [{ publicKey: { kty: 'RSA', n: 'x', e: 'AQAB' } }, {}],
    [{ publicKey: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43), d: 'A'.repeat(43) } }, {}],
    [{ name: '' }, {}],
  ];
  for (const [change, claims] of bad)
    expect((await device.enrol(change, claims)).status, JSON.stringify([change, claims])).toBe(400);
  expect(await devicesOf(alice)).toEqual([]);
  expect((await device.enrol()).status).toBe(201);
});

test('what a device signs counts for its address and moment alone, by its own key', async () => {
  const device = await deviceFor(server, realm, alice, { clock: seconds });
  const other = await deviceFor(server, realm, bob, { clock: seconds });
  const send = async (jws: string) =>
    (await fetch(`${device.realm}/push`, { headers: { authorization: `Device ${jws}` } })).status;
  const aud = `${device.realm}/push`;
  expect(await send(await device.sign({ aud }))).toBe(200);
  expect(await send(await device.sign({ aud: `${device.realm}/device/push-token` }))).toBe(401);
  expect(await send(await device.sign({ aud, iat: seconds() - 300 }))).toBe(401);
  expect(await send(await device.sign({ aud }, { typ: 'JWT' }))).toBe(401);
  expect(await send(await other.sign({ aud }, { kid: device.id() }))).toBe(401);
  const { publicKey } = await generateKeyPair('ES256');
  expect(await send(await device.sign({ aud }, { jwk: publicKey, kid: other.id() }))).toBe(401);
  const [, payload = ''] = (await device.sign({ aud })).split('.');
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'device+jwt', kid: device.id() })).toString('base64url');
  expect(await send(`${none}.${payload}.`)).toBe(401);
  expect((await fetch(`${device.realm}/push`)).status).toBe(401);
  await server.admin.call(putUser, { params: { realm, userId: alice }, body: { enabled: false } });
  expect(await send(await device.sign({ aud }))).toBe(401);
});

test('guesses of tokens and signatures from one address come to an end', async () => {
  const at = `${server.baseUrl}/realms/${realm}/push`;
  const statuses: number[] = [];
  for (let tries = 0; tries < 22; tries += 1) statuses.push((await fetch(at)).status);
  expect(statuses.slice(0, 20).every((status) => status === 401)).toBe(true);
  expect(statuses.slice(20)).toEqual([429, 429]);
});

test('requests that are refused stop no device of the same address, and no application', async () => {
  const device = await deviceFor(server, realm, alice, { clock: seconds });
  const at = `${server.baseUrl}/realms/${realm}`;
  for (let tries = 0; tries < 21; tries += 1) await fetch(`${at}/push`);
  expect((await fetch(`${at}/push`)).status).toBe(429);
  expect((await device.waiting()).status).toBe(200);
  expect((await deviceFor(server, realm, alice, { clock: seconds })).id()).not.toBe('');
  expect((await fetch(`${at}/tx`, { method: 'POST' })).status).toBe(401);
});

test('only who holds what the person holds makes a token for them', async () => {
  await expect(
    server.admin.call(createEnrolmentToken, { params: { realm, userId: '0190c6a1-6f5e-7c39-8b6a-3f1d5c7e9a20' } }),
  ).rejects.toMatchObject({ status: 404 });
});
