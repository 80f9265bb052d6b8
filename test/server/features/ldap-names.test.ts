// Owns: usernames and addresses that go from one entry of a real directory to another: by full syncs, syncs of changes, and sign-ins.
// Does not own: fields that can't be taken at all (ldap-fields.test.ts).
// Implements: decisions "User federation"; docs/ldap.md.
import { Attribute, Change } from 'ldapts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { listGroups } from '../../../server/contract/groups.ts';
import { listGroupMembers } from '../../../server/contract/memberships.ts';
import { createDirectory } from '../../../server/contract/user-federation.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { syncedWith } from '../../support/directories.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const PEOPLE = `ou=people,${BASE}`;
const OTHERS = `ou=others,${BASE}`;
const GROUPS = `ou=groups,${BASE}`;
let server: TestServer;
let slapd: Slapd;
beforeAll(async () => {
  slapd = await startSlapd();
  server = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});
/** Distinguished names of what a test made. */
const there = new Set<string>();
afterEach(async () => {
  for (const dn of there) await remove(dn);
});

let made = 0;
async function realmWith(more: object = {}): Promise<string> {
  made += 1;
  const realm = `names${made}`;
  await makePeopledRealm(server, realm, []);
  const body = {
    alias: 'corporate',
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: BASE, filter: '(objectClass=inetOrgPerson)' },
    secret: READER_PASSWORD,
    pageSize: 1,
    ...more,
  };
  await server.admin.call(createDirectory, { params: { realm }, body });
  return realm;
}
async function add(cn: string, uid: string, mail?: string, base = PEOPLE): Promise<void> {
  const dn = `cn=${cn},${base}`;
  const fields = { objectClass: 'inetOrgPerson', cn, sn: cn, uid, userPassword: `password of ${cn}` };
  await slapd.as((client) => client.add(dn, { ...fields, ...(mail !== undefined && { mail }) }));
  there.add(dn);
}
async function remove(dn: string): Promise<void> {
  await slapd.as((client) => client.del(dn));
  there.delete(dn);
}
const set = (cn: string, type: string, values: string[]) =>
  slapd.as((client) =>
    client.modify(
      `cn=${cn},${PEOPLE}`,
      new Change({ operation: 'replace', modification: new Attribute({ type, values }) }),
    ),
  );
const sync = (realm: string, kind: 'full' | 'changed' = 'full') => syncedWith(server, realm, 'corporate', kind);
const users = async (realm: string) =>
  (await server.admin.call(listUsers, { params: { realm }, query: { limit: 500 } })).body ?? [];
const user = async (realm: string, name: string) => (await users(realm)).find(({ username }) => username === name);
const addresses = async (realm: string) =>
  Object.fromEntries((await users(realm)).map(({ username, email }) => [username, email]));
async function signsIn(realm: string, name: string, password: string): Promise<boolean> {
  const who = createPerson(server.baseUrl);
  const page = await who.open(`/realms/${realm}/login?for=account`);
  const { url } = await who.fill(page, { username: name, password });
  return url.includes('/account');
}
/** Full, then of changes alone, which know nothing of who is gone. */
const KINDS = ['full', 'changed'] as const;

test.each(KINDS)('addresses go round between entries on different pages, by a %s sync', async (kind) => {
  const realm = await realmWith();
  for (const name of ['a', 'b', 'c']) await add(name, name, `${name}@example.org`);
  await add('d', 'd');
  await sync(realm);
  await set('a', 'mail', ['b@example.org']);
  await set('b', 'mail', ['c@example.org']);
  await set('c', 'mail', ['A@example.org']);
  await set('d', 'mail', ['d@example.org']);
  expect(await sync(realm, kind)).toMatchObject({ state: 'done', failed: 0, updated: 4 });
  expect(await addresses(realm)).toEqual({
    a: 'b@example.org',
    b: 'c@example.org',
    c: 'A@example.org',
    d: 'd@example.org',
  });
  expect(await sync(realm)).toMatchObject({ updated: 0, failed: 0 });
});

test.each(KINDS)('usernames go round between entries on different pages, by a %s sync', async (kind) => {
  const realm = await realmWith();
  for (const name of ['a', 'b', 'c', 'd']) await add(name, name);
  await sync(realm);
  const before = Object.fromEntries((await users(realm)).map(({ username, id }) => [username, id]));
  for (const [cn, uid] of [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a'],
    ['d', 'e'],
  ] as const)
    await set(cn, 'uid', [uid]);
  expect(await sync(realm, kind)).toMatchObject({ state: 'done', failed: 0, updated: 4 });
  const after = Object.fromEntries((await users(realm)).map(({ username, id }) => [username, id]));
  expect(after).toEqual({ a: before.c, b: before.a, c: before.b, e: before.d });
});

test.each(KINDS)('a name and an address whose holder is gone are free in the same %s sync', async (kind) => {
  const realm = await realmWith();
  await add('old', 'ada', 'ada@example.org');
  await add('stays', 'stays', 'stays@example.org');
  await sync(realm);
  const before = await user(realm, 'ada');
  await remove(`cn=old,${PEOPLE}`);
  await add('new', 'ada', 'other@example.org');
  await set('stays', 'mail', ['ada@example.org']);
  const done = await sync(realm, kind);
  expect(done).toMatchObject({ state: 'done', added: 1, disabled: 1, failed: 0 });
  expect(await user(realm, 'ada')).toMatchObject({ email: 'other@example.org', enabled: true });
  expect((await user(realm, 'ada'))?.id).not.toBe(before?.id);
  expect(await user(realm, 'stays')).toMatchObject({ email: 'ada@example.org' });
  const gone = (await users(realm)).find(({ id }) => id === before?.id);
  expect(gone).toMatchObject({ username: `ada-gone-${before?.id}`, email: null, enabled: false });
  expect(await signsIn(realm, 'ada', 'password of new')).toBe(true);
  expect(await sync(realm)).toMatchObject({ added: 0, updated: 0, disabled: 0, failed: 0 });
});

test('a user whose entry moves stays the same, and one that is gone keeps its names until another entry claims them', async () => {
  const realm = await realmWith();
  await add('one', 'one', 'one@example.org');
  await add('two', 'two');
  await sync(realm);
  const before = await user(realm, 'one');
  await slapd.as((client) => client.modifyDN(`cn=one,${PEOPLE}`, `cn=one,${OTHERS}`));
  there.delete(`cn=one,${PEOPLE}`);
  there.add(`cn=one,${OTHERS}`);
  expect(await sync(realm)).toMatchObject({ updated: 0, disabled: 0, failed: 0 });
  await remove(`cn=one,${OTHERS}`);
  expect(await sync(realm)).toMatchObject({ disabled: 1, failed: 0 });
  expect(await user(realm, 'one')).toMatchObject({ id: before?.id, email: 'one@example.org', enabled: false });
});

test('where people who are gone are kept, they keep their names', async () => {
  const realm = await realmWith({ removed: 'keep' });
  await add('old', 'ada', 'ada@example.org');
  await add('other', 'other');
  await sync(realm);
  await remove(`cn=old,${PEOPLE}`);
  await add('new', 'ada');
  await set('other', 'mail', ['ada@example.org']);
  const { errors, ...done } = await sync(realm);
  expect(done).toMatchObject({ state: 'done', added: 0, disabled: 0, failed: 2 });
  expect(errors).toContainEqual({
    entry: `cn=new,${PEOPLE}`,
    message: 'username: another entry of the directory has it',
  });
  expect(await user(realm, 'ada')).toMatchObject({ email: 'ada@example.org', enabled: true });
});

test('a directory takes no name of a local user or of another directory’s', async () => {
  const realm = await realmWith({ users: { base: PEOPLE } });
  const second = {
    alias: 'second',
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: PEOPLE },
    secret: READER_PASSWORD,
  };
  await server.admin.call(createDirectory, { params: { realm }, body: second });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'mail@example.org' } });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'x', email: 'taken@example.org' } });
  await add('one', 'one', 'mail@example.org');
  await add('two', 'taken@example.org', 'two@example.org');
  expect(await sync(realm)).toMatchObject({ state: 'done', added: 1, failed: 2 });
  expect(await user(realm, 'one')).toMatchObject({ email: null });
  expect(await syncedWith(server, realm, 'second')).toMatchObject({ state: 'done', added: 0, failed: 2 });
  expect(await user(realm, 'mail@example.org')).toMatchObject({ enabled: true });
});

test.each(['import', 'live'])(
  'who has the name of an entry that is gone signs in by it before any sync (%s)',
  async (mode) => {
    const realm = await realmWith({ mode });
    await add('old', 'ada', 'ada@example.org');
    expect(await signsIn(realm, 'ada', 'password of old')).toBe(true);
    await remove(`cn=old,${PEOPLE}`);
    await add('new', 'ada', 'ada@example.org');
    expect(await signsIn(realm, 'ada', 'password of old')).toBe(false);
    expect(await signsIn(realm, 'ada', 'password of new')).toBe(true);
    const all = await users(realm);
    expect(all).toHaveLength(2);
    expect(all.find(({ username }) => username === 'ada')).toMatchObject({ email: 'ada@example.org', enabled: true });
    expect(all.find(({ username }) => username !== 'ada')).toMatchObject({ email: null, enabled: false });
  },
);

test('by a sign-in an address goes over whose holder has another by now, and no other one', async () => {
  const realm = await realmWith();
  for (const name of ['a', 'b']) await add(name, name, `${name}@example.org`);
  await sync(realm);
  await set('b', 'mail', ['new@example.org']);
  await add('c', 'c', 'b@example.org');
  await add('d', 'd', 'a@example.org');
  expect(await signsIn(realm, 'c', 'password of c')).toBe(true);
  expect(await signsIn(realm, 'd', 'password of d')).toBe(true);
  expect(await addresses(realm)).toEqual({
    a: 'a@example.org',
    b: 'new@example.org',
    c: 'b@example.org',
    d: null,
  });
});

test('a group that is made anew with its old name, or that changes names with another, keeps its members', async () => {
  const realm = await realmWith({ groups: { base: GROUPS } });
  await add('one', 'one');
  await add('two', 'two');
  const group = async (cn: string, member: string) => {
    await slapd.as((client) => client.add(`cn=${cn},${GROUPS}`, { objectClass: 'groupOfNames', cn, member }));
    there.add(`cn=${cn},${GROUPS}`);
  };
  const members = async (name: string) => {
    const { body: groups = [] } = await server.admin.call(listGroups, { params: { realm }, query: {} });
    const id = groups.find(({ path }) => path === `/corporate/${name}`)?.id ?? '';
    const { body = [] } = await server.admin.call(listGroupMembers, { params: { realm, id }, query: {} });
    return body.map(({ username }) => username);
  };
  const rename = (from: string, to: string) =>
    slapd.as((client) => client.modifyDN(`cn=${from},${GROUPS}`, `cn=${to}`));
  await group('first', `cn=one,${PEOPLE}`);
  await group('second', `cn=two,${PEOPLE}`);
  await sync(realm);
  await rename('first', 'third');
  await rename('second', 'first');
  await rename('third', 'second');
  await sync(realm);
  expect([await members('first'), await members('second')]).toEqual([['two'], ['one']]);
  await remove(`cn=first,${GROUPS}`);
  await group('first', `cn=one,${PEOPLE}`);
  await sync(realm);
  expect([await members('first'), await members('second')]).toEqual([['one'], ['one']]);
});

test('groups of a directory stand at the top where they are asked for there', async () => {
  const realm = await realmWith({ groups: { base: GROUPS, below: '/' } });
  await add('one', 'one');
  await slapd.as((client) =>
    client.add(`cn=top,${GROUPS}`, { objectClass: 'groupOfNames', cn: 'top', member: `cn=one,${PEOPLE}` }),
  );
  there.add(`cn=top,${GROUPS}`);
  expect(await sync(realm)).toMatchObject({ state: 'done', added: 1, failed: 0 });
  expect(await user(realm, 'one')).toMatchObject({ groups: ['/top'] });
});
