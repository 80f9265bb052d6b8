// A stored template as a test message; one template read alone and saved as it was read.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EventType, listEvents } from '../../../server/contract/events.ts';
import { messages as keys } from '../../../server/contract/message-keys.ts';
import * as templates from '../../../server/contract/message-templates.ts';
import { listMessages, testMessageTemplate, testMessagingProvider } from '../../../server/contract/messages.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { administrator } from '../../support/administrators.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: 'acme' };
let server: TestServer;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile } });
  for (const realm of ['acme', 'silent']) await server.admin.call(createRealm, { body: { realm } });
  for (const channel of ['EMAIL', 'SMS'] as const)
    await server.admin.call(putMessagingProvider, {
      params,
      body: { channel, driver: 'http', config: { url: receiver.url } },
    });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = () => ({});
});

type TemplateKey = templates.TemplateKey;
const send = (templateKey: TemplateKey, more: { locale?: string; realm?: string; as?: TestServer['admin'] } = {}) =>
  (more.as ?? server.admin).call(testMessageTemplate, {
    params: { realm: more.realm ?? 'acme' },
    body: {
      templateKey,
      to: keys[templateKey].channel === 'SMS' ? '+491701234567' : 'ada@example.com',
      ...(more.locale !== undefined && { locale: more.locale }),
    },
  });
const sent = () => String(receiver.received.at(-1)?.raw);
const eventsOf = async (type: EventType) =>
  (await server.admin.call(listEvents, { params, query: { type } })).body ?? [];

test('the realm’s own words go out with samples, and nothing is stored but an event, which does not name the recipient', async () => {
  await server.admin.call(templates.putMessageTemplate, {
    params,
    body: {
      templateKey: 'otp-email',
      locale: 'de',
      subject: '{{code}} für {{user}}',
      body: 'Hallo {{user.firstName}}: {{code}}',
    },
  });
  const { body } = await send('otp-email', { locale: 'de' });
  expect(body).toMatchObject({ delivered: true, driver: 'http', locale: 'de' });
  expect(sent()).toContain('Hallo Ada: 123456');
  expect(sent()).toContain('123456 für Ada');
  expect((await server.admin.call(listMessages, { params })).body).toEqual([]);
  expect(await eventsOf('MESSAGE_QUEUED')).toEqual([]);
  const [tested] = await eventsOf('MESSAGE_TESTED');
  expect(tested).toMatchObject({
    actor: { name: 'admin' },
    subject: { name: 'EMAIL/http' },
    outcome: 'success',
    data: { channel: 'EMAIL', driver: 'http', templateKey: 'otp-email' },
  });
  expect(JSON.stringify(tested)).not.toContain('ada@example.com');
});

test('a test through a provider is an event too, also if its gateway refuses; a refused request is none', async () => {
  const before = (await eventsOf('MESSAGE_TESTED')).length;
  receiver.answer = () => ({ status: 422, body: 'no such number' });
  const body = { to: '+491701234567' };
  await server.admin.call(testMessagingProvider, { params: { ...params, channel: 'SMS' }, body });
  const [tested, ...others] = await eventsOf('MESSAGE_TESTED');
  expect(others).toHaveLength(before);
  expect(tested).toMatchObject({ outcome: 'failure', data: { channel: 'SMS', driver: 'http' } });
  await expect(
    server.admin.call(testMessagingProvider, { params: { ...params, channel: 'PUSH' }, body }),
  ).rejects.toMatchObject({ status: 404 });
  expect(await eventsOf('MESSAGE_TESTED')).toHaveLength(before + 1);
});

test.each(Object.keys(keys).filter((key) => keys[key as TemplateKey].channel !== 'PUSH') as TemplateKey[])(
  '%s leaves no placeholder, and links lead to the realm alone',
  async (key) => {
    expect((await send(key)).body?.delivered).toBe(true);
    expect(sent()).not.toMatch(/\{\{|undefined/);
    const links = sent().match(/https?:\/\/[^\s"\\<]+/g) ?? [];
    for (const link of links) expect(link.startsWith(`${server.baseUrl}/realms/acme/account`)).toBe(true);
  },
);

test('a gateway that refuses says so, in its own words', async () => {
  receiver.answer = () => ({ status: 422, body: 'no such number' });
  expect((await send('otp-sms')).body).toMatchObject({
    delivered: false,
    answer: expect.stringContaining('no such number'),
  });
});

test('texts of the caller’s own are refused, as are realms without a gateway and callers without the permission', async () => {
  const body = { templateKey: 'otp-email', to: 'ada@example.com', body: 'Pay here: https://evil.example' } as const;
  await expect(server.admin.call(testMessageTemplate, { params, body })).rejects.toMatchObject({ status: 400 });
  await expect(send('otp-email', { realm: 'silent' })).rejects.toMatchObject({ status: 404 });
  const reader = await administrator(server, { target: 'acme', permissions: ['messaging:read'] });
  await expect(send('otp-email', { as: reader })).rejects.toMatchObject({ status: 403 });
  expect(receiver.received).toEqual([]);
});

test('a template is read alone, and saved only as it was read', async () => {
  const at = { ...params, templateKey: 'otp-sms', channel: 'SMS', locale: 'fr' } as const;
  const read = () => server.admin.call(templates.getMessageTemplate, { params: at });
  await expect(read()).rejects.toMatchObject({ status: 404 });
  const save = (text: string, tag?: string) =>
    server.admin.call(templates.putMessageTemplate, {
      params,
      body: { templateKey: 'otp-sms', locale: 'fr', body: text },
      ...(tag !== undefined && { headers: { 'if-match': tag } }),
    });
  const made = await save('Code : {{code}}');
  const { body, etag = '' } = await read();
  expect(body).toEqual(made.body);
  expect(made.etag).toBe(etag);
  await save('Votre code : {{code}}', etag);
  await expect(save('Le code : {{code}}', etag)).rejects.toMatchObject({ status: 412 });
  expect((await read()).body?.body).toBe('Votre code : {{code}}');
});
