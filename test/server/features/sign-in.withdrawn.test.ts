// What a person proved is taken away while they sign in: a password that is hashed just then, a factor of which the code was
// right, a session that was to be raised. Each test holds the row that the sign-in waits for, takes it away, and lets go.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { deleteCredential, listCredentials, setPassword } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { lockWaits } from '../../support/database.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const NEW = 'four dry parasols';
const REFUSED = 'You could not be signed in';
let server: TestServer;
let clock = new Date();
let realm = '';
let userId = '';
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ now: () => clock });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `w${made}`;
  [userId = ''] = await makePeopledRealm(server, realm);
});

const begin = async (more: Record<string, string> = {}) => {
  const alice = createPerson(server.baseUrl);
  return { alice, page: await alice.open(authorizePath(realm, 'spa', newVerifier(), more)) };
};
const withPassword = (alice: Person, page: ShownPage, password = PASSWORD) =>
  alice.fill(page, { username: 'alice', password });
const change = (password = NEW, temporary = false) =>
  server.admin.call(setPassword, { params: { realm, userId }, body: { password, temporary } });
const sessions = async () => (await server.admin.call(listSessions, { params: { realm } })).body?.length;
const otps = async () =>
  (await server.admin.call(listCredentials, { params: { realm, userId } })).body?.filter(
    ({ type }) => type === 'otp',
  ) ?? [];
const failures = async () =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body?.map(
    ({ data }) => data.reason,
  );
const inApplication = ({ url }: ShownPage) => url.startsWith(CALLBACK);
const require = (settings: { requireMfa?: boolean; lockoutEnabled?: boolean; maxConcurrentSessions?: number }) =>
  server.admin.call(putSettings, { params: { realm }, body: settings });
/** A code that was never used: each is of a later moment. */
const codeOf = (secret: string) => {
  clock = new Date(clock.getTime() + 30_000);
  return codeAt(secret, clock.getTime());
};
/** Sets up a second factor. @returns its secret */
async function enrol(): Promise<string> {
  const { alice, page } = await begin({ acr_values: '2' });
  const setUp = await withPassword(alice, page);
  const secret = secretOn(setUp);
  expect(inApplication(await alice.fill(setUp, { code: codeOf(secret) }))).toBe(true);
  return secret;
}

/** Sends a form, waits until it waits for the row that is held, and does the rest before it goes on. */
const meanwhile = (
  held: string,
  send: () => Promise<ShownPage>,
  act: (sql: (text: string) => Promise<unknown>) => unknown,
) =>
  connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query(`select from ${held} where realm_id = '${realm}' for update`);
    const sent = send();
    await expect.poll(() => lockWaits(server.databaseUrl)).toBe(1);
    await act((text) => client.query(text));
    await client.query('commit');
    return sent;
  });

// With lockout the sign-in waits before the password is known to be right, without it with its last writes.
test.each([{ lockoutEnabled: true }, { lockoutEnabled: false }, { lockoutEnabled: false, maxConcurrentSessions: 3 }])(
  'an old password that is tried while it is changed begins no session, and the new one does: %j',
  async (settings) => {
    await require(settings);
    const { alice, page } = await begin();
    const refused = await meanwhile(
      'realm_user',
      () => withPassword(alice, page),
      () => change(),
    );
    expect(refused.heading).toBe(REFUSED);
    expect([await sessions(), await failures()]).toEqual([0, ['withdrawn']]);
    const again = await alice.post(`/realms/${realm}/login`, { ...refused.fields, do: 'restart' });
    expect((await withPassword(alice, again)).text).toContain('is wrong');
    expect(inApplication(await withPassword(alice, again, NEW))).toBe(true);
  },
);

test.each([
  ['disabled', `update realm_user set enabled = false where realm_id = `],
  ['deleted', `delete from realm_user where realm_id = `],
])('who is %s while their password is verified gets no session, also when they are enabled again', async (_, sql) => {
  const { alice, page } = await begin();
  const refused = await meanwhile(
    'realm_user',
    () => withPassword(alice, page),
    (run) => run(`${sql}'${realm}'`),
  );
  expect(refused.heading).toBe(REFUSED);
  await server.pool.query('update realm_user set enabled = true where realm_id = $1', [realm]);
  expect([await sessions(), await failures()]).toEqual([0, ['withdrawn']]);
});

test('a password under a better hash is the same one', async () => {
  const { alice, page } = await begin();
  const rehash = `update credential set secret = secret || '{"other": 1}' where realm_id = '${realm}'`;
  const landed = await meanwhile(
    'realm_user',
    () => withPassword(alice, page),
    (run) => run(rehash),
  );
  expect(inApplication(landed)).toBe(true);
});

test('who proved an old password sets up no second factor after it was changed', async () => {
  await require({ requireMfa: true });
  const { alice, page } = await begin();
  const setUp = await withPassword(alice, page);
  await change();
  const refused = await alice.fill(setUp, { code: codeOf(secretOn(setUp)) });
  expect(refused.text).toContain('has changed in the meantime');
  expect([await sessions(), (await otps()).length, await failures()]).toEqual([0, 0, ['withdrawn']]);
});

test('nor gets in by a right code', async () => {
  await require({ requireMfa: true });
  const secret = await enrol();
  const { alice, page } = await begin();
  const asked = await withPassword(alice, page);
  await change();
  expect((await alice.fill(asked, { code: codeOf(secret) })).heading).toBe(REFUSED);
  expect(await sessions()).toBe(0);
});

test('nor chooses a new one in place of the administrator’s', async () => {
  await change(PASSWORD, true);
  const { alice, page } = await begin();
  const asked = await withPassword(alice, page);
  expect(asked.heading).toBe('Choose a new password');
  await change(NEW, true);
  const refused = await alice.fill(asked, { password: 'mine all mine mine', repeated: 'mine all mine mine' });
  expect(refused.text).toContain('has changed in the meantime');
  const { alice: herself, page: anew } = await begin();
  expect((await withPassword(herself, anew, NEW)).heading).toBe('Choose a new password');
});

test('a factor that is deleted after its code was right counts for nothing, here and in sessions from before', async () => {
  await require({ requireMfa: true });
  const secret = await enrol();
  expect(await sessions()).toBe(1);
  const { alice, page } = await begin();
  const asked = await withPassword(alice, page);
  const [otp] = await otps();
  const send = () => alice.fill(asked, { code: codeOf(secret) });
  const refused = await meanwhile('sign_in', send, () =>
    server.admin.call(deleteCredential, { params: { realm, userId, type: 'otp', id: otp?.id ?? '' } }),
  );
  expect(refused.heading).toBe(REFUSED);
  expect(await sessions()).toBe(0);
});

test('a session that has ended is not raised, and its password counts for no new one', async () => {
  const { alice, page } = await begin();
  await withPassword(alice, page);
  const secret = await enrol();
  const asked = await alice.open(authorizePath(realm, 'spa', newVerifier(), { acr_values: '2' }));
  expect(asked.heading).toBe('Enter your code');
  await change();
  // The sign-in ended with its session.
  expect((await alice.fill(asked, { code: codeOf(secret) })).heading).toBe('This sign-in has expired');
  expect(await sessions()).toBe(0);
});

test('an administrator’s old password begins no session either', async () => {
  const root = newId();
  await server.pool.query(
    `with u as (insert into realm_user (realm_id, id, username, created_at) values ($1, $2, 'root', now()) returning id),
      r as (insert into admin_role (realm_id, id, name, permissions) values ($1, $2, 'all', '{users:read}') returning id)
    insert into admin_grant (realm_id, role_id, user_id, target_realm) select $1, r.id, u.id, $1 from u, r`,
    [realm, root],
  );
  const params = { realm, userId: root };
  await server.admin.call(setPassword, { params, body: { password: PASSWORD, temporary: false } });
  const signIn = (password: string) => server.signIn({ realm, username: 'root', password });
  await signIn(PASSWORD);
  const told = await connectedCluster(server.databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('select from realm_user where realm_id = $1 for update', [realm]);
    const sent = signIn(PASSWORD).catch((error: Error) => error.message);
    await expect.poll(() => lockWaits(server.databaseUrl)).toBe(1);
    await server.admin.call(setPassword, { params, body: { password: NEW, temporary: false } });
    await client.query('commit');
    return sent;
  });
  expect(told).toContain('401');
  const { rowCount } = await server.pool.query('select from admin_session where realm_id = $1', [realm]);
  expect(rowCount).toBe(0);
  const { body } = await server.admin.call(listEvents, { params: { realm }, query: { type: 'ADMIN_LOGIN_FAILURE' } });
  expect(body?.map(({ data }) => data.reason)).toEqual(['withdrawn']);
  await signIn(NEW);
});
