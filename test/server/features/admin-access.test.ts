// Owns: admin sign-in, sessions, CSRF and bearer as a person, a script and a machine meet them.
// Does not own: who may change whom (escalation.test.ts).
// Implements: specification 5; decisions "Admin authentication".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as api from '../../../server/contract/admin-access.ts';
import {
  createAdminRole,
  deleteAdminRole,
  getAdminRole,
  listAdminRoles,
  putAdminRole,
} from '../../../server/contract/admin-roles.ts';
import { ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { ProblemDetails, problemType } from '../../../server/contract/problem.ts';
import { createRealm, getRealm, listRealms } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { newOtpSecret, OTP_DEFAULTS, sealOtp } from '../../../server/crypto/otp.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { administrator } from '../../support/administrators.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { ADMIN_PASSWORD, MASTER_KEY, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let clock = Date.now();
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
});
afterAll(() => server?.stop());

const login = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${server.baseUrl}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
/** The clock moves on in these tests, and with it the first session ends. */
const again = () => server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
const cookiesOf = (response: Response) =>
  new Map(response.headers.getSetCookie().map((cookie) => [cookie.split('=')[0] ?? '', cookie]));
const session = async () => {
  const response = await login({ username: 'admin', password: ADMIN_PASSWORD });
  const value = (name: string) => /^[^=]+=([^;]*)/.exec(cookiesOf(response).get(name) ?? '')?.[1] ?? '';
  return { session: `SVC_ADMIN_SESSION=${value('SVC_ADMIN_SESSION')}`, csrf: value('XSRF-TOKEN') };
};
const whoAmI = (cookie: string) => fetch(`${server.baseUrl}/admin/session`, { headers: { cookie } });

describe('signing in', () => {
  test('gives a session that scripts cannot read and a CSRF token that they can', async () => {
    const response = await login({ username: 'admin', password: ADMIN_PASSWORD });
    expect(response.status).toBe(204);
    const cookies = cookiesOf(response);
    expect(cookies.get('SVC_ADMIN_SESSION')).toMatch(/HttpOnly/);
    expect(cookies.get('SVC_ADMIN_SESSION')).toMatch(/SameSite=Lax/);
    expect(cookies.get('XSRF-TOKEN')).not.toMatch(/HttpOnly/);
  });

  test('says who I am and what I may do', async () => {
    const { body } = await server.admin.call(api.getAdminSession);
    expect(body).toMatchObject({ type: 'user', name: 'admin', realm: 'master' });
    expect(body?.permissions['*']).toContain('realm:delete');
  });

  test('fails with the same words for an unknown user, a wrong password, an unknown realm and no admin role', async () => {
    const password = 'a perfectly good password';
    await server.admin.call(createUser, { params: { realm: 'acme' }, body: { username: 'plain', password } });
    const attempts = [
      { username: 'nobody', password },
      { username: 'admin', password: 'wrong' },
      { username: 'admin', password, realm: 'nowhere' },
      { username: 'plain', password, realm: 'acme' },
      { username: 'ad\u0001min', password },
    ];
    const answers = await Promise.all(attempts.map((attempt) => login(attempt)));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 401));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(answers.flatMap((answer) => answer.headers.getSetCookie())).toEqual([]);
  });

  test('is audited and counted, whether it succeeds or fails', async () => {
    const { body } = await server.admin.call(listEvents, {
      params: { realm: 'master' },
      query: { type: 'ADMIN_LOGIN_SUCCESS,ADMIN_LOGIN_FAILURE' },
    });
    expect(body?.find((event) => event.type === 'ADMIN_LOGIN_FAILURE')).toMatchObject({ outcome: 'failure' });
    expect(body?.find((event) => event.type === 'ADMIN_LOGIN_SUCCESS')?.subject?.name).toBe('admin');
    const metrics = await (await fetch(`${server.baseUrl}/actuator/metrics-text`)).text();
    expect(metrics).toMatch(/svc_login_total\{[^}]*realm="master"[^}]*outcome="success"[^}]*\} [1-9]/);
    expect(metrics).not.toContain('nowhere');
  });

  test('takes JSON alone, so that no form of another site can sign anyone in', async () => {
    const response = await fetch(`${server.baseUrl}/admin/login`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'admin', password: ADMIN_PASSWORD }),
    });
    expect(response.status).toBe(415);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  test('ends the session that came along', async () => {
    const before = await session();
    await login({ username: 'admin', password: ADMIN_PASSWORD }, { cookie: before.session });
    expect((await whoAmI(before.session)).status).toBe(401);
  });

  test('is refused for a while after too many failures from one address, with Retry-After', async () => {
    let last = await login({ username: 'admin', password: 'wrong' });
    for (let i = 0; i < 25 && last.status !== 429; i += 1) last = await login({ username: 'admin', password: 'wrong' });
    expect(last.status).toBe(429);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    clock += 61_000;
    expect((await login({ username: 'admin', password: ADMIN_PASSWORD })).status).toBe(204);
  });
});

describe('a second factor', () => {
  const realm = 'careful';
  const password = 'a perfectly good password';
  const attempt = (more: object = {}) => login({ realm, username: 'boss', password, ...more });
  const detail = async (response: Response) => ProblemDetails.parse(await response.json()).detail;
  let userId = '';
  beforeAll(async () => {
    const admin = await again();
    await admin.call(createRealm, { body: { realm } });
    const made = await admin.call(createUser, { params: { realm }, body: { username: 'boss', password } });
    userId = made.body?.id ?? '';
    const grants = [{ role: 'realm-admin', realm }];
    await admin.call(api.putUserAdminRoles, { params: { realm, userId }, body: { grants } });
  });

  test('has to be set up first where the realm requires one', async () => {
    expect((await attempt()).status).toBe(204);
    await (await again()).call(putSettings, { params: { realm }, body: { requireMfa: true } });
    const refused = await attempt();
    expect(refused.status).toBe(401);
    expect(await detail(refused)).toContain(`/realms/${realm}/login`);
  });

  test('is asked for only after the right password, and a code works once', async () => {
    const [secret, id] = [newOtpSecret(), newId()];
    const stored = { sealed: sealOtp(createSeal([MASTER_KEY]), realm, id, secret), ...OTP_DEFAULTS };
    await sqlOver(server.pool)`
      insert into credential (realm_id, id, user_id, type, secret, created_at)
      values (${realm}, ${id}, ${userId}, 'otp', ${JSON.stringify(stored)}, now())`;
    const code = codeAt(secret, clock);
    const wrong = code === '000000' ? '111111' : '000000';
    expect(await (await attempt()).json()).toMatchObject({ type: problemType('otp-required') });
    for (const bad of [{ password: 'wrong' }, { password: 'wrong', otp: code }, { otp: wrong }]) {
      const refused = await attempt(bad);
      expect(refused.status).toBe(401);
      expect(await detail(refused)).toBeUndefined();
    }
    expect((await attempt({ otp: code })).status).toBe(204);
    expect((await attempt({ otp: code })).status).toBe(401);
  });
});

describe('a session', () => {
  test('ends at sign-out', async () => {
    const { session: cookie, csrf } = await session();
    const response = await fetch(`${server.baseUrl}/admin/logout`, {
      method: 'POST',
      headers: { cookie: `${cookie}; XSRF-TOKEN=${csrf}`, 'x-xsrf-token': csrf },
    });
    expect(response.status).toBe(204);
    expect((await whoAmI(cookie)).status).toBe(401);
  });

  test('ends after half an hour without use, and after ten hours of use', async () => {
    const idle = await session();
    clock += 31 * 60_000;
    expect((await whoAmI(idle.session)).status).toBe(401);
    const used = await session();
    const until = clock + 10 * 3_600_000;
    while (clock + 25 * 60_000 < until) {
      clock += 25 * 60_000;
      expect((await whoAmI(used.session)).status).toBe(200);
    }
    clock = until;
    expect((await whoAmI(used.session)).status).toBe(401);
  });

  test('cannot be made up', async () => {
    const { session: cookie } = await session();
    for (const bad of [`${cookie}x`, cookie.replace('=master.', '=acme.'), 'SVC_ADMIN_SESSION=x', 'SVC_ADMIN_SESSION='])
      expect((await whoAmI(bad)).status).toBe(401);
  });

  test('writes only with the CSRF header that equals the cookie', async () => {
    const { session: cookie, csrf } = await session();
    const write = (headers: Record<string, string>) =>
      fetch(`${server.baseUrl}/admin/realms`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ realm: 'forged' }),
      });
    const both = `${cookie}; XSRF-TOKEN=${csrf}`;
    for (const headers of [
      { cookie: both },
      { cookie: both, 'x-xsrf-token': 'other' },
      { cookie, 'x-xsrf-token': csrf },
    ])
      expect((await write({ ...headers })).status).toBe(403);
    expect((await write({ cookie: both, 'x-xsrf-token': csrf })).status).toBe(201);
  });
});

describe('what an administrator may do', () => {
  test('ends at the realm that the grant names', async () => {
    const client = await administrator(server, { home: 'acme', target: 'acme', permissions: ['realm:read'] });
    expect((await client.call(getRealm, { params: { realm: 'acme' } })).body?.realm).toBe('acme');
    await expect(client.call(getRealm, { params: { realm: 'master' } })).rejects.toMatchObject({ status: 403 });
  });

  test('is nothing at all where a grant of a realm other than master reaches beyond it', async () => {
    const beyond = administrator(server, { home: 'acme', target: '*', permissions: ['realm:read'] });
    await expect(beyond).rejects.toThrow(/401/);
  });

  test('is listed as permissions, and built-in roles cannot be changed', async () => {
    const params = { realm: 'acme' };
    const admin = await again();
    const { body: permissions } = await admin.call(api.listPermissions, { params });
    expect(permissions).toContain('users:write');
    const { body: roles = [] } = await admin.call(listAdminRoles, { params });
    expect(roles.map((role) => role.name)).toEqual(
      expect.arrayContaining(['realm-admin', 'realm-viewer', 'user-manager', 'client-manager', 'security-auditor']),
    );
    const builtIn = roles.find((role) => role.builtIn);
    const change = admin.call(putAdminRole, {
      params: { realm: 'acme', id: builtIn?.id ?? '' },
      body: { permissions: [] },
    });
    await expect(change).rejects.toMatchObject({ status: 409 });
  });

  test('can be put into a new role, but never more than the caller holds', async () => {
    const id = '0192f0a0-0000-7000-8000-000000000001';
    const params = { realm: 'acme', id };
    const clerk = await administrator(server, {
      home: 'acme',
      target: 'acme',
      permissions: ['admin-roles:read', 'admin-roles:write', 'users:read'],
    });
    const make = (permissions: ('users:read' | 'users:write')[]) =>
      clerk.call(putAdminRole, { params, body: { name: 'clerks', permissions } });
    await expect(make(['users:write'])).rejects.toMatchObject({ status: 403 });
    expect((await make(['users:read'])).body).toEqual({
      id,
      name: 'clerks',
      builtIn: false,
      permissions: ['users:read'],
      groups: null,
      clients: null,
    });
    const elsewhere = (await again()).call(putAdminRole, {
      params: { realm: 'master', id },
      body: { permissions: [] },
    });
    await expect(elsewhere).rejects.toMatchObject({ status: 404 });
  });

  test('can be made, read, renamed and deleted, and a name is had once', async () => {
    const admin = await again();
    const params = { realm: 'acme' };
    const body = { name: 'desk', permissions: ['users:write' as const, 'users:read' as const] };
    const made = (await admin.call(createAdminRole, { params, body })).body;
    expect(made).toMatchObject({ name: 'desk', builtIn: false, permissions: ['users:read', 'users:write'] });
    await expect(admin.call(createAdminRole, { params, body })).rejects.toMatchObject({ status: 409 });
    const at = { params: { ...params, id: made?.id ?? '' } };
    const { body: read, etag = '' } = await admin.call(getAdminRole, at);
    expect(read).toEqual(made);
    const headers = { 'if-match': etag };
    expect((await admin.call(putAdminRole, { ...at, headers, body: { ...made } })).body).toEqual(made);
    const renamed = await admin.call(putAdminRole, { ...at, body: { name: 'help-desk' } });
    expect(renamed.body).toEqual({ ...made, name: 'help-desk' });
    await expect(admin.call(deleteAdminRole, { ...at, headers })).rejects.toMatchObject({ status: 412 });
    expect((await admin.call(deleteAdminRole, at)).status).toBe(204);
    await expect(admin.call(getAdminRole, at)).rejects.toMatchObject({ status: 404 });
    const [builtIn] = (await admin.call(listAdminRoles, { params })).body?.filter((role) => role.builtIn) ?? [];
    const gone = admin.call(deleteAdminRole, { params: { ...params, id: builtIn?.id ?? '' } });
    await expect(gone).rejects.toMatchObject({ status: 409 });
  });

  test('a denied request is 403, audited and counted', async () => {
    const viewer = await administrator(server, { home: 'acme', target: 'acme', permissions: ['events:read'] });
    const denied = viewer.call(createUser, { params: { realm: 'acme' }, body: { username: 'x' } });
    await expect(denied).rejects.toBeInstanceOf(ServerProblem);
    const { body } = await viewer.call(listEvents, { params: { realm: 'acme' }, query: { type: 'ACCESS_DENIED' } });
    expect(body?.[0]).toMatchObject({ outcome: 'denied', data: { permission: 'users:write' } });
    const metrics = await (await fetch(`${server.baseUrl}/actuator/metrics-text`)).text();
    expect(metrics).toMatch(/svc_admin_write_total\{[^}]*outcome="denied"[^}]*\} [1-9]/);
  });
});

test('nobody reads the admin API without signing in', async () => {
  const response = await fetch(`${server.baseUrl}${listRealms.path}`);
  expect(response.status).toBe(401);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
});

test('the bare address leads to the sign-in of administrators', async () => {
  const answer = await fetch(`${server.baseUrl}/`, { redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/admin/login']);
});
