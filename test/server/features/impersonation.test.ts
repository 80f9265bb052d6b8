// Administrators who act for a person: what they may, what they may not, and that it is seen.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createAdminRole } from '../../../server/contract/admin-roles.ts';
import type { Client, ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { endSession, listSessions } from '../../../server/contract/sessions.ts';
import { impersonateUser } from '../../../server/contract/user-access.ts';
import { createUser, deleteUser, putUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, claimsIn, post } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import {
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
let server: TestServer;
let clock = 0;
let boss: Client;
let bossId = '';
let person = { id: '', username: '' };
let n = 0;
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + clock) });
  await makeProvider(server);
  await makeRelyingParty(server, 'asking', { consentRequired: true });
  await server.admin.call(createAdminRole, { params, body: { name: 'help', permissions: ['users:impersonate'] } });
  const { body } = await server.admin.call(createUser, { params, body: { username: 'boss', password: PASSWORD } });
  bossId = body!.id;
  await server.admin.call(putUserAdminRoles, {
    params: { ...params, userId: bossId },
    body: { grants: [{ role: 'help', realm: REALM }] },
  });
  boss = await server.signIn({ realm: REALM, username: 'boss', password: PASSWORD });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  clock = 0;
  const username = `ana-${++n}`;
  const { body } = await server.admin.call(createUser, {
    params,
    body: { username, password: PASSWORD, email: `${username}@example.com` },
  });
  person = { id: body!.id, username };
});

const begin = async (by: Client = boss, userId = person.id) =>
  (await by.call(impersonateUser, { params: { ...params, userId } })).body!;
/** A browser in which somebody acts for the person. */
async function acting(by: Client = boss): Promise<Person> {
  const { url } = await begin(by);
  const browser = createPerson(server.baseUrl);
  const page = await browser.open(url.replace(server.baseUrl, ''));
  expect(page.heading).toBe('Act for another user');
  const account = await browser.fill(page, {});
  expect(account.heading).toBe(person.username);
  return browser;
}
const notice = () => `You are <bdi>boss</bdi>, and act for <bdi>${person.username}</bdi>.`;
const problem = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );
const exchange = (code: string | undefined, clientId = 'rp') =>
  post(
    server,
    REALM,
    'token',
    { grant_type: 'authorization_code', code: code ?? '', redirect_uri: RP },
    { authorization: basic(clientId) },
  );
const eventsOf = async (
  type: 'IMPERSONATION_STARTED' | 'CODE_ISSUED' | 'TOKEN_ISSUED' | 'SESSION_ENDED',
  realm = REALM,
) => (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];

describe('who acts for a person', () => {
  test('is seen to: on the page, in tokens, and in the audit log', async () => {
    const browser = await acting();
    const { text } = await browser.open(`/realms/${REALM}/account`);
    expect(text).toContain(`${notice()} This ends by itself in 30 min`);
    const { code } = responseParameters(await browser.open(requestPath({ scope: 'openid email' })))!;
    const { body } = await exchange(code);
    const act = { iss: `${server.baseUrl}/realms/${REALM}`, sub: bossId };
    for (const token of [body.access_token, body.id_token])
      expect(claimsIn(token)).toMatchObject({ sub: person.id, act, acr: '0', amr: [] });
    const me = { type: 'user', id: bossId, name: 'boss' };
    const them = { type: 'user', id: person.id, name: person.username };
    expect((await eventsOf('IMPERSONATION_STARTED'))[0]).toMatchObject({ actor: me, subject: them });
    expect((await eventsOf('CODE_ISSUED'))[0]).toMatchObject({ actor: me, subject: them });
    expect((await eventsOf('TOKEN_ISSUED'))[0]).toMatchObject({
      subject: them,
      data: { impersonator: { sub: bossId } },
    });
    const { body: sessions = [] } = await server.admin.call(listSessions, { params, query: { userId: person.id } });
    expect(sessions).toMatchObject([{ impersonator: 'boss', levelOfAssurance: 0 }]);
  });

  test('is named with the person on every page, until they sign out', async () => {
    const browser = await acting();
    const { csrf = '' } = (await browser.open(`/realms/${REALM}/account`)).fields;
    const pages = [
      await browser.open(`/realms/${REALM}/account?view=security`),
      await browser.post(`/realms/${REALM}/account/credentials/set-up`, { csrf }),
      await browser.open(`/realms/${REALM}/oauth2/logout`),
      await browser.open(`/realms/${REALM}/login?for=admin`),
    ];
    expect(pages.map(({ heading }) => heading)).toEqual([person.username, 'Not permitted', 'Sign out?', 'Sign in']);
    for (const { text, heading } of pages) expect(text.split(notice()), heading).toHaveLength(2);
    const { heading, text } = await browser.post(`/realms/${REALM}/account/sign-out`, { csrf });
    expect(heading).toBe('Signed out');
    expect(text).not.toContain('act for');
  });

  test('is named among the person’s own sessions', async () => {
    await acting();
    const own = createPerson(server.baseUrl);
    await own.fill(await own.open(`/realms/${REALM}/login?for=account`), {
      username: person.username,
      password: PASSWORD,
    });
    const account = await own.open(`/realms/${REALM}/account?view=devices`);
    expect(account.text.match(/Administrator <bdi>boss<\/bdi> acts for you here/g)).toHaveLength(1);
  });

  test('is told of in the log of their own realm too, without the person', async () => {
    await begin(server.admin);
    const [event] = await eventsOf('IMPERSONATION_STARTED', 'master');
    expect(event).toMatchObject({ actor: { name: 'admin' }, subject: { type: 'realm', id: REALM } });
    expect(JSON.stringify(event)).not.toContain(person.username);
    expect(JSON.stringify(event)).not.toContain(person.id);
  });

  test('gets there once, within a minute, and by a form of this site', async () => {
    const { url } = await begin();
    const token = new URL(url).searchParams.get('token') ?? '';
    const path = `/realms/${REALM}/impersonation`;
    const foreign = await createPerson(server.baseUrl, { origin: 'https://evil.example' }).post(path, { token });
    expect(foreign.status).toBe(403);
    // as browsers send the form of a page without referrers
    const own = { origin: 'null', 'sec-fetch-site': 'same-origin' };
    expect((await createPerson(server.baseUrl, own).post(path, { token })).heading).toBe(person.username);
    expect((await createPerson(server.baseUrl).post(path, { token })).status).toBe(400);
    expect((await createPerson(server.baseUrl).post(path, { token: 'x' })).status).toBe(400);
    const late = new URL((await begin()).url).searchParams.get('token') ?? '';
    clock = 61_000;
    expect((await createPerson(server.baseUrl).post(path, { token: late })).status).toBe(400);
  });

  test('gets no offline token, and tokens that end with the session, which ends by itself', async () => {
    const browser = await acting();
    clock = 600_000;
    const { code } = responseParameters(await browser.open(requestPath({ scope: 'openid email offline_access' })))!;
    const { body } = await exchange(code);
    expect(String(body.scope)).not.toContain('offline_access');
    expect(Number(body.expires_in)).toBeLessThanOrEqual(1200);
    expect(Number(body.expires_in)).toBeGreaterThan(1100);
    const refresh = (token: unknown) =>
      post(
        server,
        REALM,
        'token',
        { grant_type: 'refresh_token', refresh_token: String(token) },
        { authorization: basic('rp') },
      );
    const renewed = await refresh(body.refresh_token);
    expect(claimsIn(renewed.body.access_token).act).toMatchObject({ sub: bossId });
    clock = 1_801_000;
    expect((await refresh(renewed.body.refresh_token)).body.error).toBe('invalid_grant');
    expect((await browser.open(`/realms/${REALM}/account`)).heading).toBe('Sign in');
  });

  test.each<[string, Record<string, string>, string]>([
    ['sign in for them', { prompt: 'login' }, 'login_required'],
    ['prove anything of them', { acr_values: '2' }, 'login_required'],
    ['be as fresh as an application wants', { max_age: '60' }, 'login_required'],
    ['agree for them', { client_id: 'asking' }, 'consent_required'],
    ['agree for them anew', { prompt: 'consent' }, 'consent_required'],
  ])('can’t %s', async (_what, more, error) => {
    const browser = await acting();
    expect(responseParameters(await browser.open(requestPath({ scope: 'openid email', ...more })))).toMatchObject({
      error,
    });
  });

  test('changes nothing in the account, and may sign out', async () => {
    const own = createPerson(server.baseUrl);
    await own.fill(await own.open(`/realms/${REALM}/login?for=account`), {
      username: person.username,
      password: PASSWORD,
    });
    const browser = await acting();
    const account = await browser.open(`/realms/${REALM}/account`);
    const { csrf = '' } = account.fields;
    expect(account.text).not.toContain('view=data');
    for (const view of ['profile', 'security', 'devices', 'applications', 'data', 'activity']) {
      const { text } = await browser.open(`/realms/${REALM}/account?view=${view}`);
      const forms = [...text.matchAll(/action="[^"]*\/account\/([^"]*)"/g)].map(([, action]) => action);
      expect(forms, view).toEqual(['sign-out']);
    }
    expect((await browser.once(`/realms/${REALM}/account/gdpr/export`)).status).toBe(401);
    const { body: sessions = [] } = await server.admin.call(listSessions, { params, query: { userId: person.id } });
    const theirs = sessions.find(({ impersonator }) => impersonator === null)?.id;
    for (const path of [`sessions/${theirs}/end`, 'credentials/set-up', `credentials/otp/${person.id}/remove`])
      expect((await browser.post(`/realms/${REALM}/account/${path}`, { csrf })).status, path).toBe(403);
    const gdpr = await browser.once(`/realms/${REALM}/account/gdpr/consents/rp`, {
      method: 'DELETE',
      headers: { 'x-xsrf-token': csrf },
    });
    expect(gdpr.status).toBe(403);
    expect((await browser.post(`/realms/${REALM}/account/sign-out`, { csrf })).heading).toBe('Signed out');
    expect((await eventsOf('SESSION_ENDED'))[0]).toMatchObject({
      actor: { name: 'boss' },
      data: { impersonator: 'boss' },
    });
    expect((await own.open(`/realms/${REALM}/account`)).heading).toBe(person.username);
  });
});

describe('nobody acts for', () => {
  test('a person who holds more, who is disabled or gone, or themselves', async () => {
    const strong = await server.admin.call(createUser, { params, body: { username: `strong-${n}` } });
    const grants = [{ role: 'realm-viewer', realm: REALM }];
    const userId = strong.body!.id;
    await server.admin.call(putUserAdminRoles, { params: { ...params, userId }, body: { grants } });
    expect((await problem(begin(boss, userId))).problem?.type).toBe('urn:svc:problem:privilege-escalation');
    await server.admin.call(putUser, { params: { ...params, userId: person.id }, body: { enabled: false } });
    expect((await problem(begin())).message).toBe('The user is disabled');
    expect((await problem(begin(boss, bossId))).message).toBe('You are this user');
    await server.admin.call(deleteUser, { params: { ...params, userId: person.id } });
    expect((await problem(begin())).status).toBe(404);
  });

  test('anybody without the permission of its own', async () => {
    const name = `plain-${n}`;
    await server.admin.call(createAdminRole, { params, body: { name, permissions: ['users:read', 'users:write'] } });
    const { body } = await server.admin.call(createUser, { params, body: { username: name, password: PASSWORD } });
    const userId = body!.id;
    await server.admin.call(putUserAdminRoles, {
      params: { ...params, userId },
      body: { grants: [{ role: name, realm: REALM }] },
    });
    const plain = await server.signIn({ realm: REALM, username: name, password: PASSWORD });
    expect((await problem(begin(plain))).problem?.type).toBe('urn:svc:problem:forbidden');
  });

  test('longer than the person, they themselves, or an administrator lets them', async () => {
    const account = async (browser: Person) => (await browser.open(`/realms/${REALM}/account`)).heading;
    const browser = await acting();
    const { body: sessions = [] } = await server.admin.call(listSessions, { params, query: { userId: person.id } });
    await server.admin.call(endSession, { params: { ...params, id: sessions[0]!.id } });
    expect(await account(browser)).toBe('Sign in');
    const another = await acting();
    await server.admin.call(putUser, { params: { ...params, userId: bossId }, body: { enabled: false } });
    expect(await account(another)).toBe('Sign in');
  });
});
