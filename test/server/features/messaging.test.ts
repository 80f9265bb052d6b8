import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServerProblem } from '../../../server/contract/client.ts';
import * as templates from '../../../server/contract/message-templates.ts';
import * as api from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { exportRealm, importRealm } from '../../../server/contract/transfer.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { refreshMessageTemplates } from '../../../server/features/configuration/messaging/built-in-templates.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
const SECRET = 'a-secret-that-nobody-sees';

beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
});
afterAll(() => server?.stop());

const put = async (body: api.MessagingProviderInput) =>
  (await server.admin.call(api.putMessagingProvider, { params, body })).body!;
const list = async () => (await server.admin.call(api.listMessagingProviders, { params })).body!;
const edit = async (body: templates.MessageTemplateInput) =>
  (await server.admin.call(templates.putMessageTemplate, { params, body })).body!;
const refused = async (work: Promise<unknown>): Promise<[number, string[]]> => {
  const { status, problem } = await work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );
  return [status, (problem?.errors ?? []).map(({ path, message }) => `${path} ${message}`)];
};
const smtp = { channel: 'EMAIL', driver: 'smtp', config: { host: 'mail.example.com' } } as const;

describe('a messaging provider', () => {
  test('has the fields of 2.5; its secret is never shown, and sealed at rest', async () => {
    const made = await put({ ...smtp, fromAddress: 'no-reply@example.com', fromName: 'Example', secret: SECRET });
    expect(made).toEqual({
      id: made.id,
      realmId: 'acme',
      channel: 'EMAIL',
      driver: 'smtp',
      enabled: true,
      fromAddress: 'no-reply@example.com',
      fromName: 'Example',
      config: { host: 'mail.example.com' },
      secret: null,
      secretSet: true,
      createdAt: made.createdAt,
    });
    expect(await list()).toEqual([made]);
    const { rows } = await server.pool.query('select secret from messaging_provider where secret is not null');
    expect(Buffer.from(rows[0].secret).includes(SECRET)).toBe(false);
  });

  test('is read alone, and saved only as it was read', async () => {
    const { realm } = (await server.admin.call(createRealm, { body: { realm: 'conditional' } })).body!;
    const at = { realm, channel: 'EMAIL', driver: 'smtp' } as const;
    const read = () => server.admin.call(api.getMessagingProvider, { params: at });
    await expect(read()).rejects.toMatchObject({ status: 404 });
    const save = (fromName: string, tag: string) =>
      server.admin.call(api.putMessagingProvider, {
        params: { realm },
        body: { ...smtp, fromName },
        headers: { 'if-match': tag },
      });
    // nothing is there yet that could have this tag
    await expect(save('None', '"tag"')).rejects.toMatchObject({ status: 412 });
    const made = (await server.admin.call(api.putMessagingProvider, { params: { realm }, body: smtp })).body;
    const { body, etag = '' } = await read();
    expect(body).toEqual(made);
    expect((await save('Mine', etag)).body).toMatchObject({ fromName: 'Mine' });
    await expect(save('Theirs', etag)).rejects.toMatchObject({ status: 412 });
    const now = await read();
    expect(now.body).toMatchObject({ fromName: 'Mine' });
    const remove = (tag: string) =>
      server.admin.call(api.deleteMessagingProvider, { params: at, headers: { 'if-match': tag } });
    await expect(remove(etag)).rejects.toMatchObject({ status: 412 });
    expect((await remove(now.etag ?? '')).status).toBe(204);
    const stranger = await administrator(server, { target: realm, permissions: ['users:read'] });
    await expect(stranger.call(api.getMessagingProvider, { params: at })).rejects.toMatchObject({ status: 403 });
  });

  test('is made once by channel and driver, and changed after that; what is left out stays', async () => {
    const first = await put({ ...smtp, fromName: 'First', secret: SECRET });
    const second = await put({ channel: 'EMAIL', driver: 'smtp', enabled: false });
    expect(second).toEqual({ ...first, enabled: false });
    expect(await put(second)).toEqual(second);
    const sms = await put({ channel: 'SMS', driver: 'http', config: { url: 'https://sms.example.com/send' } });
    expect(sms.id).not.toBe(first.id);
    expect((await list()).map(({ channel, driver }) => `${channel}/${driver}`)).toEqual(['EMAIL/smtp', 'SMS/http']);
    const at = { realm: 'acme', channel: 'SMS', driver: 'http' } as const;
    await server.admin.call(api.deleteMessagingProvider, { params: at });
    expect((await refused(server.admin.call(api.deleteMessagingProvider, { params: at })))[0]).toBe(404);
    expect((await list()).map(({ driver }) => driver)).toEqual(['smtp']);
  });

  test('is made by one of several who make it at the same moment, and changed by the others', async () => {
    const made = await Promise.all(
      ['a', 'b', 'c'].map((fromName) =>
        put({ channel: 'SMS', driver: 'twilio', fromName, config: { accountSid: `AC${'0'.repeat(32)}` } }),
      ),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });

  test.each<[string, object, string]>([
    [
      'a driver of another channel',
      { channel: 'SMS', driver: 'smtp', config: {} },
      'driver must be http or twilio for SMS',
    ],
    [
      'no host',
      { ...smtp, channel: 'EMAIL', driver: 'smtp', config: {} },
      'config.host must be the name or address of a host',
    ],
    [
      'a field that there isn’t',
      { ...smtp, config: { host: 'mail', pasword: 'x' } },
      'config.pasword is not a known field',
    ],
    ['a port that is none', { ...smtp, config: { host: 'mail', port: 70_000 } }, 'config.port must be at most 65535'],
    [
      'a password over a plain connection',
      { ...smtp, config: { host: 'mail', tls: 'none', username: 'me' } },
      'config.username would sign in over a connection that is not encrypted; use starttls or tls',
    ],
    ['a sender that is no address', { ...smtp, fromAddress: 'Example' }, 'fromAddress must be an e-mail address'],
    [
      'a gateway without https',
      { channel: 'SMS', driver: 'http', config: { url: 'http://sms.example.com' } },
      'config.url must be an absolute https address',
    ],
    [
      'a readable credential',
      {
        channel: 'SMS',
        driver: 'http',
        config: { url: 'https://a.example', headers: { Authorization: 'Bearer abc' } },
      },
      'config.headers.Authorization would be readable; put it into the secret, and name that here by {{secret}}',
    ],
    [
      'a header of two lines',
      { channel: 'SMS', driver: 'http', config: { url: 'https://a.example', headers: { 'x-a': 'a\r\nx-b: c' } } },
      'config.headers.x-a must be one line',
    ],
    [
      'a placeholder that there isn’t',
      { channel: 'SMS', driver: 'http', config: { url: 'https://a.example', body: '{{password}}' } },
      'config.body there is no placeholder {{password}}; there are to, from, fromName, subject, text, html, secret',
    ],
    [
      'a body that is no JSON',
      { channel: 'SMS', driver: 'http', config: { url: 'https://a.example', body: '{"to": {{to}}}' } },
      'config.body must be JSON, placeholders within quotes',
    ],
    [
      'its secret in the address',
      { channel: 'SMS', driver: 'http', config: { url: 'https://a.example/?key={{secret}}' } },
      'config.url there is no placeholder {{secret}}; in an address there are to, from, fromName, subject, text, html',
    ],
    [
      'a key file that is none',
      { channel: 'PUSH', driver: 'fcm', config: { projectId: 'my-project' }, secret: 'AAAA' },
      'secret must be the JSON key file of a service account',
    ],
  ])('with %s is refused, by the field', async (_, body, message) => {
    expect(await refused(put(body as api.MessagingProviderInput))).toEqual([400, [message]]);
    const document = { messagingProviders: [body as api.MessagingProviderInput] };
    const imported = server.admin.call(importRealm, { params, body: document as never });
    const [field, ...words] = message.split(' ');
    const key = Object.values(body).slice(0, 2).join('/');
    expect(await refused(imported)).toEqual([400, [`messagingProviders[0].${field} ${key}: ${words.join(' ')}`]]);
  });
});

describe('message templates', () => {
  test('are there in a fresh realm, one of each key, with the fields of 2.6', async () => {
    const { body = [] } = await server.admin.call(templates.listMessageTemplates, { params });
    expect(body.map(({ templateKey, channel }) => [templateKey, channel]).sort()).toEqual(
      Object.entries(templates.messages)
        .map(([key, { channel }]) => [key, channel])
        .sort(),
    );
    const sms = body.find(({ templateKey }) => templateKey === 'otp-sms');
    expect(sms).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      realmId: 'acme',
      templateKey: 'otp-sms',
      channel: 'SMS',
      locale: 'en',
      subject: null,
      body: '{{code}} is your code for {{realm}}. It is good for {{ttl}}.',
      enabled: true,
      html: false,
    });
  });

  test('come to a realm of an older release when the server starts, and what was edited stays', async () => {
    const sql = sqlOver(server.pool);
    await server.admin.call(createRealm, { body: { realm: 'older' } });
    await sql`delete from message_template where realm_id = 'older' and template_key <> 'otp-sms'`;
    await sql`update message_template set content = 'Mine: {{code}}' where realm_id = 'older'`;
    await refreshMessageTemplates(sql, ['older']);
    const { body = [] } = await server.admin.call(templates.listMessageTemplates, { params: { realm: 'older' } });
    expect(body).toHaveLength(Object.keys(templates.messages).length);
    expect(body.find(({ templateKey }) => templateKey === 'otp-sms')?.body).toBe('Mine: {{code}}');
  });

  test('are edited, and made for another locale, and that one deleted; the built-in ones stay', async () => {
    const edited = await edit({ templateKey: 'otp-email', subject: 'Code: {{code}}' });
    expect(edited).toMatchObject({ locale: 'en', channel: 'EMAIL', subject: 'Code: {{code}}' });
    const german = await edit({ templateKey: 'otp-email', locale: 'de', body: 'Ihr Code: {{code}}' });
    expect(german.id).not.toBe(edited.id);
    const at = { realm: 'acme', templateKey: 'otp-email', channel: 'EMAIL' } as const;
    await server.admin.call(templates.deleteMessageTemplate, { params: { ...at, locale: 'de' } });
    const builtIn = server.admin.call(templates.deleteMessageTemplate, { params: { ...at, locale: 'en' } });
    expect((await refused(builtIn))[0]).toBe(409);
  });

  test.each([
    '<p title="{{user}}">{{user}} &lt; <a href="{{link}}">{{ link }}</a><br/><img alt=\'{{user}}\' src="https://a.example/x.png"></p>',
    '<!doctype html><html><head><title>{{realm}}</title><style>p { color: red }</style></head><body>1 < 2 {{ttl}}</body></html>',
    '<!--[if mso]><table><![endif]--><td width=600 class="a" hidden>{{ttl}}</td><a href="{{link}}&amp;from=mail">x</a>',
  ])('may hold values in text and quoted attributes: %s', async (body) => {
    const made = await edit({ templateKey: 'magic-link-email', locale: 'de', body, html: true });
    expect(made).toMatchObject({ body, html: true });
  });

  test.each([
    ['<a href={{user.website}}>x</a>', 'has a placeholder in href without quotes'],
    ['<a href="{{user.website}}">x</a>', 'has a placeholder in href that isn’t {{link}}'],
    ["<A HREF = '{{link}}{{user}}'>x</A>", 'has a placeholder in href that isn’t {{link}}'],
    ['<img SRC="{{user.photo}}">', 'has a placeholder in src that isn’t {{link}}'],
    ['<p {{user}}>x</p>', 'has a placeholder in a tag outside a quoted attribute'],
    ['<p class="a"{{ user }}>x</p>', 'has a placeholder in a tag outside a quoted attribute'],
    ['<{{user}}>', 'has a placeholder in the name of a tag'],
    ['<h{{user}}>', 'has a placeholder in the name of a tag'],
    ['<p onclick="f(\'{{user}}\')">x</p>', 'has a placeholder in onclick'],
    ['<p style="color:{{user.colour}}">x</p>', 'has a placeholder in style'],
    ['<style>p { color: {{user.colour}} }</style>', 'has a placeholder in style'],
    ['<SCRIPT>f("{{user}}")</SCRIPT>', 'has a placeholder in script'],
    ['<!-- {{user}} -->', 'has a placeholder in a comment'],
    ['<!doctype {{user}}>', 'has a placeholder in a comment'],
    ['<p a"b">{{user}}">', 'has a tag <p that can’t be read'],
    ['<p title="a', 'has a tag <p that can’t be read'],
  ])('may hold none where HTML would obey it: %s', async (body, message) => {
    const text = { templateKey: 'magic-link-email', body, html: true } as const;
    expect(await refused(edit(text))).toEqual([400, [`body ${message}`]]);
    const preview = server.admin.call(templates.previewMessageTemplate, { params, body: text });
    expect(await refused(preview)).toEqual([400, [`body ${message}`]]);
  });

  test.each<[string, object, string]>([
    [
      'an unknown placeholder',
      { body: '{{password}}' },
      'body there is no placeholder {{password}}; otp-email has realm, user, user.*, code, ttl',
    ],
    [
      'one of another template',
      { body: '{{link}}' },
      'body there is no placeholder {{link}}; otp-email has realm, user, user.*, code, ttl',
    ],
    [
      'one that would reach into objects',
      { body: '{{constructor.name}}' },
      'body there is no placeholder {{constructor.name}}; otp-email has realm, user, user.*, code, ttl',
    ],
    [
      'a block of another language',
      { body: '{{#code}}x{{/code}}' },
      'body there is no placeholder {{#code}}; otp-email has realm, user, user.*, code, ttl',
    ],
    [
      'braces left open',
      { body: 'x {{ code' },
      'body has a {{ or }} that belongs to no placeholder; otp-email has realm, user, user.*, code, ttl',
    ],
    [
      'a subject of two lines',
      { subject: 'a\r\nBcc: b@example.com' },
      'subject must be one line without control characters',
    ],
    ['another channel', { channel: 'SMS' }, 'channel must be EMAIL for otp-email'],
  ])('with %s are refused', async (_, more, message) => {
    const body = { templateKey: 'otp-email', locale: 'fr', ...more } as const;
    expect(await refused(edit(body))).toEqual([400, [message]]);
  });

  test('of SMS have no subject, and are no HTML', async () => {
    expect(await refused(edit({ templateKey: 'otp-sms', subject: 'Code', html: true }))).toEqual([
      400,
      ['subject must be null for SMS', 'html can be true for e-mail alone'],
    ]);
  });

  test('are the same in two exports, and in the export of a realm that was made of one', async () => {
    const text = async (realm: string) =>
      JSON.stringify((await server.admin.call(exportRealm, { params: { realm } })).body?.messageTemplates);
    const exported = await text('acme');
    expect(await text('acme')).toBe(exported);
    await server.admin.call(importRealm, {
      params: { realm: 'copy' },
      body: { messageTemplates: JSON.parse(exported) },
    });
    expect(await text('copy')).toBe(exported);
  });
});

describe('a preview', () => {
  const preview = async (body: Parameters<typeof request>[0]) => (await request(body)).body!;
  const request = (body: NonNullable<typeof templates.previewMessageTemplate.example>) =>
    server.admin.call(templates.previewMessageTemplate, { params, body });

  test('fills subject and body with the sample, and leaves what has no value', async () => {
    await edit({
      templateKey: 'magic-link-email',
      subject: '{{realm}}: {{ user.firstName }}',
      body: '{{link}} {{ttl}}',
    });
    const sample = { user: { firstName: 'Ada' }, link: 'https://a.example/?a=1&b=2' };
    expect(await preview({ templateKey: 'magic-link-email', sample })).toEqual({
      templateKey: 'magic-link-email',
      channel: 'EMAIL',
      locale: 'en',
      subject: 'acme: Ada',
      body: 'https://a.example/?a=1&b=2 {{ttl}}',
      html: false,
    });
  });

  test('takes the locale that was asked for, else its language, else the realm’s', async () => {
    await edit({ templateKey: 'otp-sms', locale: 'pt', body: 'Código: {{code}}' });
    expect(await preview({ templateKey: 'otp-sms', locale: 'pt-BR' })).toMatchObject({ locale: 'pt' });
    expect(await preview({ templateKey: 'otp-sms', locale: 'it' })).toMatchObject({ locale: 'en' });
    await edit({ templateKey: 'otp-sms', locale: 'pt', enabled: false });
    expect(await preview({ templateKey: 'otp-sms', locale: 'pt-BR' })).toMatchObject({ locale: 'en' });
  });

  test('of HTML escapes every value, and of a subject takes no line break', async () => {
    const sample = { code: '<img src=x onerror=alert(1)>', 'user.firstName': 'A\r\nBcc: b@example.com\u202e' };
    const { subject, body } = await preview({
      templateKey: 'otp-email',
      sample,
      subject: 'Hi {{user.firstName}}',
      body: '<b title="{{user.firstName}}">{{code}}</b>',
      html: true,
    });
    expect(subject).toBe('Hi A Bcc: b@example.com');
    expect(body).toBe('<b title="A Bcc: b@example.com">&lt;img src=x onerror=alert(1)&gt;</b>');
  });

  test('cuts a name that is a letter of its own, and gives no value a placeholder’s power', async () => {
    const sample = { 'user.firstName': 'x'.repeat(500), code: '{{user.firstName}}' };
    const { body } = await preview({ templateKey: 'otp-email', sample, body: '{{user.firstName}}|{{code}}' });
    expect(body).toBe(`${'x'.repeat(100)}|{{user.firstName}}`);
  });
});
