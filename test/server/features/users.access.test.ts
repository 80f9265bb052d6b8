// Owns: a user's lock and sessions as administrators see and end them; what service accounts have of the kind.
// Does not own: how failures are counted (sign-in.test.ts), single sessions (sessions.test.ts), ending access (end-access.test.ts).
// Implements: specification 2.3 (lockout), 4.10.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { problemType } from '../../../server/contract/problem.ts';
import {
  endClientSessions,
  endSession,
  listServiceAccountSessions,
  listSessions,
} from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import * as api from '../../../server/contract/user-access.ts';
import { administrator } from '../../support/administrators.ts';
import { getCode, makePeopledRealm, PASSWORD, redeem, refresh } from '../../support/applications.ts';
import { basic, makeClient, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let alice = '';
let bob = '';
let made = 0;
let clock = Date.now();
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `access${made}`;
  [alice = '', bob = ''] = await makePeopledRealm(server, realm, ['alice', 'bob']);
});

const of = (userId: string) => ({ params: { realm, userId } });
const nobody = '0190a000-0000-7000-8000-000000000000';
const lockout = async (userId = alice) => (await server.admin.call(api.getLockout, of(userId))).body;
const events = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];
async function enter(username: string, password = PASSWORD) {
  const person = createPerson(server.baseUrl);
  return { person, page: await person.fill(await person.open(`/realms/${realm}/login`), { username, password }) };
}

test('a lock is seen, and lifted: the right password does again, and the audit log says who lifted it', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { lockoutEnabled: true, maxLoginFailures: 2 } });
  const free = { locked: false, failures: 0, lastFailureAt: null, lockedUntil: null, rule: null };
  expect(await lockout()).toEqual(free);
  await enter('alice', 'wrong wrong wrong');
  expect(await lockout()).toEqual({ locked: false, failures: 1, lastFailureAt: clock, lockedUntil: null, rule: null });
  await enter('alice', 'wrong wrong wrong');
  expect(await lockout()).toEqual({
    locked: true,
    failures: 2,
    lastFailureAt: clock,
    lockedUntil: clock + 900_000,
    rule: 'failed-attempts',
  });
  expect((await enter('alice')).page.heading).toBe('Sign in');
  expect(await lockout(bob)).toEqual(free);
  for (let i = 0; i < 2; i += 1) expect((await server.admin.call(api.deleteLockout, of(alice))).status).toBe(204);
  expect(await lockout()).toEqual(free);
  expect((await enter('alice')).page.url).toContain('/account');
  expect(await events('USER_UNLOCKED')).toMatchObject([{ actor: { name: 'admin' }, subject: { name: 'alice' } }]);
});

test('an administrator’s sessions are ended by nobody who holds less', async () => {
  const grants = [{ role: 'realm-admin', realm }];
  await server.admin.call(putUserAdminRoles, { params: { realm, userId: alice }, body: { grants } });
  await enter('alice');
  await enter('bob');
  const { body: sessions = [] } = await server.admin.call(listSessions, { params: { realm } });
  const idOf = (userId: string) => sessions.find((one) => one.userId === userId)!.id;
  const weaker = await administrator(server, { target: realm, permissions: ['sessions:read', 'sessions:write'] });
  const refused = { status: 403, problem: { type: problemType('privilege-escalation') } };
  await expect(weaker.call(api.endUserSessions, of(alice))).rejects.toMatchObject(refused);
  const end = (id: string, by = weaker) => by.call(endSession, { params: { realm, id } });
  await expect(end(idOf(alice))).rejects.toMatchObject(refused);
  expect((await server.admin.call(api.listUserSessions, of(alice))).body).toHaveLength(1);
  expect((await end(idOf(bob))).status).toBe(204);
  expect((await end(idOf(alice), server.admin)).status).toBe(204);
});

test('a lock that is over is none, and its failures don’t count any more', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { lockoutEnabled: true, maxLoginFailures: 1 } });
  await enter('alice', 'wrong wrong wrong');
  expect(await lockout()).toMatchObject({ locked: true });
  clock += 901_000;
  expect(await lockout()).toMatchObject({ locked: false, failures: 0, lockedUntil: null });
});

test('who may read alone unlocks nobody, who holds less doesn’t either, and of nobody there is nothing', async () => {
  const reader = await administrator(server, { target: realm, permissions: ['users:read', 'sessions:read'] });
  await expect(reader.call(api.deleteLockout, of(alice))).rejects.toMatchObject({ status: 403 });
  await expect(reader.call(api.endUserSessions, of(alice))).rejects.toMatchObject({ status: 403 });
  const [role] = ['11111111-1111-7111-8111-111111111111'];
  await server.pool.query(
    `insert into admin_role (realm_id, id, name, permissions) values ($1, $2, 'strong', '{keys:write}')`,
    [realm, role],
  );
  await server.pool.query(
    `insert into admin_grant (realm_id, role_id, user_id, target_realm) values ($1, $2, $3, $1)`,
    [realm, role, alice],
  );
  const manager = await administrator(server, { target: realm, permissions: ['users:write'] });
  await expect(manager.call(api.deleteLockout, of(alice))).rejects.toMatchObject({ status: 403 });
  expect((await manager.call(api.deleteLockout, of(bob))).status).toBe(204);
  for (const route of [api.getLockout, api.deleteLockout, api.listUserSessions, api.endUserSessions])
    await expect(server.admin.call(route as typeof api.getLockout, of(nobody))).rejects.toMatchObject({ status: 404 });
});

test('all sessions of one user end at once, with their tokens, and nobody else’s', async () => {
  await getCode(server, realm, 'spa', { username: 'bob' });
  const grant = await getCode(server, realm, 'spa', { parameters: { scope: 'openid offline_access' } });
  const { body: tokens } = await redeem(server, realm, 'spa', grant);
  await enter('alice');
  const sessions = (await server.admin.call(api.listUserSessions, { ...of(alice), query: { limit: 1 } })).body;
  expect(sessions).toMatchObject([{ username: 'alice' }]);
  const all = await server.admin.call(api.listUserSessions, of(alice));
  expect(all.body?.length).toBe(2);
  expect((await server.admin.call(api.endUserSessions, of(alice))).status).toBe(204);
  expect((await server.admin.call(api.listUserSessions, of(alice))).body).toEqual([]);
  expect((await server.admin.call(api.listUserSessions, of(bob))).body?.length).toBe(1);
  expect((await refresh(server, realm, 'spa', tokens.refresh_token)).status).toBe(400);
  expect((await events('SESSION_ENDED')).map(({ data }) => data.reason)).toEqual(['administrator', 'administrator']);
  expect((await enter('alice')).page.url).toContain('/account');
});

test('all sessions in which a client got tokens end at once, with these and its offline ones, and no other', async () => {
  await makeClient(server, realm, {
    clientId: 'other',
    tokenEndpointAuthMethod: 'none',
    redirectUris: ['http://127.0.0.1/callback'],
  });
  const inShop = await redeem(server, realm, 'spa', await getCode(server, realm, 'spa', { username: 'bob' }));
  const away = await getCode(server, realm, 'spa', { parameters: { scope: 'openid offline_access' } });
  const offline = await redeem(server, realm, 'spa', away);
  const elsewhere = await redeem(server, realm, 'other', await getCode(server, realm, 'other', { username: 'bob' }));
  await enter('alice');
  const end = (clientId: string, by = server.admin) =>
    by.call(endClientSessions, { params: { realm }, query: { clientId } });
  await expect(end('nobody')).rejects.toMatchObject({ status: 404 });
  const { body } = await end('spa');
  expect(body).toEqual({ sessions: 2, offline: 1, more: false });
  const { body: left = [] } = await server.admin.call(listSessions, { params: { realm } });
  expect(left.map(({ username, clients }) => [username, clients])).toEqual([
    ['alice', []],
    ['bob', ['other']],
  ]);
  for (const ended of [inShop, offline])
    expect((await refresh(server, realm, 'spa', ended.body.refresh_token)).status).toBe(400);
  expect((await refresh(server, realm, 'other', elsewhere.body.refresh_token)).status).toBe(200);
  expect((await events('SESSION_ENDED')).map(({ data }) => data.reason)).toEqual(['administrator', 'administrator']);
  expect(await events('TOKEN_REVOKED')).toMatchObject([{ clientId: 'spa', subject: { name: 'alice' } }]);
  expect((await end('spa')).body).toEqual({ sessions: 0, offline: 0, more: false });
});

test('the sessions of a client end all or none, where one of its people administers more', async () => {
  await server.admin.call(putUserAdminRoles, {
    params: { realm, userId: alice },
    body: { grants: [{ role: 'realm-admin', realm }] },
  });
  for (const username of ['alice', 'bob'])
    await redeem(server, realm, 'spa', await getCode(server, realm, 'spa', { username }));
  const weaker = await administrator(server, { target: realm, permissions: ['sessions:read', 'sessions:write'] });
  const asked = weaker.call(endClientSessions, { params: { realm }, query: { clientId: 'spa' } });
  await expect(asked).rejects.toMatchObject({ status: 403, problem: { type: problemType('privilege-escalation') } });
  expect((await server.admin.call(listSessions, { params: { realm } })).body).toHaveLength(2);
});

test('ending the sessions of somebody who has none, none that lives, or a sign-in under way alone is no fault', async () => {
  const end = async () => (await server.admin.call(api.endUserSessions, of(alice))).status;
  expect(await end()).toBe(204);
  const grant = await getCode(server, realm, 'spa', { parameters: { scope: 'openid offline_access' } });
  await redeem(server, realm, 'spa', grant);
  await server.pool.query(`update session set expires_at = $1 where realm_id = $2`, [new Date(clock - 1), realm]);
  await server.pool.query(`update refresh_family set expires_at = $1 where realm_id = $2`, [
    new Date(clock - 1),
    realm,
  ]);
  expect(await end()).toBe(204);
  await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });
  const { person, page } = await enter('alice');
  expect(page.text).toMatch(/authenticator/i);
  expect(await end()).toBe(204);
  expect((await person.fill(page, { code: '000000' })).heading).toBe('This sign-in has expired');
  expect(await events('SESSION_ENDED')).toEqual([]);
});

test('sessions are found by name, application and address', async () => {
  await getCode(server, realm, 'spa', { username: 'bob' }).then((grant) => redeem(server, realm, 'spa', grant));
  await enter('alice');
  const find = async (query: object) =>
    ((await server.admin.call(listSessions, { params: { realm }, query })).body ?? []).map((s) => s.username);
  expect(await find({ username: 'ALICE' })).toEqual(['alice']);
  expect(await find({ clientId: 'spa' })).toEqual(['bob']);
  expect(await find({ clientId: 'nope' })).toEqual([]);
  expect(await find({ ipAddress: '127.0.0.1' })).toEqual(['alice', 'bob']);
  expect(await find({ ipAddress: '192.0.2.1' })).toEqual([]);
  expect(await find({ username: 'bob', clientId: 'spa', ipAddress: '127.0.0.1' })).toEqual(['bob']);
});

test('service accounts are told with the last token that each got within a day; people’s grants are none', async () => {
  for (const clientId of ['one', 'two'])
    await makeClient(server, realm, { clientId, secret: SECRET, grantTypes: ['client_credentials'] });
  const token = (clientId: string) =>
    post(server, realm, 'token', { grant_type: 'client_credentials' }, { authorization: basic(clientId) });
  await getCode(server, realm, 'spa').then((grant) => redeem(server, realm, 'spa', grant));
  expect((await token('one')).status).toBe(200);
  clock += 1000;
  for (const clientId of ['two', 'one']) await token(clientId);
  const list = async () => (await server.admin.call(listServiceAccountSessions, { params: { realm } })).body ?? [];
  await expect.poll(async () => (await list()).length).toBe(2);
  const at = { grant: 'client_credentials', lastTokenAt: clock, ipAddress: '127.0.0.1' };
  await expect.poll(list).toEqual([
    { clientId: 'one', ...at },
    { clientId: 'two', ...at },
  ]);
  clock += 86_400_001;
  // The administrator's session has ended by then.
  const admin = await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
  expect((await admin.call(listServiceAccountSessions, { params: { realm } })).body).toEqual([]);
});
