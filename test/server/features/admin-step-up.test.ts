// Owns: an administrator's session under rules that became stricter after it began, and how it goes on.
// Does not own: signing in (admin-sign-in.test.ts), tokens of realmctl (admin-person.test.ts), people's sessions (single-sign-on.test.ts).
// Implements: decisions "Single sign-on and freshness", "Admin authentication".
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as api from '../../../server/contract/admin-access.ts';
import type { Client } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { getBrowserFlow, putBrowserFlow } from '../../../server/contract/flows.ts';
import { problemType } from '../../../server/contract/problem.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { createUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const password = 'a perfectly good password';
let server: TestServer;
let realm = '';
let realms = 0;
let clock = Date.now();
let boss: Client;
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  realms += 1;
  realm = `stricter-${realms}`;
  await server.admin.call(createRealm, { body: { realm } });
  const { body: user } = await server.admin.call(createUser, {
    params: { realm },
    body: { username: 'boss', password },
  });
  const grants = [{ role: 'realm-admin', realm }];
  await server.admin.call(api.putUserAdminRoles, { params: { realm, userId: user!.id }, body: { grants } });
  boss = await server.signIn({ realm, username: 'boss', password });
});

const read = () => boss.call(getSettings, { params: { realm } });
const write = (body: object) => boss.call(putSettings, { params: { realm }, body });
const stepUp = (otp: string, by = boss) => by.call(api.stepUpAdminSession, { body: { otp } });
const more = { status: 401, problem: { type: problemType('step-up-required') } };
const events = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];
/** At the realm's own sign-in page. @returns the secret of the application */
async function setUpCode(who: Person): Promise<string> {
  const enrolment = await who.fill(await who.open(`/realms/${realm}/login`), { username: 'boss', password });
  expect(enrolment.heading).toBe('Set up a second factor');
  const secret = secretOn(enrolment);
  await who.fill(enrolment, { code: codeAt(secret, clock) });
  clock += 31_000;
  return secret;
}

test('who makes the realm ask for a second factor is told so at once, and goes on by the code that they set up', async () => {
  await write({ requireMfa: true });
  await expect(read()).rejects.toMatchObject(more);
  await expect(read()).rejects.toThrow(/POST \/admin\/session\/step-up.*\/admin\/login/);
  await expect(write({ requireMfa: false })).rejects.toMatchObject(more);
  const secret = await setUpCode(createPerson(server.baseUrl));
  await expect(read()).rejects.toMatchObject(more);
  const used = codeAt(secret, clock);
  expect((await stepUp(used)).status).toBe(204);
  expect((await read()).body).toMatchObject({ requireMfa: true });
  expect((await write({ rememberMe: true })).status).toBe(200);
  await expect(stepUp(used)).rejects.toMatchObject({ problem: { type: problemType('invalid-credentials') } });
  expect((await read()).status).toBe(200);
});

test('with a second factor that was set up meanwhile, too, and a realm’s flow that became stricter', async () => {
  const who = createPerson(server.baseUrl);
  const params = { realm };
  await server.admin.call(putSettings, { params, body: { requireMfa: true } });
  const secret = await setUpCode(who);
  await server.admin.call(putSettings, { params, body: { requireMfa: false } });
  await expect(read()).rejects.toMatchObject(more);
  await stepUp(codeAt(secret, clock));
  expect((await read()).status).toBe(200);

  const { body: flow } = await server.admin.call(getBrowserFlow, { params });
  const executions = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' as const },
    { authenticatorId: 'otp', requirement: 'REQUIRED' as const },
    { authenticatorId: 'webauthn', requirement: 'REQUIRED' as const },
  ];
  await server.admin.call(putBrowserFlow, { params, body: { ...flow!, executions } });
  await expect(read()).rejects.toMatchObject(more);
});

test('with a condition of the flow that has come to hold for them', async () => {
  const params = { realm };
  const { body: flow } = await server.admin.call(getBrowserFlow, { params });
  const executions = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' as const },
    {
      requirement: 'CONDITIONAL' as const,
      executions: [
        { authenticatorId: 'attribute', requirement: 'REQUIRED' as const, config: { attribute: 'rank' } },
        { authenticatorId: 'otp', requirement: 'REQUIRED' as const },
      ],
    },
  ];
  await server.admin.call(putBrowserFlow, { params, body: { ...flow!, executions } });
  expect((await read()).status).toBe(200);
  const { body: users } = await server.admin.call(listUsers, { params });
  const at = { params: { realm, userId: users![0]!.id } };
  await server.admin.call(putUser, { ...at, body: { attributes: { rank: ['high'] } } });
  await expect(read()).rejects.toMatchObject(more);
});

test('by the browser, which leads through the realm’s sign-in and its enrolment', async () => {
  const who = createPerson(server.baseUrl);
  const opened = await who.open('/admin/login');
  const inRealm = async () => who.post('/admin/login/form', { ...opened.fields, realm });
  await who.fill(await inRealm(), { username: 'boss', password });
  expect((await who.once('/admin/session')).status).toBe(200);
  await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });
  expect((await who.once('/admin/session')).status).toBe(401);
  const page = await who.open('/admin/login');
  expect(page.heading).toBe('A second factor is needed now');
  expect(page.text).toContain(realm);
  const enrolment = await who.fill(await who.post('/admin/login/form', page.fields), { username: 'boss', password });
  expect(enrolment.heading).toBe('Set up a second factor');
  const code = codeAt(secretOn(enrolment), clock);
  expect(new URL((await who.fill(enrolment, { code })).url).pathname).toBe('/admin/console/');
  expect((await who.once('/admin/session')).status).toBe(200);
});

test('a session that has more to prove can be ended, and does nothing else', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });
  await expect(boss.call(api.getAdminSession)).rejects.toMatchObject(more);
  expect((await boss.call(api.adminLogout)).status).toBe(204);
  await expect(read()).rejects.toMatchObject({ problem: { type: problemType('unauthenticated') } });
});

test('wrong codes are counted and audited, and the old cookie is worth nothing after a right one', async () => {
  await write({ requireMfa: true });
  const secret = await setUpCode(createPerson(server.baseUrl));
  const login = await fetch(`${server.baseUrl}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ realm, username: 'boss', password, otp: codeAt(secret, clock) }),
  });
  const before = login.headers.getSetCookie().map((line) => line.split(';')[0]);
  const csrf = before.find((pair) => pair?.startsWith('XSRF-TOKEN='))?.slice('XSRF-TOKEN='.length) ?? '';
  const send = (otp: string, more: Record<string, string> = { 'x-xsrf-token': csrf }) =>
    fetch(`${server.baseUrl}/admin/session/step-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: before.join('; '), ...more },
      body: JSON.stringify({ otp }),
    });
  clock += 31_000;
  const code = codeAt(secret, clock);
  const wrong = code === '000000' ? '111111' : '000000';
  expect((await send(code, {})).status).toBe(403);
  expect((await send('abc')).status).toBe(400);
  expect((await send(wrong)).status).toBe(401);
  expect(await events('ADMIN_LOGIN_FAILURE')).toMatchObject([{ data: { reason: 'otp-wrong' } }]);
  const right = await send(code);
  expect(right.status).toBe(204);
  expect(right.headers.getSetCookie().join()).toMatch(/SVC_ADMIN_SESSION=.*XSRF-TOKEN=/);
  expect((await send(code)).status).toBe(401);
  const session = (cookie: string[]) =>
    fetch(`${server.baseUrl}/admin/session`, { headers: { cookie: cookie.join('; ') } });
  expect((await session(before as string[])).status).toBe(401);
  const after = right.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  expect((await session(after)).status).toBe(200);
  expect((await events('ADMIN_LOGIN_SUCCESS'))[0]).toMatchObject({ data: { stepUp: true } });
  let last = 0;
  for (let n = 0; n < 25 && last !== 429; n += 1) last = (await stepUp(wrong).catch((error) => error)).status;
  expect(last).toBe(429);
});
