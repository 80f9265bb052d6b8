// Owns: pages with branding and texts that are not stored: by the templates of the real ones, and nothing is stored.
// Does not own: the real pages (test/browser), the console's frame for them (test/console/look.test.ts).
// Implements: decisions "Page preview".
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityProviders } from '../../../server/contract/identity-providers.ts';
import { messageTexts } from '../../../server/contract/message-texts.ts';
import { type PagePreviewInput, previewPage } from '../../../server/contract/page-preview.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { createPerson } from '../../support/person.ts';
import { asOperator, realmctl, withOperator } from '../../support/realmctl.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: 'acme' };
/** One pixel. */
const PICTURE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
let server: TestServer;
let pictures: Server;
let at = '';
/** Requests for pictures. */
let asked = 0;

beforeAll(async () => {
  pictures = createServer((request, response) => {
    asked += 1;
    const isPicture = request.url?.split('?')[0] === '/logo.gif';
    response.writeHead(200, { 'content-type': isPicture ? 'image/gif' : 'text/html' });
    response.end(isPicture ? PICTURE : '<script>alert(1)</script>');
  });
  await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(pictures.address() as AddressInfo).port}`;
  server = await startTestServer({ env: withOperator });
  await server.admin.call(createRealm, { body: { realm: 'acme', displayName: 'Acme' } });
  await server.admin.call(putSettings, { params, body: { supportedLocales: ['en', 'de', 'ar'] } });
});
afterAll(async () => {
  await server?.stop();
  pictures?.close();
});
const preview = async (body: PagePreviewInput) => {
  const answer = await server.admin.call(previewPage, { params, body });
  if (!answer.body) throw new Error('no preview');
  return answer.body;
};

test('the sign-in page is the real one with its flow, its links and its providers, in the unsaved look', async () => {
  await server.admin.call(identityProviders.routes.create, {
    params,
    body: { ...identityProviders.routes.create.example!, alias: 'partner', displayName: 'The partner' },
  });
  const before = (await server.admin.call(getSettings, { params })).body;
  const branding = {
    displayName: 'Unsaved & Sons',
    primaryColor: '#0a7c66',
    welcomeText: 'Hello <b>you</b>',
    customCss: '.card { rotate: 1deg }',
  };
  const { html, locale, rightToLeft } = await preview({ page: 'sign-in', branding });
  expect([locale, rightToLeft]).toEqual(['en', false]);
  for (const part of [
    '<title>Sign in &ndash; Unsaved &amp; Sons</title>',
    'name="username"',
    '--primary:#0a7c66',
    '.card { rotate: 1deg }',
    'Hello &lt;b&gt;you&lt;/b&gt;',
    'The partner',
  ])
    expect(html).toContain(part);
  const { text: real } = await createPerson(server.baseUrl).open('/realms/acme/login?for=account');
  const fields = (of: string) => [...of.matchAll(/<(?:input|button)[^>]*? name="([^"]+)"/g)].map(([, name]) => name);
  expect(fields(real)).toContain('password');
  expect(fields(html)).toEqual(expect.arrayContaining(fields(real)));
  expect((await server.admin.call(getSettings, { params })).body).toEqual(before);
  expect(real).not.toContain('Unsaved');
});

test('consent and account: no custom CSS where the real page has none; each language, its direction and its unsaved texts', async () => {
  const branding = { customCss: '.mine { color: red }' };
  const consent = await preview({ page: 'consent', branding, locale: 'de' });
  expect(consent.html).toContain('<html lang="de">');
  expect(consent.html).not.toContain('.mine');
  expect(consent.html).toContain('name="decision"');
  const account = await preview({ page: 'account', branding, locale: 'ar' });
  expect(account).toMatchObject({ locale: 'ar', rightToLeft: true });
  expect(account.html).toContain('<html lang="ar" dir="rtl">');
  for (const part of ['.mine { color: red }', 'Ada Lovelace', 'ada@example.com', 'name="locale" value="de"'])
    expect(account.html).toContain(part);
  expect((await preview({ page: 'account', rightToLeft: true })).html).toContain('<html lang="en" dir="rtl">');

  await server.admin.call(messageTexts.routes.create, {
    params,
    body: { locale: 'de', texts: { 'password.title': 'Gespeichert', 'consent.title': 'Auch gespeichert' } },
  });
  expect((await preview({ page: 'sign-in', locale: 'de' })).html).toContain('<h1>Gespeichert</h1>');
  const unsaved = { page: 'sign-in', locale: 'de', texts: { 'password.title': 'Neu' } } as const;
  expect((await preview(unsaved)).html).toContain('<h1>Neu</h1>');
  expect((await preview({ ...unsaved, page: 'consent' })).html).not.toContain('Auch gespeichert');
  expect((await preview({ page: 'sign-in', locale: 'de' })).html).toContain('<h1>Gespeichert</h1>');
});

test('a scheme is the only one of its page, also in the realm’s own style sheet', async () => {
  const branding = {
    customCss: '/* (prefers-color-scheme: dark) */ @media (prefers-color-scheme: dark) { .x { color: #abc } }',
  };
  const dark = (await preview({ page: 'sign-in', branding, scheme: 'dark' })).html;
  expect(dark).toContain('@media (min-width:0) { .x');
  expect(dark).toContain('/* (prefers-color-scheme: dark) */');
  expect(dark).toContain(':root{color-scheme:dark}');
  const light = (await preview({ page: 'sign-in', branding, scheme: 'light' })).html;
  expect(light).toContain('@media (max-width:0) { .x');
  expect((await preview({ page: 'sign-in', branding })).html).toContain('@media (prefers-color-scheme: dark) { .x');
});

test('nothing in it runs: no script, a policy that permits none, and markup in a style sheet or a name stays what it is', async () => {
  const branding = {
    displayName: '<script>alert(1)</script>',
    customCss: '.a::before { content: "</style><script>alert(2)</script><!--" }',
  };
  for (const page of ['sign-in', 'consent', 'account'] as const) {
    const { html } = await preview({ page, branding });
    expect(html.replace(/<style>[\s\S]*?<\/style>/, ''), page).not.toMatch(/<script/);
    expect(html.match(/<\/style/g), page).toHaveLength(1);
    expect(html, page).toContain(`content="default-src &#39;none&#39;`);
  }
});

test('the logo is fetched by the guard of outbound requests; what is no picture is its name', async () => {
  const logo = async (logoUrl: string) =>
    /<img class="logo" src="([^"]*)" alt="([^"]*)"/.exec(
      (await preview({ page: 'sign-in', branding: { logoUrl } })).html,
    );
  expect((await logo(`${at}/logo.gif`))?.[1]).toBe(`data:image/gif;base64,${PICTURE.toString('base64')}`);
  for (const nothing of [`${at}/page.html`, 'http://169.254.169.254/logo.gif'])
    expect((await logo(nothing))?.slice(1)).toEqual(['data:,', 'Acme']);
});

test('the server is no engine of requests to others: a logo is fetched once, and few in a minute', async () => {
  await server.admin.call(createRealm, { body: { realm: 'busy' } });
  const before = asked;
  const look = async (query: string) =>
    (
      await server.admin.call(previewPage, {
        params: { realm: 'busy' },
        body: { page: 'sign-in', branding: { logoUrl: `${at}/logo.gif${query}` } },
      })
    ).body?.html ?? '';
  for (let i = 0; i < 5; i += 1) expect(await look('')).toContain('data:image/gif;base64,');
  expect(asked - before).toBe(1);
  for (let i = 0; i < 40; i += 1) await look(`?${i}`);
  expect(asked - before).toBe(30);
  expect(await look('?more')).toContain('src="data:,"');
});

test('what could not be stored is refused at its field; without settings:write there is no preview', async () => {
  const refused = (body: object) =>
    server.admin.call(previewPage, { params, body: { page: 'sign-in', ...body } as never });
  await expect(refused({ branding: { primaryColor: 'red' } })).rejects.toMatchObject({ status: 400 });
  await expect(refused({ branding: { displayName: 'A\u202eB' } })).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'branding.displayName' }] },
  });
  await expect(refused({ texts: { 'password.title': 'Hello {nobody}' } })).rejects.toMatchObject({
    problem: { errors: [{ path: 'texts.password.title' }] },
  });
  await expect(refused({ locale: 'tlh' })).rejects.toMatchObject({ status: 400 });
  await expect(refused({ page: 'registration' })).rejects.toMatchObject({ status: 400 });
});

test('realmctl writes the page, with a look from a file', async () => {
  const env = asOperator(server);
  const ran = await realmctl(env, ['preview', 'page', 'sign-in', '-r', 'acme', '--scheme', 'dark', '-f', '-'], {
    stdin: 'branding:\n  displayName: By the command line\n',
  });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(ran.stdout).toMatch(/^<!doctype html>/);
  expect(ran.stdout).toContain('By the command line');
  const wrong = await realmctl(env, ['preview', 'page', 'sign-in', '-r', 'acme', '-f', '-'], {
    stdin: 'branding: { primaryColor: red }',
  });
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain('branding.primaryColor: must be a hex colour');
});
