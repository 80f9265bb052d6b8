// Owns: users, roles and groups on the admin API.
// Does not own: signing in, taking over (escalation.test.ts).
// Implements: decisions "User", "Role", "Group", "Reading and writing"; specification 4.10, 6.1, 8.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import * as groups from '../../../server/contract/groups.ts';
import type { Changes } from '../../../server/contract/names.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import * as roles from '../../../server/contract/roles.ts';
import * as api from '../../../server/contract/users.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
const password = 'correct horse battery';

beforeAll(async () => {
  server = await startTestServer();
  for (const realm of ['acme', 'other']) await server.admin.call(createRealm, { body: { realm } });
});
afterAll(() => server?.stop());

const create = async (body: api.UserInput) => {
  const answer = await server.admin.call(api.createUser, { params, body });
  if (!answer.body) throw new Error('no user');
  return answer.body;
};
const put = (userId: string, body: Changes<api.UserInput>, headers: Record<string, string> = {}) =>
  server.admin.call(api.putUser, { params: { ...params, userId }, body, headers });
const role = async (body: roles.RoleInput) => {
  const answer = await server.admin.call(roles.createRole, { params, body });
  if (!answer.body) throw new Error('no role');
  return answer.body;
};
const putRole = (id: string, body: Changes<roles.RoleInput>) =>
  server.admin.call(roles.putRole, { params: { ...params, id }, body });
const group = async (body: groups.GroupInput) => {
  const answer = await server.admin.call(groups.createGroup, { params, body });
  if (!answer.body) throw new Error('no group');
  return answer.body;
};

describe('a user', () => {
  test('is what was said of them, with the realm’s default roles, and never shows a password', async () => {
    await role({ name: 'member', default: true });
    await role({ name: 'editor' });
    await group({ name: 'staff' });
    const user = await create({
      username: 'ada',
      email: 'Ada@example.test',
      firstName: 'Ada',
      attributes: { team: ['red', 'blue'] },
      roles: ['editor'],
      groups: ['/staff'],
      password,
      passwordTemporary: true,
    });
    expect(user).toMatchObject({ username: 'ada', emailVerified: false, enabled: true, groups: ['/staff'] });
    expect(user.roles).toEqual(['editor', 'member']);
    expect(JSON.stringify(user)).not.toContain('password');
    const { body } = await server.admin.call(api.listCredentials, { params: { ...params, userId: user.id } });
    expect(body).toEqual([expect.objectContaining({ type: 'password' })]);
    const [row] = await sqlOver(server.pool)<{
      secret: object;
    }>`select secret from credential where user_id = ${user.id}`;
    expect(row?.secret).toMatchObject({ phc: expect.stringMatching(/^\$argon2id\$/), temporary: true });
  });

  test('keeps what a PUT leaves out; a PUT of what was read changes and audits nothing', async () => {
    const user = await create({ username: 'kept', lastName: 'Kept', attributes: { z: ['1'], a: ['2'] } });
    const before = await server.admin.call(listEvents, { params, query: { userId: user.id } });
    expect((await put(user.id, api.UserUpdate.parse(user))).body).toEqual(user);
    const after = await server.admin.call(listEvents, { params, query: { userId: user.id } });
    expect(after.body?.length).toBe(before.body?.length);
    expect((await put(user.id, { firstName: 'New' })).body).toEqual({ ...user, firstName: 'New' });
  });

  test('is not written with what was read of another one', async () => {
    const [mine, other] = [await create({ username: 'mine' }), await create({ username: 'other' })];
    await expect(put(mine.id, api.UserUpdate.parse({ id: other.id, firstName: 'X' }))).rejects.toMatchObject({
      status: 400,
      problem: { errors: [{ path: 'id', message: expect.stringContaining(mine.id) }] },
    });
  });

  test('has a name and an address that nobody else in the realm has, whatever their case', async () => {
    const user = await create({ username: 'Grace', email: 'grace@example.test' });
    await expect(create({ username: 'gRACE' })).rejects.toMatchObject({ status: 409 });
    await expect(create({ username: 'g2', email: 'GRACE@example.test' })).rejects.toMatchObject({ status: 409 });
    const other = await create({ username: 'g3' });
    await expect(put(other.id, { username: 'grace' })).rejects.toMatchObject({ status: 409 });
    expect((await put(user.id, { username: 'grace' })).body?.username).toBe('grace');
    const elsewhere = server.admin.call(api.createUser, { params: { realm: 'other' }, body: { username: 'grace' } });
    expect((await elsewhere).status).toBe(201);
  });

  test('has to verify a new address', async () => {
    const user = await create({ username: 'mail', email: 'a@example.test', emailVerified: true });
    expect((await put(user.id, { username: 'mail', email: 'b@example.test' })).body?.emailVerified).toBe(false);
  });

  test.each<[string, Partial<api.UserInput>, string]>([
    ['a short password', { password: 'short' }, 'password'],
    ['the username as password', { username: 'a-long-username', password: 'A-LONG-USERNAME' }, 'password'],
    [
      'the address as password',
      { email: 'long.address@example.test', password: 'long.address@example.test' },
      'password',
    ],
    ['a temporary nothing', { passwordTemporary: true }, 'passwordTemporary'],
    ['an unknown role', { roles: ['nope'] }, 'roles[0]'],
    ['an unknown group', { groups: ['/nope'] }, 'groups[0]'],
    ['a bad address', { email: 'nope' }, 'email'],
    ['NUL in an attribute', { attributes: { a: ['x\0'] } }, 'attributes.a[0]'],
  ])('is refused with %s, naming the field, and nobody is made', async (_, fields, path) => {
    const attempt = create({ username: 'refused', ...fields });
    await expect(attempt).rejects.toMatchObject({ status: 400 });
    await attempt.catch((error) => expect(error.problem.errors.map((e: { path: string }) => e.path)).toContain(path));
    const { body } = await server.admin.call(api.listUsers, { params, query: { q: 'refused' } });
    expect(body).toEqual([]);
  });

  test('is not written over somebody else’s change', async () => {
    const user = await create({ username: 'contested' });
    const { etag = '' } = await server.admin.call(api.getUser, { params: { ...params, userId: user.id } });
    await put(user.id, { username: 'contested', firstName: 'first' }, { 'if-match': etag });
    const late = put(user.id, { username: 'contested', firstName: 'late' }, { 'if-match': etag });
    await expect(late).rejects.toMatchObject({ status: 412 });
  });

  test('is written by one of many who write at once with the same condition', async () => {
    const user = await create({ username: 'raced' });
    const { etag = '' } = await server.admin.call(api.getUser, { params: { ...params, userId: user.id } });
    const writes = Array.from({ length: 5 }, (_, i) =>
      put(user.id, { username: 'raced', firstName: `${i}` }, { 'if-match': etag }).then(
        ({ status }) => status,
        (error) => error.status,
      ),
    );
    expect((await Promise.all(writes)).sort()).toEqual([200, 412, 412, 412, 412]);
  });

  test('is signed out everywhere by another password, and when disabled', async () => {
    const sql = sqlOver(server.pool);
    const user = await create({ username: 'signed-in', password });
    const open = () => sql`
      insert into session (realm_id, id, token_hash, user_id, started_at, last_seen_at, expires_at, authenticated_at)
      values ('acme', gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), ${user.id}, now(), now(), now() + interval '1 day', now())`;
    const sessions = () => sql`select id from session where user_id = ${user.id}`;
    await open();
    await server.admin.call(api.setPassword, {
      params: { ...params, userId: user.id },
      body: { password: `${password}!` },
    });
    expect(await sessions()).toEqual([]);
    await open();
    await put(user.id, { username: 'signed-in', enabled: false });
    expect(await sessions()).toEqual([]);
  });

  test('leaves a trail of names, never of values', async () => {
    const user = await create({ username: 'audited', password });
    const params2 = { ...params, userId: user.id };
    await put(user.id, { username: 'audited', firstName: 'Secretive' });
    const { body: held = [] } = await server.admin.call(api.listCredentials, { params: params2 });
    await server.admin.call(api.deleteCredential, { params: { ...params2, type: 'password', id: held[0]?.id ?? '' } });
    await server.admin.call(api.deleteUser, { params: params2 });
    const { body = [] } = await server.admin.call(listEvents, { params, query: { userId: user.id } });
    expect(body.map((event) => event.type)).toEqual([
      'USER_DELETED',
      'CREDENTIAL_DELETED',
      'USER_UPDATED',
      'PASSWORD_CHANGED',
      'USER_CREATED',
    ]);
    expect(body.find((event) => event.type === 'USER_UPDATED')?.data).toEqual({ fields: ['firstName'] });
    expect(JSON.stringify(body)).not.toContain('Secretive');
  });
});

test('lists of users come in pages in the order of their names, and can be searched by any name', async () => {
  for (let i = 0; i < 7; i += 1) await create({ username: `${i % 2 ? 'P' : 'p'}age-${i}`, lastName: `Searched${i}` });
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 3, q: 'searched', ...(cursor === undefined ? {} : { cursor }) };
    const answer = await server.admin.call(api.listUsers, { params, query });
    seen.push(...(answer.body ?? []).map((user) => user.username.toLowerCase()));
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 7 }, (_, i) => `page-${i}`));
});

describe('a role', () => {
  test('may contain others, never itself in a circle', async () => {
    const leaf = await role({ name: 'leaf' });
    const middle = await role({ name: 'middle', composite: { roles: ['leaf'] } });
    await role({ name: 'top', composite: { roles: ['middle'] } });
    expect(middle.composite).toEqual({ roles: ['leaf'], clientRoles: {} });
    await expect(putRole(leaf.id, { name: 'leaf', composite: { roles: ['top'] } })).rejects.toMatchObject({
      status: 400,
    });
    await expect(putRole(leaf.id, { name: 'leaf', composite: { roles: ['leaf'] } })).rejects.toMatchObject({
      status: 400,
    });
    await expect(role({ name: 'bad', composite: { roles: ['nope'] } })).rejects.toMatchObject({ status: 400 });
  });

  test('is renamed, unique, and deleted with what it gave', async () => {
    const first = await role({ name: 'one', attributes: { b: ['1'], a: ['2'] } });
    await role({ name: 'two' });
    expect((await putRole(first.id, first)).body).toEqual(first);
    await expect(putRole(first.id, { name: 'two' })).rejects.toMatchObject({ status: 409 });
    expect((await putRole(first.id, { name: 'uno' })).body?.name).toBe('uno');
    const user = await create({ username: 'holder', roles: ['uno'] });
    await server.admin.call(roles.deleteRole, { params: { ...params, id: first.id } });
    const { body } = await server.admin.call(api.getUser, { params: { ...params, userId: user.id } });
    expect(body?.roles).not.toContain('uno');
  });
});

describe('a group', () => {
  test('lies in a tree of paths; deleting it takes its subgroups and leaves its members', async () => {
    const parent = await group({ name: 'engineering' });
    const child = await group({ name: 'platform', parentId: parent.id });
    expect(child).toMatchObject({ path: '/engineering/platform', parentId: parent.id });
    await expect(group({ name: 'platform', parentId: parent.id })).rejects.toMatchObject({ status: 409 });
    await expect(group({ name: 'a/b' })).rejects.toMatchObject({ status: 400 });
    const user = await create({ username: 'grouped', groups: [child.path] });
    await server.admin.call(groups.deleteGroup, { params: { ...params, id: parent.id } });
    const { body } = await server.admin.call(api.getUser, { params: { ...params, userId: user.id } });
    expect(body?.groups).toEqual([]);
    const { body: left } = await server.admin.call(groups.listGroups, { params, query: { q: 'engineering' } });
    expect(left).toEqual([]);
  });
});
