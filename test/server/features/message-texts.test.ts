// Owns: what pages say in a realm's own words, and what of it is refused.
// Does not own: which language a page is in (languages.test.ts), what every resource does (test/server/resource).
// Implements: decisions "Of further resources" (`messageTexts`).
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServerProblem } from '../../../server/contract/client.ts';
import { createClientScope } from '../../../server/contract/client-scopes.ts';
import { messageTexts } from '../../../server/contract/message-texts.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
const { create, put, remove, list } = messageTexts.routes;
beforeAll(async () => {
  server = await startTestServer();
  await makePeopledRealm(server, 'acme');
  const body = { supportedLocales: ['en', 'de', 'de-CH', 'fr'] };
  await server.admin.call(putSettings, { params, body });
});
afterAll(() => server?.stop());

const signIn = (locale: string) => createPerson(server.baseUrl, { 'accept-language': locale }).open(LOGIN);
const LOGIN = '/realms/acme/login?for=account';
const say = (locale: string, texts: Record<string, string>) =>
  server.admin.call(create, { params, body: { locale, texts } });
const at = (locale: string) => ({ realm: 'acme', locale });
const forget = async () => {
  const { body = [] } = await server.admin.call(list, { params });
  for (const { locale } of body) await server.admin.call(remove, { params: at(String(locale)) });
};

test('a page says what the realm says, in that language alone, at once, and the rest as it is built in', async () => {
  await forget();
  await say('de', { 'password.title': 'Willkommen zurück' });
  const german = await signIn('de');
  expect(german.heading).toBe('Willkommen zurück');
  expect(german.text).toContain('<title>Willkommen zurück');
  expect(german.text).toContain('Passwort');
  expect((await signIn('en')).heading).toBe('Sign in');
  expect((await signIn('fr')).heading).toBe('Se connecter');
  await server.admin.call(put, { params: at('de'), body: { texts: { 'password.title': 'Guten Tag' } } });
  expect((await signIn('de')).heading).toBe('Guten Tag');
  await server.admin.call(remove, { params: at('de') });
  expect((await signIn('de')).heading).toBe('Anmelden');
});

test('texts of a language count in its regions, where those of the region go before them', async () => {
  await forget();
  await say('de', { 'password.title': 'Guten Tag', 'password.password': 'Kennwort' });
  await say('de-CH', { 'password.title': 'Grüezi' });
  const swiss = await signIn('de-CH');
  expect(swiss.heading).toBe('Grüezi');
  expect(swiss.text).toContain('Kennwort');
  expect((await signIn('de')).heading).toBe('Guten Tag');
});

test('whatever a text holds is text on the page, in its title and in attributes', async () => {
  await forget();
  const hostile = '"><script>alert(1)</script><img src=x onerror=alert(1)>\'';
  await say('en', { 'password.title': hostile, 'password.password': hostile, 'password.submit': hostile });
  const { text } = await signIn('en');
  expect(text).not.toContain('<script>alert');
  expect(text).not.toContain('<img src=x');
  expect(text).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&#39;');
});

test.each<[string, string, Record<string, string>, string]>([
  ['a key that there isn’t', 'en', { 'password.titel': 'x' }, 'texts.password.titel is not the key of a text'],
  ['a key of every object', 'en', { constructor: 'x' }, 'texts.constructor is not the key of a text'],
  [
    'an unknown placeholder',
    'en',
    { 'consent.lead': '{application} {username} {password}' },
    'texts.consent.lead there is no placeholder {password}; there is {application}, {username}',
  ],
  [
    'a placeholder where there is none',
    'en',
    { 'password.title': 'Hello {username}' },
    'texts.password.title there is no placeholder {username}; there are none',
  ],
  [
    'without a placeholder that the page needs',
    'en',
    { 'consent.lead': 'Somebody asks for {username}:' },
    'texts.consent.lead must have the placeholder {application}',
  ],
  ['blank', 'en', { 'password.title': ' ' }, 'texts.password.title must not be blank'],
  [
    'that turns the rest around',
    'en',
    { 'password.title': 'a\u202eb' },
    'texts.password.title must not contain control',
  ],
  ['too long', 'en', { 'password.title': 'x'.repeat(2001) }, 'texts.password.title must have at most 2000 characters'],
  ['in a language that pages are not written in', 'sv', { 'password.title': 'Hej' }, 'locale must be a language that'],
])('texts %s are refused, by API and document', async (_, locale, texts, words) => {
  await forget();
  const told = (error: ServerProblem) => [
    error.status,
    (error.problem?.errors ?? []).map(({ path, message }) => `${path} ${message}`).join('; '),
  ];
  const refused = (work: Promise<unknown>) => work.then(() => Promise.reject(new Error('it was taken')), told);
  const [status, faults] = await refused(say(locale, texts));
  expect(status).toBe(400);
  expect(faults).toContain(words);
  const body = { messageTexts: [{ locale, texts }] };
  const [byDocument, faultsThere] = await refused(server.admin.call(importRealm, { params, body }));
  expect(byDocument).toBe(400);
  expect(faultsThere).toContain(words.split(' ').slice(1).join(' '));
});

test('the consent page says what each scope means, in the language of the page', async () => {
  await forget();
  const scope = (body: { name: string; description?: string }) =>
    server.admin.call(createClientScope, { params, body });
  await scope({ name: 'calendar', description: 'Your calendar' });
  await scope({ name: 'photos', description: 'Your photos' });
  await scope({ name: 'plain' });
  await makeClient(server, 'acme', {
    clientId: 'third',
    name: 'Third',
    redirectUris: ['https://third.example/back'],
    consentRequired: true,
    optionalClientScopes: ['calendar', 'photos', 'plain'],
  });
  await say('de', { 'scope.calendar': 'Sehen, wann Sie <b>Zeit</b> haben' });
  const asks = authorizePath('acme', 'third', newVerifier(), {
    redirect_uri: 'https://third.example/back',
    scope: 'openid email calendar photos plain',
  });
  const listed = async (locale: string) => {
    const who = createPerson(server.baseUrl, { 'accept-language': locale });
    const page = await who.fill(await who.open(asks), { username: 'alice', password: PASSWORD });
    return [...page.text.matchAll(/<div class="what">(?:<bdi>)?(.*?)(?:<\/bdi>)?<\/div>/g)].map(([, words]) => words);
  };
  const german = await listed('de');
  expect(german).toContain('Sehen, wann Sie &lt;b&gt;Zeit&lt;/b&gt; haben');
  expect(german).toContain('Ihre E-Mail-Adresse');
  expect(german).toEqual(expect.arrayContaining(['Your photos', 'plain']));
  expect(await listed('en')).toContain('Your calendar');
});

test('texts are written by who may, and read by who may', async () => {
  await forget();
  const reader = await administrator(server, { target: 'acme', permissions: ['message-texts:read'] });
  expect((await reader.call(list, { params })).status).toBe(200);
  const body = { locale: 'en', texts: { 'password.title': 'Mine' } };
  await expect(reader.call(create, { params, body })).rejects.toMatchObject({ status: 403 });
});
