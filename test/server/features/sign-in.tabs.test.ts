// Sign-ins in several tabs of one browser: each goes on by itself, up to a bound; beyond it they lead on all the same.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { makeClient } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const alice = { username: 'alice', password: PASSWORD };
const bob = { username: 'bob', password: PASSWORD };
let server: TestServer;
let clock = new Date();
let realm = '';
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ now: () => clock });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `t${made}`;
  await makePeopledRealm(server, realm, ['alice', 'bob']);
  for (const clientId of ['mail', 'files'])
    await makeClient(server, realm, { clientId, tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
});

const browser = () => createPerson(server.baseUrl);
const settings = (body: SettingsInput) => server.admin.call(putSettings, { params: { realm }, body });
const open = (person: Person, clientId: string, state: string, more: Record<string, string> = {}) =>
  person.open(authorizePath(realm, clientId, newVerifier(), { state, ...more }));
const count = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body?.length;
const sessions = async () => (await server.admin.call(listSessions, { params: { realm } })).body?.length;
const signIns = ({ jar }: Person) => [...jar].filter(([name]) => name.startsWith('SVC_SIGN_IN'));
/** By its link, which needs no reading of scripts: where an expired page leads. */
const startAgain = ({ text }: ShownPage) =>
  (/<a class="button full" href="([^"]*)"/.exec(text)?.[1] ?? '').replace(/&amp;/g, '&');

function expectIn(landed: ShownPage, state: string): void {
  const { href, searchParams } = new URL(landed.url);
  expect(href.startsWith(CALLBACK)).toBe(true);
  expect(searchParams.get('state')).toBe(state);
  expect(searchParams.get('code')).toMatch(/^svc_ac_/);
}

test.each([
  ['the older first', [0, 1, 2]],
  ['the newer first', [2, 1, 0]],
])('three tabs, of two applications, come to their own ends with one session: %s', async (_, order) => {
  await settings({ maxConcurrentSessions: 1 });
  const person = browser();
  const tabs = [
    { state: 'first', page: await open(person, 'mail', 'first') },
    { state: 'second', page: await open(person, 'files', 'second') },
    { state: 'third', page: await open(person, 'mail', 'third', { response_mode: 'form_post' }) },
  ];
  for (const at of order) {
    const tab = tabs[at];
    if (!tab) throw new Error('no such tab');
    const landed = await person.fill(tab.page, alice);
    if (tab.state === 'third')
      expect(landed.fields).toMatchObject({ state: 'third', code: expect.stringMatching(/^svc_ac_/) });
    else expectIn(landed, tab.state);
  }
  expect([await sessions(), await count('SESSION_ENDED'), await count('CODE_ISSUED')]).toEqual([1, 0, 3]);
  expect(signIns(person)).toEqual([]);
});

test('what is mistyped is told in its own tab, and loading that tab again shows it again', async () => {
  const person = browser();
  const older = await open(person, 'mail', 'older');
  const newer = await open(person, 'files', 'newer');
  const again = await person.fill(older, { ...alice, password: 'wrong' });
  expect(again.text).toContain('is wrong');
  expect(again.text).toContain('to continue to <bdi>mail</bdi>');
  expect((await person.open(newer.url.replace(server.baseUrl, ''))).text).not.toContain('is wrong');
  expect((await person.open(again.url.replace(server.baseUrl, ''))).text).toContain('is wrong');
  expectIn(await person.fill(again, alice), 'older');
  expectIn(await person.fill(newer, alice), 'newer');
});

test('second factors are asked for in each tab’s own sign-in', async () => {
  await settings({ requireMfa: true });
  const person = browser();
  const [older, newer] = [await open(person, 'mail', 'older'), await open(person, 'files', 'newer')];
  const set = await person.fill(older, alice);
  const secret = secretOn(set);
  const code = () => {
    clock = new Date(clock.getTime() + 30_000);
    return codeAt(secret, clock.getTime());
  };
  expectIn(await person.fill(set, { code: code() }), 'older');
  const asked = await person.fill(newer, alice);
  expect(asked.heading).toBe('Enter your code');
  expectIn(await person.fill(asked, { code: code() }), 'newer');
  expect(await sessions()).toBe(1);
});

test('somebody else in the other tab is signed in as who they are', async () => {
  const person = browser();
  const [older, newer] = [await open(person, 'mail', 'older'), await open(person, 'files', 'newer')];
  expectIn(await person.fill(newer, alice), 'newer');
  expectIn(await person.fill(older, bob), 'older');
  expect((await person.open(`/realms/${realm}/account`)).heading).toBe('bob');
});

test('a form is of this browser or of none, however many sign-ins it has', async () => {
  const [person, other] = [browser(), browser()];
  for (const state of ['a', 'b', 'c']) await open(person, 'mail', state);
  const theirs = await open(other, 'mail', 'theirs');
  for (const csrf of [theirs.fields.csrf ?? '', '', 'x'])
    expect((await person.fill(theirs, { ...alice, csrf })).heading).toBe('This sign-in has expired');
  expect(await count('LOGIN_SUCCESS')).toBe(0);
});

test('a browser carries three and not too much; what was let go starts again where it came from', async () => {
  const person = browser();
  const first = await open(person, 'mail', 'first');
  for (const state of ['second', 'third', 'fourth']) await open(person, 'files', state);
  expect(signIns(person).map(([name]) => name)).toEqual(['SVC_SIGN_IN_1', 'SVC_SIGN_IN_2', 'SVC_SIGN_IN_3']);
  const expired = await person.fill(first, alice);
  expect(expired.heading).toBe('This sign-in has expired');
  const page = await person.open(startAgain(expired));
  expect(page.text).toContain('to continue to <bdi>mail</bdi>');
  expectIn(await person.fill(page, alice), 'first');
  const long = browser();
  for (let i = 0; i < 4; i += 1) await open(long, 'mail', 'x'.repeat(1000));
  expect(signIns(long).length).toBeGreaterThan(0);
  expect(signIns(long).reduce((sum, [, value]) => sum + value.length, 0)).toBeLessThanOrEqual(6000);
});

test('numbers end, and begin anew', async () => {
  const person = browser();
  for (const tab of [97, 98, 99]) person.jar.set(`SVC_SIGN_IN_${tab}`, 'x');
  const page = await open(person, 'mail', 'next');
  expect(signIns(person).map(([name]) => name)).toEqual(['SVC_SIGN_IN']);
  expectIn(await person.fill(page, alice), 'next');
});

test('who clicks once more when the first answer has come gets to the application by the session', async () => {
  const person = browser();
  const page = await open(person, 'mail', 'slow');
  expectIn(await person.fill(page, alice), 'slow');
  expectIn(await person.fill(page, alice), 'slow');
  expect([await sessions(), await count('LOGIN_SUCCESS')]).toEqual([1, 1]);
});

test('the session leads on only where it is enough', async () => {
  const person = browser();
  const page = await open(person, 'mail', 'anew', { prompt: 'login' });
  expectIn(await person.fill(page, alice), 'anew');
  const again = await person.fill(page, alice);
  expect(again.heading).toBe('Sign in');
  expectIn(await person.fill(again, alice), 'anew');
  expect(await sessions()).toBe(1);
});

test('what a form says that it was for leads nowhere but to that question', async () => {
  const person = browser();
  const page = await open(person, 'mail', 'x');
  await person.fill(page, alice);
  for (const asked of ['https://evil.example/', '//evil.example', '\r\nlocation: https://evil.example', '%0d%0a', '']) {
    for (const [sent, to] of [
      [`authorize:${asked}`, '/oauth2/authorize?'],
      [asked, '/account'],
    ] as const) {
      const answer = await person.once(`/realms/${realm}/login`, {
        method: 'POST',
        body: new URLSearchParams({ csrf: 'x', asked: sent }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')?.startsWith(`/realms/${realm}${to}`)).toBe(true);
    }
  }
});
