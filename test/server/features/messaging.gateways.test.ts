// What each driver says to its gateway, by the test of a provider: real SMTP, HTTPS and HTTP/2 on loopback.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Channel } from '../../../server/contract/message-drivers.ts';
import { testMessagingProvider } from '../../../server/contract/messages.ts';
import * as api from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import {
  type Apns,
  MAIL_PASSWORD,
  MAIL_USER,
  type MailServer,
  startApns,
  startMailServer,
} from '../../support/gateways.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let mail: MailServer;
let mailTls: MailServer;
let receiver: Receiver;
let apns: Apns;
let folder: string;
let realm = '';
let realms = 0;

beforeAll(async () => {
  [mail, mailTls, receiver, apns] = await Promise.all([
    startMailServer(),
    startMailServer({ implicitTls: true }),
    startReceiver(),
    startApns(),
  ]);
  folder = await mkdtemp(path.join(os.tmpdir(), 'gateways-'));
  const file = path.join(folder, 'ca.crt');
  await writeFile(file, [mail.ca, mailTls.ca, apns.ca, await readFile(receiver.caFile, 'utf8')].join('\n'));
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: file } });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([mail, mailTls, receiver, apns].map((peer) => peer?.stop()));
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  realms += 1;
  realm = `acme-${realms}`;
  await server.admin.call(createRealm, { body: { realm } });
  for (const list of [mail.mails, mailTls.mails, apns.pushes, receiver.received]) list.length = 0;
  receiver.answer = () => ({});
  apns.answer = () => ({ status: 200 });
  delete mail.refuse;
});
const rsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const pem = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }));

const put = (body: api.MessagingProviderInput) =>
  server.admin.call(api.putMessagingProvider, { params: { realm }, body });
const tried = async (channel: Channel, to: string) =>
  (await server.admin.call(testMessagingProvider, { params: { realm, channel }, body: { to } })).body!;
const bodyOf = (n: number) => receiver.received[n]?.raw.toString() ?? '';

describe('smtp', () => {
  const smtp = (config: object = {}, more: object = {}) =>
    put({
      channel: 'EMAIL',
      driver: 'smtp',
      fromAddress: 'no-reply@acme.example',
      fromName: 'Ácme',
      config: { host: '127.0.0.1', port: mail.port, username: MAIL_USER, ...config },
      secret: MAIL_PASSWORD,
      ...more,
    });

  test('signs in after STARTTLS, and sends to the one recipient', async () => {
    await smtp();
    expect(await tried('EMAIL', 'ada@example.com')).toMatchObject({ delivered: true, driver: 'smtp' });
    expect(mail.mails).toHaveLength(1);
    const [{ raw, ...one } = { raw: '' }] = mail.mails;
    expect(one).toEqual({ from: 'no-reply@acme.example', to: ['ada@example.com'], user: MAIL_USER, secure: true });
    expect(raw).toMatch(/^From: =\?UTF-8\?[^\r\n]+ <no-reply@acme\.example>\r?$/m);
    expect(raw).toMatch(/^To: ada@example\.com\r?$/m);
    expect(raw).toMatch(/^Message-ID: <[0-9a-f-]{36}@localhost>\r?$/m);
    expect(raw).toContain(`This is a test message of the realm ${realm}.`);
  });

  test('speaks TLS from the first byte where it is told so', async () => {
    await smtp({ port: mailTls.port, tls: 'tls' });
    expect(await tried('EMAIL', 'ada@example.com')).toMatchObject({ delivered: true });
    expect(mailTls.mails[0]).toMatchObject({ secure: true, user: MAIL_USER });
  });

  test('says nothing, and no password, over a connection that can’t be encrypted', async () => {
    const plain = await startMailServer({ plain: true });
    try {
      await smtp({ port: plain.port });
      expect((await tried('EMAIL', 'ada@example.com')).delivered).toBe(false);
      await smtp({ port: plain.port, username: undefined, tls: 'none' });
      expect((await tried('EMAIL', 'ada@example.com')).delivered).toBe(true);
      expect(plain.mails).toMatchObject([{ user: undefined, secure: false }]);
    } finally {
      await plain.stop();
    }
  });

  test('tells the server’s own words, without the password', async () => {
    await smtp({}, { secret: 'a wrong password' });
    const { delivered, answer } = await tried('EMAIL', 'ada@example.com');
    expect([delivered, answer]).toEqual([false, expect.stringContaining('535')]);
    expect(answer).not.toContain('wrong');
    await smtp();
    mail.refuse = () => ({ responseCode: 550, message: 'No such mailbox here' });
    expect((await tried('EMAIL', 'ada@example.com')).answer).toContain('550 No such mailbox here');
  });

  test('refuses a recipient with a line separator', async () => {
    await smtp();
    await expect(tried('EMAIL', 'a@example.com\u2028b')).rejects.toMatchObject({
      status: 400,
      problem: { errors: [{ path: 'to' }] },
    });
    expect(mail.mails).toEqual([]);
  });

  test.each(['a@example.com, b@example.com', '<a@example.com> b@example.com'])('sends nothing to %s', async (to) => {
    await smtp();
    expect(await tried('EMAIL', to)).toMatchObject({
      delivered: false,
      answer: 'the recipient is no e-mail address',
    });
    expect(mail.mails).toEqual([]);
  });

  test('reaches no private address that isn’t allowed', async () => {
    await smtp({ host: '10.1.2.3' });
    const { answer } = await tried('EMAIL', 'ada@example.com');
    expect(answer).toBe('10.1.2.3 does not answer, or is at no public address; SVC_OUTBOUND_ALLOW could permit it');
  });
});

describe('http', () => {
  const gateway = (config: object = {}, channel: 'SMS' | 'EMAIL' = 'SMS') =>
    put({
      channel,
      driver: 'http',
      fromAddress: null,
      config: { url: `${receiver.url}/send`, ...config },
      secret: 's3"cret\\',
    });

  test('sends what its template says, values escaped as JSON asks, the secret in a header', async () => {
    const body = '{"phone":"{{to}}","words":"{{text}}","key":"{{secret}}"}';
    await gateway({ body, headers: { Authorization: 'Key {{secret}}' } });
    expect(await tried('SMS', '+49 "170')).toMatchObject({ delivered: true, driver: 'http', answer: '200' });
    expect(JSON.parse(bodyOf(0))).toEqual({
      phone: '+49 "170',
      words: `This is a test message of the realm ${realm}.`,
      key: 's3"cret\\',
    });
    expect(receiver.received[0]?.headers).toMatchObject({
      authorization: 'Key s3"cret\\',
      'content-type': 'application/json',
    });
  });

  test('as a form encodes its values, so that none adds a field', async () => {
    await gateway({ format: 'form' });
    await tried('SMS', '1&to=2');
    expect(new URLSearchParams(bodyOf(0)).getAll('to')).toEqual(['1&to=2']);
  });

  test('sends e-mail with subject', async () => {
    await gateway({}, 'EMAIL');
    await tried('EMAIL', 'ada@example.com');
    expect(JSON.parse(bodyOf(0))).toMatchObject({ to: 'ada@example.com', subject: `Test of ${realm}`, html: '' });
  });

  test('tells the gateway’s own words, bounded, without secret, recipient and line breaks', async () => {
    await gateway();
    receiver.answer = ({ raw }) => ({
      status: 422,
      body: `no credit\r\n\u001b[31m ${raw} s3"cret\\ ${'x'.repeat(5000)}`,
    });
    const { delivered, answer } = await tried('SMS', '+491701234567');
    expect([delivered, answer.length]).toEqual([false, 300]);
    expect(answer).toMatch(/^422 no credit \[31m \{/);
    expect(answer).not.toMatch(/s3|4917012/);
  });

  test('fills its address, so that no value becomes a part of it', async () => {
    await gateway({ url: `${receiver.url}/to/{{to}}?words={{ text }}` });
    expect((await tried('SMS', '+49 1/7?0')).delivered).toBe(true);
    const words = encodeURIComponent(`This is a test message of the realm ${realm}.`);
    expect(receiver.received[0]?.url).toBe(`/to/%2B49%201%2F7%3F0?words=${words}`);
  });

  test('takes an answer of 200 for what it is where it says what one that counts holds', async () => {
    await gateway({ success: '"status":"queued"' });
    receiver.answer = () => ({ body: '{"status":"rejected","why":"no credit"}' });
    expect(await tried('SMS', '+491')).toMatchObject({
      delivered: false,
      answer: expect.stringContaining('no credit'),
    });
    receiver.answer = () => ({ body: '{"status":"queued"}' });
    expect((await tried('SMS', '+491')).delivered).toBe(true);
  });

  test('is tried by its name before it is enabled', async () => {
    await put({ channel: 'SMS', driver: 'http', enabled: false, config: { url: receiver.url } });
    await expect(tried('SMS', '+491')).rejects.toMatchObject({ status: 404 });
    const named = (driver: 'http' | 'twilio') =>
      server.admin.call(testMessagingProvider, {
        params: { realm, channel: 'SMS' },
        body: { to: '+491', driver },
      });
    expect((await named('http')).body).toMatchObject({ delivered: true, driver: 'http' });
    await expect(named('twilio')).rejects.toMatchObject({ status: 404 });
  });

  test('follows no redirect', async () => {
    await gateway();
    receiver.answer = () => ({ status: 302, headers: { location: `${receiver.url}/elsewhere` } });
    expect(await tried('SMS', '+491')).toMatchObject({ delivered: false, answer: '302' });
    expect(receiver.received).toHaveLength(1);
  });
});

test('twilio gets its own request, and its error is told', async () => {
  const sid = `AC${'a'.repeat(32)}`;
  const config = { accountSid: sid, apiUrl: receiver.url };
  await put({ channel: 'SMS', driver: 'twilio', fromAddress: '+15005550006', config, secret: 'token' });
  receiver.answer = () => ({ status: 201, body: '{"sid":"SM1","status":"queued"}' });
  expect(await tried('SMS', '+491701234567')).toEqual({ delivered: true, driver: 'twilio', answer: '201 SM1' });
  const [asked] = receiver.received;
  expect([asked?.method, asked?.url]).toEqual(['POST', `/2010-04-01/Accounts/${sid}/Messages.json`]);
  expect(asked?.headers.authorization).toBe(`Basic ${Buffer.from(`${sid}:token`).toString('base64')}`);
  expect(Object.fromEntries(new URLSearchParams(bodyOf(0)))).toEqual({
    To: '+491701234567',
    From: '+15005550006',
    Body: `This is a test message of the realm ${realm}.`,
  });
  receiver.answer = () => ({ status: 400, body: '{"code":21211,"message":"Invalid To number"}' });
  expect(await tried('SMS', 'x')).toMatchObject({ delivered: false, answer: '400 21211 Invalid To number' });
});

test('fcm gets a token for the service account once, and the message by HTTP v1', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    client_email: 'push@my-project.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    private_key_id: 'k1',
    token_uri: `${receiver.url}/token`,
  };
  const config = { projectId: 'my-project', apiUrl: receiver.url };
  await put({ channel: 'PUSH', driver: 'fcm', config, secret: JSON.stringify(account) });
  receiver.answer = ({ url }) =>
    url === '/token' ? { body: '{"access_token":"ya29.abc","expires_in":3599}' } : { body: '{"name":"projects/x/1"}' };
  expect(await tried('PUSH', 'device-token')).toMatchObject({ delivered: true, driver: 'fcm' });
  await tried('PUSH', 'device-token');
  expect(receiver.received.map(({ url }) => url)).toEqual([
    '/token',
    '/v1/projects/my-project/messages:send',
    '/v1/projects/my-project/messages:send',
  ]);
  const asked = new URLSearchParams(bodyOf(0));
  expect(asked.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
  const assertion = asked.get('assertion') ?? '';
  expect(decodeProtectedHeader(assertion)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' });
  expect(decodeJwt(assertion)).toMatchObject({
    iss: account.client_email,
    aud: account.token_uri,
    scope: 'https://www.googleapis.com/auth/firebase.messaging',
  });
  expect(receiver.received[1]?.headers.authorization).toBe('Bearer ya29.abc');
  expect(JSON.parse(bodyOf(1))).toMatchObject({
    message: { token: 'device-token', notification: { title: `Test of ${realm}` }, android: { priority: 'HIGH' } },
  });
  receiver.answer = () => ({ status: 404, body: '{"error":{"status":"UNREGISTERED","message":"gone"}}' });
  expect(await tried('PUSH', 'device-token')).toMatchObject({ delivered: false, answer: '404 UNREGISTERED gone' });
});

test('apns gets the message over one HTTP/2 connection with an ES256 token', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const secret = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const config = { teamId: 'TEAM123456', keyId: 'KEY1234567', bundleId: 'com.acme.app', apiUrl: apns.url };
  await put({ channel: 'PUSH', driver: 'apns', config, secret });
  expect(await tried('PUSH', 'abcd1234')).toEqual({ delivered: true, driver: 'apns', answer: '200' });
  await tried('PUSH', 'abcd1234');
  const [first, second] = apns.pushes;
  expect(first?.headers).toMatchObject({
    ':method': 'POST',
    ':path': '/3/device/abcd1234',
    'apns-topic': 'com.acme.app',
    'apns-push-type': 'alert',
    'apns-priority': '10',
  });
  expect(first?.body).toEqual({
    aps: {
      alert: { title: `Test of ${realm}`, body: `This is a test message of the realm ${realm}.` },
      sound: 'default',
    },
  });
  const token = String(first?.headers.authorization).replace(/^bearer /, '');
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', kid: 'KEY1234567' });
  expect(decodeJwt(token).iss).toBe('TEAM123456');
  expect(second?.headers.authorization).toBe(first?.headers.authorization);
  expect(apns.connections()).toBe(1);
  await put({ channel: 'PUSH', driver: 'apns', config: { ...config, teamId: 'TEAM654321' }, secret });
  expect(await tried('PUSH', 'abcd1234')).toMatchObject({ delivered: true });
  // Apple takes the tokens of one team on a connection.
  expect(apns.connections()).toBe(2);
  apns.answer = () => ({ status: 400, reason: 'BadDeviceToken' });
  expect(await tried('PUSH', 'abcd1234')).toMatchObject({ delivered: false, answer: '400 BadDeviceToken' });
});

test('twilio without a sender, and smtp with a username alone, say what is missing, and an import warns of it', async () => {
  const config = { accountSid: `AC${'a'.repeat(32)}`, apiUrl: receiver.url };
  await put({ channel: 'SMS', driver: 'twilio', config, secret: 'token' });
  expect((await tried('SMS', '+491')).answer).toContain('no sender');
  expect(receiver.received).toEqual([]);
  await put({ channel: 'EMAIL', driver: 'smtp', config: { host: '127.0.0.1', port: mail.port, username: MAIL_USER } });
  expect((await tried('EMAIL', 'ada@example.com')).answer).toContain('no secret');
  const { body } = await server.admin.call(importRealm, {
    params: { realm },
    query: { dryRun: 'true' },
    body: {
      messagingProviders: [
        { channel: 'EMAIL', driver: 'smtp' },
        { channel: 'SMS', driver: 'twilio' },
      ],
    } as never,
  });
  expect(body?.warnings.map(({ key }) => key)).toEqual(['EMAIL/smtp', 'SMS/twilio']);
});

describe('keys of push gateways', () => {
  const account = (more: object = {}) =>
    JSON.stringify({
      client_email: 'push@my-project.iam.gserviceaccount.com',
      private_key: pem(rsaKey()),
      token_uri: `${receiver.url}/token`,
      ...more,
    });
  const fcm = (secret: string) =>
    put({ channel: 'PUSH', driver: 'fcm', config: { projectId: 'my-project', apiUrl: receiver.url }, secret });
  const ecKey = (namedCurve: string) => pem(generateKeyPairSync('ec', { namedCurve }).privateKey);
  const apple = (secret: string) => {
    const config = { teamId: 'TEAM123456', keyId: 'KEY1234567', bundleId: 'com.acme.app', apiUrl: apns.url };
    return put({ channel: 'PUSH', driver: 'apns', config, secret });
  };
  const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';

  test('that nobody could use are refused when they are set', async () => {
    const refused = { status: 400, problem: { errors: [{ path: 'secret' }] } };
    for (const secret of [account({ private_key: broken }), account({ private_key: ecKey('P-256') })])
      await expect(fcm(secret)).rejects.toMatchObject(refused);
    for (const secret of [broken, ecKey('P-384'), pem(rsaKey())])
      await expect(apple(secret)).rejects.toMatchObject(refused);
    await apple(`\n${ecKey('P-256')}\n`);
    expect((await tried('PUSH', 'abcd')).delivered).toBe(true);
  });

  test('of Google bring no token where its answer holds none, and what it said is told', async () => {
    await fcm(account());
    receiver.answer = () => ({ body: '<html>Sign in to the hotel’s network</html>' });
    expect(await tried('PUSH', 'device')).toMatchObject({
      delivered: false,
      answer: expect.stringContaining('the hotel’s network'),
    });
  });

  test('of Google bring a new token where the old one is refused', async () => {
    await fcm(account());
    let tokens = 0;
    receiver.answer = ({ url, headers }) => {
      if (url === '/token') {
        tokens += 1;
        return { body: `{"access_token":"t${tokens}"}` };
      }
      return headers.authorization === 'Bearer t1' ? { status: 401 } : { body: '{}' };
    };
    expect((await tried('PUSH', 'device')).delivered).toBe(false);
    expect((await tried('PUSH', 'device')).delivered).toBe(true);
    expect(tokens).toBe(2);
  });

  test('of Apple sign a new token where the old one has expired there', async () => {
    await apple(ecKey('P-256'));
    let first: unknown;
    apns.answer = ({ headers }) => {
      first ??= headers.authorization;
      return headers.authorization === first ? { status: 403, reason: 'ExpiredProviderToken' } : { status: 200 };
    };
    expect(await tried('PUSH', 'abcd')).toMatchObject({ delivered: false, answer: '403 ExpiredProviderToken' });
    expect((await tried('PUSH', 'abcd')).delivered).toBe(true);
  });
});

test('a channel that nobody sends for has no test; and tests are bounded', async () => {
  await expect(tried('SMS', '+491')).rejects.toMatchObject({ status: 404 });
  await put({ channel: 'SMS', driver: 'http', config: { url: receiver.url } });
  const all = await Promise.allSettled(Array.from({ length: 25 }, () => tried('SMS', '+491')));
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  expect(all.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 429 } });
});
