// Owns: in which language a realm's pages are, and how it is chosen.
// Does not own: the texts (test/server/http/languages.unit.test.ts), how the pages look (test/browser).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { putUser } from '../../../server/contract/users.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const alice = { username: 'alice', password: PASSWORD };
const account = '/realms/acme/account';
const LOGIN = '/realms/acme/login?for=account';
let server: TestServer;
let aliceId: string;
beforeAll(async () => {
  server = await startTestServer();
  [aliceId = ''] = await makePeopledRealm(server, 'acme');
  await makePeopledRealm(server, 'plain');
  await makeClient(server, 'acme', { clientId: 'wiki', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
  await speaks({ defaultLocale: 'en', supportedLocales: ['en', 'de', 'no'] });
});
afterAll(() => server?.stop());

const speaks = (body: { defaultLocale?: string; supportedLocales?: string[]; welcomeText?: string }) =>
  server.admin.call(putSettings, { params: { realm: 'acme' }, body });
const person = (language?: string) =>
  createPerson(server.baseUrl, language === undefined ? {} : { 'accept-language': language });
const authorize = (uiLocales: string) => authorizePath('acme', 'wiki', newVerifier(), { ui_locales: uiLocales });
const langOf = ({ text }: ShownPage) => /<html lang="([^"]*)"/.exec(text)?.[1];
const choose = (browser: ReturnType<typeof person>, locale: string, back: string) =>
  browser.post('/realms/acme/language', { locale, back });

test.each([
  ['de-AT,en;q=0.8', 'de', 'Anmelden'],
  ['fr, en;q=0.2', 'en', 'Sign in'],
  ['no', 'en', 'Sign in'],
])('a browser that accepts %s gets the page in %s', async (header, lang, heading) => {
  const page = await person(header).open(LOGIN);
  expect([langOf(page), page.heading]).toEqual([lang, heading]);
});

test('a realm of one language speaks that, whatever the browser accepts, and offers no choice', async () => {
  const page = await person('de').open('/realms/plain/login?for=account');
  expect([langOf(page), page.heading]).toEqual(['en', 'Sign in']);
  expect(page.text).not.toContain('/language');
});

test('an application asks for a language, which the pages after it keep', async () => {
  const browser = person('en');
  const page = await browser.open(authorize('fr de'));
  expect([langOf(page), page.heading]).toEqual(['de', 'Anmelden']);
  expect(page.text).toContain('um mit <bdi>wiki</bdi> fortzufahren');
  const wrong = await browser.fill(page, { ...alice, password: 'wrong' });
  expect(wrong.text).toContain('Benutzername oder Passwort ist falsch');
  expect((await browser.open(authorize('se'))).heading).toBe('Anmelden');
  expect((await browser.open(authorize('en'))).heading).toBe('Sign in');
});

test('what somebody chooses on the page counts above all else, and leads back to it', async () => {
  const browser = person('en');
  const page = await browser.open(LOGIN);
  expect(page.text).toContain('<button class="link" name="locale" value="de" lang="de">Deutsch</button>');
  expect(page.text).not.toContain('value="no"');
  const back = /name="back" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const chosen = await choose(browser, 'de', back);
  expect([new URL(chosen.url).pathname, chosen.heading]).toEqual(['/realms/acme/login', 'Anmelden']);
  expect((await browser.open(authorize('en'))).heading).toBe('Anmelden');
});

test.each(['https://evil.example/realms/acme/login', '//evil.example/realms/acme/', '/admin/login', 'x:y'])(
  'the way back from the choice never leads to %s',
  async (back) => {
    const answer = await person().once('/realms/acme/language', {
      method: 'POST',
      body: new URLSearchParams({ locale: 'de', back }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, account]);
  },
);

test('a language that the realm does not offer is refused, and so is none', async () => {
  expect((await choose(person(), 'no', account)).status).toBe(400);
  expect((await person().post('/realms/acme/language', {})).status).toBe(400);
  expect((await person().post('/realms/nowhere/language', { locale: 'de', back: '/' })).status).toBe(404);
});

test('a person’s own language counts before that of the browser, once it is known who they are', async () => {
  const body = { username: 'alice', attributes: { locale: ['de-CH'] } };
  await server.admin.call(putUser, { params: { realm: 'acme', userId: aliceId }, body });
  const browser = person('en');
  const page = await browser.open(LOGIN);
  expect(langOf(page)).toBe('en');
  const home = await browser.fill(page, alice);
  expect(langOf(home)).toBe('de');
  expect(home.text).toContain('Geräte und Sitzungen');
  const security = await browser.open(`${account}?view=security`);
  expect(security.text).toContain('Wie Sie sich anmelden');
  expect(security.text).toMatch(/Hinzugefügt <time[^>]*>[^<]*</);
  expect((await choose(browser, 'en', `${account}?view=security`)).text).toContain('How you sign in');
});

test('what goes wrong is said in the language of the page', async () => {
  const browser = person('de');
  const outdated = await browser.post(`${account}/sign-out`, {});
  expect(langOf(outdated)).toBe('de');
  const unknown = await browser.open(authorizePath('acme', 'nobody', newVerifier()));
  expect([unknown.status, unknown.heading]).toEqual([400, 'Hier geht es nicht weiter']);
  const over = await browser.post('/realms/acme/login', { csrf: 'x', step: 'x' });
  expect(over.heading).toBe('Diese Anmeldung ist abgelaufen');
});

test('what a browser can’t do at an address is said in its language', async () => {
  const headers = { accept: 'text/html', 'accept-language': 'de' };
  const answer = await fetch(`${server.baseUrl}/realms/acme/language`, { headers });
  expect(answer.status).toBe(405);
  expect(await answer.text()).toContain('<h1>So lässt sich die Adresse nicht aufrufen</h1>');
});

test('discovery names the languages that pages are written in, and no other', async () => {
  const answer = await fetch(`${server.baseUrl}/realms/acme/.well-known/openid-configuration`);
  expect(await answer.json()).toMatchObject({ ui_locales_supported: ['en', 'de'] });
});

test('the realm’s own language is that of who asks for none', async () => {
  await speaks({ defaultLocale: 'de', supportedLocales: ['de', 'en'], welcomeText: 'Willkommen' });
  const page = await person().open(LOGIN);
  expect([langOf(page), page.heading]).toEqual(['de', 'Anmelden']);
  expect(page.text).toContain('dir="auto" lang="de">Willkommen<');
  const asked = await person().open(authorize('de'));
  expect(asked.text).toContain('um mit <bdi>wiki</bdi> fortzufahren');
  expect(asked.text).toContain('>Willkommen<');
});
