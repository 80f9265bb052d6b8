// Owns: gateways that are slow, that hang in the middle, and that ask for time: what becomes of their messages, and of others'.
// Does not own: what is said to a gateway (messaging.gateways.test.ts), gateways that refuse (messaging.delivery.test.ts).
// Implements: decisions "Messaging".
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listMessages, registerPushToken } from '../../../server/contract/messages.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createUser } from '../../../server/contract/users.ts';
import { type Apns, type MailServer, startApns, startMailServer } from '../../support/gateways.ts';
import { type Asking, startAsking } from '../../support/messages.ts';
import { eventually } from '../../support/operator.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let mail: MailServer;
let apns: Apns;
let receiver: Receiver;
let silent: Receiver;
let asking: Asking;
let folder = '';

/** It greets, and answers nothing more. */
const sockets = new Set<Socket>();
let mute: Server;
beforeAll(async () => {
  [mail, apns, receiver, silent] = await Promise.all([
    startMailServer(),
    startApns(),
    startReceiver(),
    startReceiver(),
  ]);
  mute = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.write('220 mute ESMTP\r\n');
    socket.once('data', () => socket.write('250 mute\r\n'));
  });
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(path.join(os.tmpdir(), 'hanging-'));
  const file = path.join(folder, 'ca.crt');
  const own = await Promise.all([receiver, silent].map(({ caFile }) => readFile(caFile, 'utf8')));
  await writeFile(file, [mail.ca, apns.ca, ...own].join('\n'));
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: file }, retryDelaysSeconds: [0, 0] });
  asking = startAsking(server);
});
afterAll(async () => {
  await asking?.stop();
  await Promise.all([mail?.stop(), receiver?.stop(), silent?.stop()]);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => mute?.close(resolve));
  await server?.stop();
  await apns?.stop();
  if (folder) await rm(folder, { recursive: true });
});

async function realmWith(realm: string, body: Parameters<typeof provide>[1]) {
  await server.admin.call(createRealm, { body: { realm } });
  const user = { username: 'ada', email: 'ada@example.com' };
  const userId = (await server.admin.call(createUser, { params: { realm }, body: user })).body?.id ?? '';
  await provide(realm, body);
  return userId;
}
const provide = (realm: string, body: (typeof putMessagingProvider)['body']['_zod']['input']) =>
  server.admin.call(putMessagingProvider, { params: { realm }, body });
const messages = async (realm: string) =>
  (await server.admin.call(listMessages, { params: { realm }, query: {} })).body ?? [];
const code = (realm: string, userId: string, to: string, templateKey: 'otp-email' | 'otp-sms' = 'otp-email') =>
  asking.ask({ realm, userId, to, templateKey, values: { code: '493817' } });

test('a gateway that asks for time is asked no sooner', async () => {
  const userId = await realmWith('patient', { channel: 'SMS', driver: 'http', config: { url: receiver.url } });
  receiver.answer = () =>
    receiver.received.length === 1 ? { status: 429, headers: { 'retry-after': '2' } } : { status: 200 };
  await code('patient', userId, '+491701234567', 'otp-sms');
  await eventually(async () => expect(await messages('patient')).toMatchObject([{ status: 'sent', attempts: 2 }]));
  const [first, second] = receiver.received;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1_900);
});

test('many mails go over few connections, which are another realm’s never', async () => {
  const config = { host: '127.0.0.1', port: mail.port };
  for (const [i, realm] of ['pooled', 'beside'].entries()) {
    const userId = await realmWith(realm, { channel: 'EMAIL', driver: 'smtp', config });
    const before = mail.connections();
    for (let n = 0; n < 30; n += 1) await code(realm, userId, `person${n}@example.com`);
    await eventually(async () => expect(mail.mails).toHaveLength(30 * (i + 1)));
    const opened = mail.connections() - before;
    expect(opened).toBeGreaterThan(0);
    expect(opened).toBeLessThanOrEqual(6);
  }
});

test('gateways that hang, by SMTP, HTTP and HTTP/2, hold up nobody else’s messages', async () => {
  silent.answer = () => new Promise(() => {});
  apns.answer = () => 'nothing';
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const byMail = await realmWith('by-mail', {
    channel: 'EMAIL',
    driver: 'smtp',
    config: { host: '127.0.0.1', port: (mute.address() as AddressInfo).port, tls: 'none' },
  });
  const byHttp = await realmWith('by-http', { channel: 'SMS', driver: 'http', config: { url: silent.url } });
  const byApns = await realmWith('by-apns', {
    channel: 'PUSH',
    driver: 'apns',
    config: { teamId: 'TEAM123456', keyId: 'KEY1234567', bundleId: 'com.example.app', apiUrl: apns.url },
    secret,
  });
  const device = { userId: byApns, platform: 'apns' as const, token: 'a'.repeat(64), deviceName: 'Phone' };
  await server.admin.call(registerPushToken, { params: { realm: 'by-apns' }, body: device });
  for (let n = 0; n < 10; n += 1) {
    await code('by-mail', byMail, `person${n}@example.com`);
    await code('by-http', byHttp, `+49170123456${n}`, 'otp-sms');
    await asking.ask({ realm: 'by-apns', userId: byApns, templateKey: 'push-challenge' });
  }
  await eventually(async () => expect([sockets.size, silent.received.length, apns.pushes.length]).toEqual([6, 6, 6]));
  const userId = await realmWith('others', { channel: 'SMS', driver: 'http', config: { url: receiver.url } });
  await code('others', userId, '+491701234567', 'otp-sms');
  await eventually(async () => expect(await messages('others')).toMatchObject([{ status: 'sent' }]));
  for (const realm of ['by-mail', 'by-http', 'by-apns'])
    expect((await messages(realm)).map(({ attempts }) => attempts)).toEqual(Array(10).fill(0));
});

test('a gateway that hangs holds up none of its realm’s other channels', async () => {
  silent.received.length = 0;
  silent.answer = () => new Promise(() => {});
  const userId = await realmWith('both', { channel: 'SMS', driver: 'http', config: { url: silent.url } });
  await provide('both', { channel: 'EMAIL', driver: 'smtp', config: { host: '127.0.0.1', port: mail.port } });
  for (let n = 0; n < 10; n += 1) await code('both', userId, `+49170123457${n}`, 'otp-sms');
  await eventually(async () => expect(silent.received).toHaveLength(6));
  await code('both', userId, 'ada@example.com');
  const byChannel = async (wanted: string) => (await messages('both')).filter(({ channel }) => channel === wanted);
  await eventually(async () => expect(await byChannel('EMAIL')).toMatchObject([{ status: 'sent' }]));
  expect((await byChannel('SMS')).map(({ attempts }) => attempts)).toEqual(Array(10).fill(0));
});

test('a push after one that hung goes over a new connection', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const userId = await realmWith('half-open', {
    channel: 'PUSH',
    driver: 'apns',
    config: { teamId: 'TEAM777777', keyId: 'KEY1234567', bundleId: 'com.example.app', apiUrl: apns.url },
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  });
  const device = { userId, platform: 'apns' as const, token: 'b'.repeat(64), deviceName: 'Phone' };
  await server.admin.call(registerPushToken, { params: { realm: 'half-open' }, body: device });
  const before = apns.connections();
  apns.answer = ({ headers }) =>
    String(headers[':path']).endsWith('bbbb') && apns.connections() === before + 1 ? 'nothing' : { status: 200 };
  await asking.ask({ realm: 'half-open', userId, templateKey: 'push-challenge' });
  await expect.poll(() => messages('half-open')).toMatchObject([{ status: 'sent', attempts: 2 }]);
});

test('Apple is asked again where it has had too many, and what a gateway says that makes no sense is told', async () => {
  const key = (pair: { privateKey: KeyObject }) => String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const userId = await realmWith('both-push', {
    channel: 'PUSH',
    driver: 'apns',
    config: { teamId: 'TEAM888888', keyId: 'KEY1234567', bundleId: 'com.example.app', apiUrl: apns.url },
    secret: key(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  });
  const account = {
    client_email: 'push@example.iam',
    private_key: key(generateKeyPairSync('rsa', { modulusLength: 2048 })),
    token_uri: `${receiver.url}/token`,
  };
  const config = { projectId: 'my-project', apiUrl: receiver.url };
  await provide('both-push', { channel: 'PUSH', driver: 'fcm', config, secret: JSON.stringify(account) });
  const params = { realm: 'both-push' };
  for (const [platform, deviceName] of [
    ['apns', 'iPhone'],
    ['fcm', 'Pixel'],
  ] as const)
    await server.admin.call(registerPushToken, { params, body: { userId, platform, deviceName, token: deviceName } });
  let asked = 0;
  apns.answer = ({ headers }) => {
    if (!String(headers[':path']).endsWith('iPhone')) return { status: 200 };
    asked += 1;
    return asked === 1 ? { status: 429, reason: 'TooManyRequests' } : { status: 200 };
  };
  receiver.answer = () => ({ body: 'no JSON at all' });
  await asking.ask({ realm: 'both-push', userId, templateKey: 'push-challenge' });
  const of = async (name: string) => (await messages('both-push')).filter(({ recipient }) => recipient === name);
  await expect.poll(() => of('iPhone')).toMatchObject([{ status: 'sent', attempts: 2 }]);
  const dead = { status: 'dead', attempts: 3, error: expect.stringContaining('no JSON at all') };
  await expect.poll(() => of('Pixel')).toMatchObject([dead]);
});
