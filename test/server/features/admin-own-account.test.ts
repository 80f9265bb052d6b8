// Owns: how an administrator comes from an admin session to their own account without a second sign-in, and what prevents it.
// Does not own: signing in (admin-sign-in.test.ts), the account page (account.test.ts).
// Implements: decisions "Admin authentication".
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createAdminRole } from '../../../server/contract/admin-roles.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createGroup } from '../../../server/contract/groups.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

const password = 'a perfectly good password';
/** The page of an administrator who is signed in, without the console. */
const PLAIN = '/admin/login?page=plain';
const TICKET = 'SVC_ADMIN_ACCOUNT';
let server: TestServer;
let realm = '';
let realms = 0;
let clock = Date.now();
let boss = '';
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  realms += 1;
  realm = `own-${realms}`;
  await server.admin.call(createRealm, { body: { realm } });
  boss = await newUser('boss', [{ role: 'realm-admin', realm }]);
});

async function newUser(username: string, grants: { role: string; realm: string }[] = []): Promise<string> {
  const { body } = await server.admin.call(createUser, { params: { realm }, body: { username, password } });
  const userId = body?.id ?? '';
  if (grants.length > 0) await server.admin.call(putUserAdminRoles, { params: { realm, userId }, body: { grants } });
  return userId;
}
async function signedIn(username = 'boss', home = realm, secret = password): Promise<Person> {
  const who = createPerson(server.baseUrl);
  const page = await who.open('/admin/login');
  const asked = await who.post('/admin/login/form', { ...page.fields, realm: home });
  await who.fill(asked, { username, password: secret });
  expect((await who.open(PLAIN)).heading).toBe('Signed in');
  return who;
}
/** Presses the button, and stops before the realm's page. */
async function press(who: Person): Promise<string> {
  const { fields } = await who.open(PLAIN);
  const answer = await who.once('/admin/account/form', {
    method: 'POST',
    body: new URLSearchParams({ csrf: fields.csrf ?? '' }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(answer.status).toBe(303);
  return answer.headers.get('location') ?? '';
}
const toAccount = async (who: Person) => who.open(await press(who));
const signOut = async (who: Person) => who.post('/admin/logout/form', (await who.open(PLAIN)).fields);
const pathOf = ({ url }: { url: string }) => new URL(url).pathname;
const sessions = async (of = realm) => (await server.admin.call(listSessions, { params: { realm: of } })).body ?? [];
const events = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];
const account = () => `/realms/${realm}/account`;
const signIn = () => `/realms/${realm}/login`;

test('the button leads to the part of the account that it names, and to the first one for any other text', async () => {
  for (const [view, query] of [
    ['security', '?view=security'],
    ['https://evil.example', ''],
  ] as const) {
    const who = await signedIn();
    const { fields } = await who.open(PLAIN);
    const page = await who.post('/admin/account/form', { ...fields, view });
    expect([page.status, new URL(page.url).pathname + new URL(page.url).search]).toEqual([200, `${account()}${query}`]);
  }
});

test('an administrator comes to their own account signed in, as of the admin sign-in, until they sign out there', async () => {
  const who = await signedIn();
  expect(await sessions()).toEqual([]);
  const began = clock;
  clock += 400_000;
  const page = await toAccount(who);
  expect([page.status, pathOf(page)]).toEqual([200, account()]);
  expect(page.text).toContain('boss');
  const [session, ...others] = await sessions();
  expect(others).toEqual([]);
  expect(session).toMatchObject({ userId: boss, startedAt: expect.any(Number), levelOfAssurance: 1 });
  expect(Math.abs((session?.startedAt ?? 0) - began)).toBeLessThan(5_000);
  expect((session?.expiresAt ?? 0) - began).toBeLessThanOrEqual(10 * 3_600_000 + 5_000);
  const [latest] = await events('LOGIN_SUCCESS');
  expect(latest).toMatchObject({
    actor: { id: boss },
    data: { sessionId: session?.id, reason: 'admin-session', levelOfAssurance: 1, methods: ['pwd'] },
  });
  // The proof is as old as it is: a change of the password asks for it again.
  const change = await who.post(`${account()}/change`, { ...page.fields, action: 'UPDATE_PASSWORD' });
  expect(pathOf(change)).toBe(signIn());
  expect(change.text).not.toContain('name="repeated"');
  expect(pathOf(await toAccount(who))).toBe(account());
  expect(await sessions()).toHaveLength(1);
  await signOut(who);
  expect(await sessions()).toEqual([]);
  expect((await events('SESSION_ENDED'))[0]).toMatchObject({ data: { sessionId: session?.id, reason: 'logout' } });
  expect(pathOf(await who.open(account()))).toBe(signIn());
});

test('a session that the user has there already is used, and stays when the admin session ends', async () => {
  const who = createPerson(server.baseUrl);
  await who.fill(await who.open(`${signIn()}?for=account`), { username: 'boss', password });
  const page = await who.open('/admin/login');
  await who.fill(await who.post('/admin/login/form', { ...page.fields, realm }), { username: 'boss', password });
  const [before] = await sessions();
  expect(pathOf(await toAccount(who))).toBe(account());
  expect((await sessions()).map(({ id }) => id)).toEqual([before?.id]);
  await signOut(who);
  expect(pathOf(await who.open(account()))).toBe(account());
});

test('the ticket works once, for a minute, and a form without the token gives none', async () => {
  const who = await signedIn();
  const to = await press(who);
  const ticket = who.jar.get(TICKET) ?? '';
  expect(ticket).not.toBe('');
  expect(to).not.toContain(ticket);
  const thief = createPerson(server.baseUrl);
  expect(pathOf(await who.open(to))).toBe(account());
  expect(who.jar.has(TICKET)).toBe(false);
  thief.jar.set(TICKET, ticket);
  expect(pathOf(await thief.open(to))).toBe(signIn());
  expect(await sessions()).toHaveLength(1);

  const late = await signedIn();
  const where = await press(late);
  clock += 61_000;
  expect(pathOf(await late.open(where))).toBe(signIn());
  // By two at once one session begins.
  const two = [await press(late), late.jar.get(TICKET) ?? ''] as const;
  const browsers = [1, 2, 3].map(() => {
    const browser = createPerson(server.baseUrl);
    browser.jar.set(TICKET, two[1]);
    return browser.open(two[0]);
  });
  expect((await Promise.all(browsers)).filter((page) => pathOf(page) === account())).toHaveLength(1);

  for (const fields of [{}, { csrf: 'x' }]) {
    const refused = await late.post('/admin/account/form', fields);
    expect([refused.status, late.jar.has(TICKET)]).toEqual([403, true]);
  }
  const none = createPerson(server.baseUrl);
  expect(pathOf(await none.open(where))).toBe('/admin/login');
  expect((await none.once('/admin/account/form')).status).toBe(405);
});

test('in a browser in which another user is signed in, nothing is opened, and their session stays', async () => {
  await newUser('ana');
  const who = await signedIn();
  await who.fill(await who.open(`${signIn()}?for=account`), { username: 'ana', password });
  const cookie = who.jar.get('SVC_SESSION');
  const page = await toAccount(who);
  expect(page.status).toBe(409);
  expect(page.text).toContain('ana is signed in to the realm');
  expect(who.jar.get('SVC_SESSION')).toBe(cookie);
  expect((await sessions()).map(({ username }) => username)).toEqual(['ana']);
  expect((await who.open(account())).text).toContain('ana');
});

test('the ticket of one administrator opens no other account, nor another realm’s', async () => {
  await newUser('eve', [{ role: 'realm-viewer', realm }]);
  const eve = await signedIn('eve');
  const to = await press(eve);
  const other = `${realm}-other`;
  await server.admin.call(createRealm, { body: { realm: other } });
  await server.admin.call(createUser, { params: { realm: other }, body: { username: 'eve', password } });
  const elsewhere = createPerson(server.baseUrl);
  elsewhere.jar.set(TICKET, eve.jar.get(TICKET) ?? '');
  const asked = await elsewhere.open(to.replace(`/realms/${realm}/`, `/realms/${other}/`));
  expect(pathOf(asked)).toBe(`/realms/${other}/login`);
  expect(await sessions(other)).toEqual([]);
  expect((await eve.open(to)).text).toContain('eve');
  expect((await sessions()).map(({ username }) => username)).toEqual(['eve']);
});

test('an administrator of master comes to their account in master, whatever realms they administer', async () => {
  const who = await signedIn('admin', 'master', ADMIN_PASSWORD);
  const page = await toAccount(who);
  expect(pathOf(page)).toBe('/realms/master/account');
  expect(await sessions()).toEqual([]);
});

test('an administrator of single groups comes to their own account alike', async () => {
  const { body: group } = await server.admin.call(createGroup, { params: { realm }, body: { name: 'team' } });
  const role = { name: 'team lead', permissions: ['users:read' as const], groups: [group?.path ?? ''] };
  await server.admin.call(createAdminRole, { params: { realm }, body: role });
  await newUser('lead', [{ role: 'team lead', realm }]);
  expect((await toAccount(await signedIn('lead'))).text).toContain('lead');
});

test('an admin session that has ended opens nothing, before the button or after it', async () => {
  const who = await signedIn();
  const to = await press(who);
  await signOut(who);
  expect(pathOf(await who.open(to))).toBe(signIn());
  expect(await press(who)).toBe('/admin/login');
  const idle = await signedIn();
  const where = await press(idle);
  await server.pool.query('update admin_session set last_seen_at = $1 where realm_id = $2', [
    new Date(clock - 31 * 60_000),
    realm,
  ]);
  expect(pathOf(await idle.open(where))).toBe(signIn());
  const off = await signedIn();
  const there = await press(off);
  await server.admin.call(putUser, { params: { realm, userId: boss }, body: { enabled: false } });
  expect(pathOf(await off.open(there))).toBe(signIn());
  expect(await sessions()).toEqual([]);
});

test('what the realm asks for meanwhile it asks first: a factor, or an action', async () => {
  const params = { realm };
  const who = await signedIn();
  const to = await press(who);
  await server.admin.call(putSettings, { params, body: { requireMfa: true } });
  expect(pathOf(await who.open(to))).toBe(signIn());
  expect(await press(who)).toBe('/admin/login');
  expect((await who.open('/admin/login')).heading).toBe('A second factor is needed now');
  await server.admin.call(putSettings, { params, body: { requireMfa: false } });
  const at = { params: { realm, userId: boss } };
  await server.admin.call(putUser, { ...at, body: { requiredActions: ['UPDATE_PROFILE'] } });
  expect(pathOf(await toAccount(who))).toBe(signIn());
  expect(await sessions()).toEqual([]);
});
