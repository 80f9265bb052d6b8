import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPasswords, type Passwords } from '../../../server/crypto/passwords.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
let passwords: Passwords;

beforeAll(async () => {
  passwords = createPasswords({ threads: 1 });
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(async () => {
  await server?.stop();
  await passwords?.stop();
});

const credentials = async (realm: string) =>
  (
    await server.pool.query(
      `select u.username, c.type, c.secret->>'phc' as phc, c.secret->>'sealed' as sealed from credential c
       join realm_user u on u.realm_id = c.realm_id and u.id = c.user_id where c.realm_id = $1 order by 1, 2`,
      [realm],
    )
  ).rows;
const user = async (realm: string, username: string) =>
  JSON.parse(await admin.download(realm)).users.find((u: { username: string }) => u.username === username);

test('people bring their password hash and one-time codes, which nobody reads again', async () => {
  const [phc, other] = await Promise.all([passwords.hash('first password'), passwords.hash('second password')]);
  const otp = { type: 'otp', secret: 'JBSWY3DPEHPK3PXP', label: 'phone' };
  const document = (hash: string) => ({
    users: [{ username: 'ana', credentials: [{ type: 'password', phc: hash }, otp] }],
  });
  const plan = await admin.apply('moved', document(phc));
  expect(JSON.stringify(plan)).not.toContain(phc);
  const [one, two] = await credentials('moved');
  expect(one).toMatchObject({ username: 'ana', type: 'otp', phc: null });
  expect(one.sealed).not.toContain('JBSWY3DPEHPK3PXP');
  expect(two).toMatchObject({ username: 'ana', type: 'password', phc });
  expect(await admin.download('moved')).not.toContain('argon2');
  // A credential that is there stays: the person may have changed it since.
  expect((await admin.apply('moved', document(other))).inSync).toBe(true);
  expect((await credentials('moved'))[1]).toMatchObject({ phc });
});

test('a user who has no password yet gets the declared one', async () => {
  const phc = await passwords.hash('a password');
  await admin.apply('later', { users: [{ username: 'bob' }] });
  const plan = await admin.apply('later', { users: [{ username: 'bob', credentials: [{ type: 'password', phc }] }] });
  expect(plan.changes).toEqual([
    { action: 'update', kind: 'user', key: 'bob', fields: [{ path: 'credentials', from: null, to: '***' }] },
  ]);
  expect(await credentials('later')).toMatchObject([{ username: 'bob', phc }]);
});

test('each declared field is compared, shown and merged; the others stay', async () => {
  const roles = ['a', 'b', 'c'].map((name) => ({ name }));
  const base = {
    roles,
    groups: [{ path: '/x' }, { path: '/y' }],
    clients: [{ clientId: 'a/b%c' }],
    clientRoles: { 'a/b%c': [{ name: 'r' }] },
  };
  const before = {
    username: 'ana',
    email: 'ana@example.org',
    emailVerified: true,
    firstName: 'Ana',
    roles: ['a', 'b'],
    groups: ['/x'],
    clientRoles: { 'a/b%c': ['r'] },
    attributes: { x: ['1'] },
    requiredActions: ['UPDATE_PASSWORD'],
  };
  await admin.apply('fields', { ...base, users: [before] });
  expect(await user('fields', 'ana')).toMatchObject(before);
  const plan = await admin.apply('fields', {
    users: [
      {
        username: 'ana',
        email: null,
        roles: ['c', 'b'],
        groups: [],
        clientRoles: {},
        enabled: false,
        requiredActions: [],
      },
    ],
  });
  expect(plan.changes[0]?.fields.map((f) => f.path)).toEqual([
    'email',
    'emailVerified',
    'enabled',
    'requiredActions',
    'roles',
    'groups',
    'clientRoles',
  ]);
  expect(await user('fields', 'ana')).toMatchObject({
    email: null,
    emailVerified: false,
    firstName: 'Ana',
    enabled: false,
    roles: ['b', 'c'],
    groups: [],
    clientRoles: {},
    attributes: { x: ['1'] },
    requiredActions: [],
  });
});

test('who is new and says nothing of roles gets the default ones', async () => {
  await admin.apply('defaults', {
    roles: [{ name: 'everyone', default: true }],
    users: [{ username: 'a' }, { username: 'b', roles: [] }],
  });
  expect(await user('defaults', 'a')).toMatchObject({ roles: ['everyone'] });
  expect(await user('defaults', 'b')).toMatchObject({ roles: [] });
});

test('importing people is one audit event with counts and leaves the configuration’s revision alone', async () => {
  const { revision } = await admin.apply('quiet', { roles: [{ name: 'r' }] });
  const plan = await admin.apply('quiet', { users: [{ username: 'a' }, { username: 'b' }] });
  expect(plan).toMatchObject({ revision, summary: { create: 2 } });
  const { rows } = await server.pool.query(
    `select type, data from event where realm_id = 'quiet' and occurred_at >= (select max(occurred_at) from event where realm_id = 'quiet')`,
  );
  expect(rows).toEqual([{ type: 'USERS_IMPORTED', data: { manager: 'import', create: 2 } }]);
});

test('a user of another realm is nobody here', async () => {
  await admin.apply('here', { users: [{ username: 'same', email: 'same@example.org' }] });
  const plan = await admin.apply('there', { users: [{ username: 'same', email: 'same@example.org' }] });
  expect(plan.changes.map((c) => c.action)).toEqual(['create', 'create']);
});
