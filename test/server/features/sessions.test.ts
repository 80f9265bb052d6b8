import { pbkdf2Sync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { endSession, listSessions } from '../../../server/contract/sessions.ts';
import { createUser } from '../../../server/contract/users.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const PASSWORD = 'three wet umbrellas';
let made = 0;
beforeAll(async () => {
  server = await startTestServer({ costly: true });
});
afterAll(() => server.stop());

async function realmWith(...names: string[]): Promise<string> {
  made += 1;
  const realm = `s${made}`;
  await server.admin.call(createRealm, { body: { realm } });
  for (const username of names)
    await server.admin.call(createUser, { params: { realm }, body: { username, password: PASSWORD } });
  return realm;
}
async function signIn(realm: string, username: string) {
  const person = createPerson(server.baseUrl, { 'user-agent': `${username}'s browser` });
  await person.fill(await person.open(`/realms/${realm}/login`), { username, password: PASSWORD });
  return person;
}
const list = async (realm: string, query: object = {}) => server.admin.call(listSessions, { params: { realm }, query });

test('live sessions are listed, newest first, page by page, by person', async () => {
  const realm = await realmWith('alice', 'bob');
  for (const name of ['alice', 'bob', 'alice']) await signIn(realm, name);
  const all = (await list(realm)).body ?? [];
  expect(all.map((s) => s.username)).toEqual(['alice', 'bob', 'alice']);
  expect(all[0]).toMatchObject({
    userAgent: "alice's browser",
    ipAddress: '127.0.0.1',
    levelOfAssurance: 1,
    rememberMe: false,
    clients: [],
  });
  expect((all[0]?.expiresAt ?? 0) - (all[0]?.startedAt ?? 0)).toBe(36_000_000);
  const first = await list(realm, { limit: 2 });
  expect(first.body?.length).toBe(2);
  const rest = await list(realm, { limit: 2, cursor: first.nextCursor });
  expect([...(first.body ?? []), ...(rest.body ?? [])]).toEqual(all);
  expect(rest.nextCursor).toBeUndefined();
  expect((await list(realm, { userId: all[1]?.userId })).body?.map((s) => s.username)).toEqual(['bob']);
});

test.each([
  'nonsense',
  Buffer.from('["x","y"]').toString('base64url'),
  Buffer.from('["1e99","y"]').toString('base64url'),
])('a made-up cursor is a bad request: %s', async (cursor) => {
  const realm = await realmWith();
  await expect(list(realm, { cursor })).rejects.toMatchObject({ status: 400 });
});

test('an administrator ends a session: the person is signed out, and the audit log says who did it', async () => {
  const realm = await realmWith('alice');
  const alice = await signIn(realm, 'alice');
  const [session] = (await list(realm)).body ?? [];
  const params = { realm, id: session?.id ?? '' };
  expect((await server.admin.call(endSession, { params })).status).toBe(204);
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  const { body } = await server.admin.call(listEvents, { params: { realm }, query: { type: 'SESSION_ENDED' } });
  expect(body).toMatchObject([
    { actor: { name: 'admin' }, subject: { name: 'alice' }, data: { reason: 'administrator' } },
  ]);
  await expect(server.admin.call(endSession, { params })).rejects.toBeInstanceOf(ServerProblem);
});

test('a session of one realm is nothing to another', async () => {
  const [here, there] = [await realmWith('alice'), await realmWith('alice')];
  const alice = await signIn(here, 'alice');
  const [session] = (await list(here)).body ?? [];
  await expect(
    server.admin.call(endSession, { params: { realm: there, id: session?.id ?? '' } }),
  ).rejects.toMatchObject({ status: 404 });
  // The cookie itself, carried over by hand.
  const cookie = `SVC_SESSION=${alice.jar.get('SVC_SESSION')}`;
  const visit = await fetch(`${server.baseUrl}/realms/${there}/account`, { headers: { cookie }, redirect: 'manual' });
  expect(visit.headers.get('location')).toContain('/login');
});

test('a disabled person’s session is over at once', async () => {
  const realm = await realmWith('alice');
  const alice = await signIn(realm, 'alice');
  await server.pool.query('update realm_user set enabled = false where realm_id = $1', [realm]);
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  expect((await list(realm)).body).toEqual([]);
});

test('signing in gives another cookie than the one that came along', async () => {
  const realm = await realmWith('alice');
  const person = createPerson(server.baseUrl);
  person.jar.set('SVC_SESSION', 'planted');
  await person.fill(await person.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });
  expect(person.jar.get('SVC_SESSION')).not.toBe('planted');
  const { rows } = await server.pool.query('select * from session where realm_id = $1', [realm]);
  expect(JSON.stringify(rows)).not.toContain(person.jar.get('SVC_SESSION'));
});

test('a hash from elsewhere signs in once and is argon2id from then on', async () => {
  const realm = await realmWith('alice');
  const salt = Buffer.from('0123456789abcdef');
  const hash = pbkdf2Sync(PASSWORD, salt, 10_000, 32, 'sha256');
  const phc = `$pbkdf2-sha256$i=10000$${salt.toString('base64')}$${hash.toString('base64')}`;
  await server.pool.query(
    `update credential set secret = jsonb_set(secret, '{phc}', to_jsonb($2::text)) where realm_id = $1`,
    [realm, phc],
  );
  for (let i = 0; i < 2; i += 1) {
    const alice = await signIn(realm, 'alice');
    expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('alice');
    const { rows } = await server.pool.query<{ phc: string }>(
      `select secret ->> 'phc' as phc from credential where realm_id = $1`,
      [realm],
    );
    expect(rows[0]?.phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  }
});
