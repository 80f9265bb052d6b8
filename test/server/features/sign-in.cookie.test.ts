// A sign-in that was only begun is its cookie: what somebody can do with that cookie who keeps, changes or repeats it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { authorizePath, CALLBACK, newVerifier, PASSWORD, redeem } from '../../support/applications.ts';
import { makeClient, makeRealm } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

const COOKIE = 'SVC_SIGN_IN';
const alice = { username: 'alice', password: PASSWORD };
let server: TestServer;
let clock = new Date('2026-05-04T10:00:00Z');
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ now: () => clock });
});
afterAll(() => server?.stop());

const admin = () => server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
const person = () => createPerson(server.baseUrl);
const cookieOf = ({ jar }: Person) => jar.get(COOKIE) ?? '';
const ask = (realm: string, more: Record<string, string> = {}) => authorizePath(realm, 'app', newVerifier(), more);
const codeIn = ({ url }: ShownPage) => new URL(url).searchParams.get('code');

async function realmWithApp(settings: Parameters<typeof putSettingsOf>[1] = {}): Promise<string> {
  made += 1;
  const realm = `c${made}`;
  await makeRealm({ ...server, admin: await admin() }, realm);
  await putSettingsOf(realm, settings);
  await makeClient({ ...server, admin: await admin() }, realm, {
    clientId: 'app',
    tokenEndpointAuthMethod: 'none',
    redirectUris: [CALLBACK],
  });
  await (await admin()).call(createUser, { params: { realm }, body: alice });
  return realm;
}
const putSettingsOf = async (
  realm: string,
  body: { lockoutEnabled?: boolean; maxLoginFailures?: number; requireMfa?: boolean },
) => (await admin()).call(putSettings, { params: { realm }, body });

const rows = async (realm: string): Promise<number> =>
  (await server.pool.query('select from sign_in where realm_id = $1', [realm])).rowCount ?? 0;
const count = async (realm: string, type: string) =>
  (await (await admin()).call(listEvents, { params: { realm }, query: { type } })).body?.length;
const sessions = async (realm: string) =>
  (await (await admin()).call(listSessions, { params: { realm } })).body?.length;

test('who only looks at the page costs no row, and who signs in comes back with a code in the same answer', async () => {
  const realm = await realmWithApp();
  const visitor = person();
  const verifier = newVerifier();
  const page = await visitor.open(authorizePath(realm, 'app', verifier));
  expect(page.heading).toBe('Sign in');
  await visitor.open(`/realms/${realm}/login`);
  expect(await rows(realm)).toBe(0);
  const answer = await visitor.once(`/realms/${realm}/login`, {
    method: 'POST',
    body: new URLSearchParams({ ...page.fields, do: 'next', ...alice }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(answer.status).toBe(303);
  const landed = new URL(answer.headers.get('location') ?? '');
  expect(landed.href.startsWith(CALLBACK)).toBe(true);
  expect(landed.searchParams.get('state')).toBe('state');
  expect(visitor.jar.has(COOKIE)).toBe(false);
  const code = landed.searchParams.get('code') ?? '';
  expect((await redeem(server, realm, 'app', { code, verifier })).status).toBe(200);
});

test('the cookie holds nothing that can be read, and nothing that can be changed', async () => {
  const realm = await realmWithApp();
  const visitor = person();
  const page = await visitor.open(ask(realm));
  const [token = '', sealed = ''] = cookieOf(visitor).split('.');
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('client_id');
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  const other = person();
  await other.open(ask(realm));
  const [otherToken = ''] = cookieOf(other).split('.');
  for (const bad of [
    `${token}.${bytes.toString('base64url')}`,
    `${token}.${sealed.slice(0, 20)}`,
    `${token}.`,
    `${otherToken}.${sealed}`,
    token,
    `.${sealed}`,
  ]) {
    visitor.jar.set(COOKIE, bad);
    expect((await visitor.fill(page, alice)).heading).toBe('This sign-in has expired');
  }
  expect(await count(realm, 'LOGIN_SUCCESS')).toBe(0);
});

test('a cookie of another realm is none', async () => {
  const [realm, other] = [await realmWithApp(), await realmWithApp()];
  const visitor = person();
  const page = await visitor.open(ask(realm));
  const there = await visitor.post(`/realms/${other}/login`, { ...page.fields, do: 'next', ...alice });
  expect(there.heading).toBe('This sign-in has expired');
});

test('the cookie ends with its half hour, also for who kept it', async () => {
  const realm = await realmWithApp();
  const visitor = person();
  const page = await visitor.open(ask(realm));
  clock = new Date(clock.getTime() + 1801 * 1000);
  expect((await visitor.fill(page, alice)).heading).toBe('This sign-in has expired');
  expect(await sessions(realm)).toBe(0);
});

test('a sign-in goes on from its cookie alone, however many were begun after it', async () => {
  const realm = await realmWithApp();
  const visitor = person();
  const page = await visitor.open(ask(realm));
  const path = ask(realm);
  for (let i = 0; i < 510; i += 1)
    expect((await fetch(server.baseUrl + path, { redirect: 'manual' })).status).toBe(303);
  expect(codeIn(await visitor.fill(page, alice))).not.toBeNull();
});

test('a sign-in is finished once: its cookie sent again without the password asks it anew', async () => {
  const realm = await realmWithApp();
  const visitor = person();
  const page = await visitor.open(ask(realm));
  const kept = cookieOf(visitor);
  expect(codeIn(await visitor.fill(page, alice))).not.toBeNull();
  const thief = person();
  for (const password of ['', 'a guess']) {
    thief.jar.set(COOKIE, kept);
    const again = await thief.fill(page, { ...alice, password });
    expect(again.heading).toBe('Sign in');
  }
  expect([await count(realm, 'LOGIN_SUCCESS'), await count(realm, 'CODE_ISSUED'), await sessions(realm)]).toEqual([
    1, 1, 1,
  ]);
});

test('who clicks twice gets to the application by the second answer, though nobody reads the first', async () => {
  const realm = await realmWithApp();
  const visitor = person();
  const page = await visitor.open(ask(realm));
  const kept = cookieOf(visitor);
  const twins = [person(), person(), person()];
  for (const twin of twins) twin.jar.set(COOKIE, kept);
  const landed = await Promise.all(twins.map((twin) => twin.fill(page, alice)));
  expect(landed.map(({ url }) => url.startsWith(CALLBACK))).toEqual([true, true, true]);
  expect(new Set(landed.map(codeIn)).size).toBe(3);
  const late = person();
  late.jar.set(COOKIE, kept);
  expect(codeIn(await late.fill(page, alice))).not.toBeNull();
  // each is a sign-in of its own, with a session and an audit event of its own
  expect([await count(realm, 'LOGIN_SUCCESS'), await count(realm, 'CODE_ISSUED'), await sessions(realm)]).toEqual([
    4, 4, 4,
  ]);
});

test('an older cookie takes no failed try back', async () => {
  const realm = await realmWithApp({ lockoutEnabled: true, maxLoginFailures: 3 });
  const visitor = person();
  const page = await visitor.open(ask(realm));
  const begun = cookieOf(visitor);
  for (let i = 0; i < 3; i += 1) {
    visitor.jar.set(COOKIE, begun);
    expect((await visitor.fill(page, { ...alice, password: `wrong ${i}` })).text).toContain('is wrong');
    expect(cookieOf(visitor)).toBe(begun.split('.')[0]);
  }
  visitor.jar.set(COOKIE, begun);
  expect((await visitor.fill(page, alice)).heading).toBe('Sign in');
  expect([await count(realm, 'USER_LOCKED'), await count(realm, 'LOGIN_FAILURE'), await sessions(realm)]).toEqual([
    1, 4, 0,
  ]);
});

test('an older cookie neither undoes a step nor skips one', async () => {
  const realm = await realmWithApp({ requireMfa: true });
  const visitor = person();
  const page = await visitor.open(ask(realm));
  const begun = cookieOf(visitor);
  const secret = (await visitor.fill(page, alice)).text;
  expect(secret).toContain('Set up a second factor');
  visitor.jar.set(COOKIE, begun);
  const again = await visitor.fill(page, alice);
  expect(again.heading).toBe('Set up a second factor');
  expect(cookieOf(visitor)).not.toContain(begun.split('.')[0]);
  expect(await sessions(realm)).toBe(0);
});

test('what is too long for a cookie is kept in a row, and goes the same way', async () => {
  const realm = await realmWithApp();
  const visitor = person();
  const state = 'x'.repeat(3000);
  const page = await visitor.open(ask(realm, { state }));
  expect(cookieOf(visitor)).not.toContain('.');
  expect(await rows(realm)).toBe(1);
  const landed = await visitor.fill(page, alice);
  expect(new URL(landed.url).searchParams.get('state')).toBe(state);
  expect(codeIn(landed)).not.toBeNull();
  expect(await count(realm, 'CODE_ISSUED')).toBe(1);
});

test('a stranger makes a few rows by long requests, and no more', async () => {
  const realm = await realmWithApp();
  clock = new Date(clock.getTime() + 61_000);
  const path = ask(realm, { state: 'x'.repeat(3000) });
  const answers: string[] = [];
  for (let i = 0; i < 70; i += 1) answers.push((await person().once(path)).headers.get('location') ?? '');
  expect(answers.filter((to) => to.includes(`/realms/${realm}/login`))).toHaveLength(60);
  expect(answers.filter((to) => to.includes('error=slow_down'))).toHaveLength(10);
  expect(await rows(realm)).toBe(60);
  // who asks for no more than people do is not in their way
  expect((await person().open(ask(realm))).heading).toBe('Sign in');
});

test('a stranger makes a few rows by wrong passwords, and no more', async () => {
  const realm = await realmWithApp();
  clock = new Date(clock.getTime() + 61_000);
  const statuses: number[] = [];
  for (let i = 0; i < 70; i += 1) {
    const visitor = person();
    const page = await visitor.open(ask(realm));
    statuses.push((await visitor.fill(page, { ...alice, password: 'wrong' })).status);
  }
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  expect(await rows(realm)).toBe(60);
  clock = new Date(clock.getTime() + 61_000);
});

test('an answer by form is a page of its own, which can be loaded again without the password', async () => {
  const realm = await realmWithApp();
  const visitor = person();
  const landed = await visitor.fill(await visitor.open(ask(realm, { response_mode: 'form_post' })), alice);
  expect(landed.url).toContain('/oauth2/authorize/resume');
  expect(landed.fields.code).toMatch(/^svc_ac_/);
});

test('a webhook that is made after sign-ins nobody listened to hears of the next one', async () => {
  const realm = await realmWithApp();
  const enter = async () => {
    const visitor = person();
    return visitor.fill(await visitor.open(ask(realm)), alice);
  };
  await enter();
  await enter();
  const { body: webhook } = await (await admin()).call(createWebhook, {
    params: { realm },
    body: { name: 'ear', url: 'https://127.0.0.1:1/', eventTypes: 'LOGIN_SUCCESS', enabled: true },
  });
  const heard = async () =>
    (await server.pool.query('select from webhook_delivery where webhook_id = $1', [webhook?.id])).rowCount;
  expect(await heard()).toBe(0);
  expect(codeIn(await enter())).not.toBeNull();
  expect(codeIn(await enter())).not.toBeNull();
  expect(await heard()).toBe(2);
});
