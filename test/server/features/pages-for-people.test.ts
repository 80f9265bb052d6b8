// Owns: what the pages of a realm say to a person, and where each of them leads on.
// Does not own: what the protocol does meanwhile (conformance.*.test.ts), how the pages look (test/browser).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApplication } from '../../../server/contract/applications.ts';
import { timeAgo } from '../../../server/http/ago.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const alice = { username: 'alice', password: PASSWORD };
const account = '/realms/acme/account';
const HOME = 'https://shop.example.com/';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makePeopledRealm(server, 'acme');
  const uris = { redirectUris: [CALLBACK], postLogoutRedirectUris: [CALLBACK] };
  for (const clientId of ['shop-7f3', 'wiki'])
    await makeClient(server, 'acme', { clientId, tokenEndpointAuthMethod: 'none', ...uris });
  const shop = { name: 'shop', displayName: 'The Shop', url: HOME, clients: ['shop-7f3'] };
  await server.admin.call(createApplication, { params: { realm: 'acme' }, body: shop });
});
afterAll(() => server?.stop());

const person = () => createPerson(server.baseUrl);
const authorize = (clientId: string, more: Record<string, string> = {}) =>
  authorizePath('acme', clientId, newVerifier(), more);
const linksOf = ({ text }: ShownPage) =>
  [...text.matchAll(/<a class="button[^"]*" href="([^"]*)"/g)].map(([, to]) => to);
/** What a person reads who opens nothing. */
const wordsOf = ({ text }: ShownPage) =>
  text.replace(/<details>[\s\S]*<\/details>|<\/?bdi>/g, '').replace(/<[^>]*>/g, ' ');

test('who opens their account signs in to it, whatever application they left half way', async () => {
  const browser = person();
  const left = await browser.open(authorize('wiki'));
  expect(left.text).toContain('to continue to <bdi>wiki</bdi>');
  const opened = await browser.open(account);
  expect(opened.text).not.toContain('wiki');
  expect((await browser.open(account)).url).toBe(opened.url);
  expect(new URL((await browser.fill(opened, alice)).url).pathname).toBe(account);
});

test('who left the sign-in to their account half way signs in to the application that sends them', async () => {
  const browser = person();
  const left = await browser.open(account);
  const asked = await browser.open(authorize('wiki'));
  expect(asked.text).toContain('to continue to <bdi>wiki</bdi>');
  expect((await browser.fill(asked, alice)).url).toMatch(new RegExp(`^${CALLBACK}\\?.*code=`));
  expect(new URL((await browser.fill(left, alice)).url).pathname).toBe(account);
});

test('a browser without cookies is told so, not sent in circles', async () => {
  const page = await person().open('/realms/acme/login?for=account');
  expect(page.heading).toBe('Sign in');
  const bare = async (path: string, hops = 0): Promise<string> => {
    const answer = await fetch(new URL(path, server.baseUrl), { redirect: 'manual' });
    const to = answer.headers.get('location');
    return to === null || hops > 5 ? answer.text() : bare(to, hops + 1);
  };
  expect(await bare('/realms/acme/login?for=account')).toContain('allow cookies');
});

test('an application is called by its name, or the one it is a part of', async () => {
  const browser = person();
  const page = await browser.open(authorize('shop-7f3'));
  expect(wordsOf(page)).toContain('to continue to The Shop');
  await browser.fill(page, alice);
  const shown = await browser.open(`${account}?view=devices`);
  expect(wordsOf(shown)).toContain('The Shop');
  expect(wordsOf(shown)).not.toContain('shop-7f3');
});

test('times are how long ago it was, which is the same in every place', async () => {
  const browser = person();
  await browser.fill(await browser.open(account), alice);
  const shown = await browser.open(`${account}?view=devices`);
  expect(shown.text).toMatch(/signed in <time datetime="\d{4}-[^"]*Z">just now<\/time>/);
  expect(wordsOf(shown)).not.toContain('UTC');
  const now = new Date('2026-03-01T12:00:00Z');
  const before = (ms: number) => timeAgo(now.getTime() - ms, now);
  expect([30_000, 61_000, 7_300_000, 90_000_000, 3 * 86_400_000].map(before)).toEqual([
    'just now',
    '1 minute ago',
    '2 hours ago',
    'yesterday',
    '3 days ago',
  ]);
});

test('“Sign out?” can be answered by staying, and its end leads on', async () => {
  const browser = person();
  await browser.fill(await browser.open(account), alice);
  const plain = await browser.open('/realms/acme/oauth2/logout');
  expect([plain.heading, linksOf(plain)]).toEqual(['Sign out?', [account]]);
  const asked = await browser.open('/realms/acme/oauth2/logout?client_id=shop-7f3');
  expect([wordsOf(asked).includes('The Shop'), linksOf(asked)]).toEqual([true, [HOME]]);
  const done = await browser.post('/realms/acme/oauth2/logout/confirm', asked.fields);
  expect([done.heading, linksOf(done)]).toEqual(['You are signed out', [HOME, '/realms/acme/login?for=account']]);
  expect((await browser.open('/realms/acme/login?for=account')).heading).toBe('Sign in');
});

test.each([
  ['an unknown application', authorize('nobody'), 'client_id', [account]],
  [
    'a foreign address of a known one',
    authorize('shop-7f3', { redirect_uri: 'https://evil.example/' }),
    'redirect_uri',
    [HOME],
  ],
  ['a parameter twice', `${authorize('wiki')}&state=2`, 'parameter', [account]],
  [
    'a foreign address after logout',
    '/realms/acme/oauth2/logout?client_id=shop-7f3&post_logout_redirect_uri=x:y',
    'uri',
    [HOME],
  ],
  ['a sign-in that is over', '/realms/acme/oauth2/authorize/resume', 'invalid_request', [account]],
])('%s: a person gets words and a way back, a developer what is wrong', async (_, path, parameter, way) => {
  const page = await person().open(path);
  expect([page.status, page.heading]).toEqual([400, 'This request cannot go on']);
  expect(wordsOf(page)).not.toMatch(/client_id|redirect_uri|parameter|invalid_request|_/);
  expect(/<details>[\s\S]*<\/details>/.exec(page.text)?.[0]).toMatch(
    parameter === 'client_id' ? /not known/ : parameter,
  );
  expect(linksOf(page)).toEqual(way);
});
