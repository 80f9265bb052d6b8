// Owns: syncs with a real directory: who comes, who is found again, who is gone, groups, faults, a directory that dies under way.
// Does not own: signing in by it (ldap-sign-in.test.ts), directories as resources (user-federation.test.ts).
// Implements: specification 4.2; decisions "User federation".
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Attribute, Change } from 'ldapts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listDirectorySyncs, syncDirectory, testDirectory } from '../../../server/contract/directory-syncs.ts';
import { listGroups } from '../../../server/contract/groups.ts';
import { listGroupMembers } from '../../../server/contract/memberships.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createDirectory, putDirectory } from '../../../server/contract/user-federation.ts';
import { createUser, getUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { makeRealm } from '../../support/clients.ts';
import { endedSync, syncedWith } from '../../support/directories.ts';
import { eventually } from '../../support/operator.ts';
import { asOperator, realmctl, withOperator } from '../../support/realmctl.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const MANY = 2_000;
const lines: string[] = [];
let server: TestServer;
let slapd: Slapd;
const PEOPLE = `ou=people,${BASE}`;
const crowd = `ou=crowd,${BASE}`;
beforeAll(async () => {
  const many = Array.from({ length: MANY }, (_, i) => personLdif(`crowd${i}`, { base: crowd })).join('');
  const unit = `dn: ${crowd}\nobjectClass: organizationalUnit\nou: crowd\n\n`;
  slapd = await startSlapd(`${['ada', 'bob', 'cleo'].map((uid) => personLdif(uid)).join('')}${unit}${many}`);
  server = await startTestServer({
    env: { ...withOperator, SVC_OUTBOUND_ALLOW: '127.0.0.1', SVC_LOG_LEVEL: 'info' },
    lines,
  });
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});

let made = 0;
/** A realm with a directory of its people. */
async function realmWith(more: Partial<Parameters<typeof directoryOf>[0]> = {}): Promise<string> {
  made += 1;
  const realm = `synced${made}`;
  await makeRealm(server, realm);
  await server.admin.call(createDirectory, { params: { realm }, body: directoryOf(more) });
  return realm;
}
const directoryOf = (more: object = {}) => ({
  alias: 'corporate',
  connection: { urls: [slapd.ldap], bindDn: READER },
  users: { base: PEOPLE },
  secret: READER_PASSWORD,
  pageSize: 2,
  ...more,
});
const at = (realm: string) => ({ params: { realm, alias: 'corporate' } });
const sync = (realm: string, kind: 'full' | 'changed' = 'full') => syncedWith(server, realm, 'corporate', kind);
const people = async (realm: string) =>
  (await server.admin.call(listUsers, { params: { realm }, query: { limit: 1000 } })).body ?? [];
const names = async (realm: string) => (await people(realm)).map(({ username }) => username).sort();
const person = async (realm: string, name: string) => (await people(realm)).find(({ username }) => username === name);
const rename = (dn: string, to: string) => slapd.as((client) => client.modifyDN(dn, to));
const replace = (dn: string, type: string, values: string[]) =>
  slapd.as((client) =>
    client.modify(dn, new Change({ operation: 'replace', modification: new Attribute({ type, values }) })),
  );
const add = (uid: string, more: Record<string, string | string[]> = {}) =>
  slapd.as((client) =>
    client.add(`uid=${uid},${PEOPLE}`, { objectClass: 'inetOrgPerson', uid, cn: uid, sn: uid, ...more }),
  );
const remove = (dn: string) => slapd.as((client) => client.del(dn));

test('all people come with what they have there, and a second sync changes nothing', async () => {
  const realm = await realmWith();
  expect(await sync(realm)).toMatchObject({
    state: 'done',
    kind: 'full',
    read: 3,
    added: 3,
    updated: 0,
    failed: 0,
    error: null,
  });
  expect(await person(realm, 'ada')).toMatchObject({
    email: 'ada@example.org',
    emailVerified: false,
    firstName: 'First ada',
    lastName: 'Last ada',
    enabled: true,
  });
  expect(await sync(realm)).toMatchObject({ read: 3, added: 0, updated: 0, disabled: 0 });
});

test('what administrators change of it comes back, and what the directory doesn’t say stays', async () => {
  const realm = await realmWith();
  await sync(realm);
  const { id = '' } = (await person(realm, 'ada')) ?? {};
  const body = { firstName: 'Other', attributes: { desk: ['7'] } };
  await server.admin.call(putUser, { params: { realm, userId: id }, body });
  expect(await sync(realm)).toMatchObject({ updated: 1 });
  const { body: after } = await server.admin.call(getUser, { params: { realm, userId: id } });
  expect(after).toMatchObject({ firstName: 'First ada', attributes: { desk: ['7'] } });
});

test('who moves or gets another name stays the same person', async () => {
  const realm = await realmWith({ users: { base: BASE, filter: '(|(uid=eve*)(uid=ivy))' } });
  await add('eve');
  await sync(realm);
  const { id } = (await person(realm, 'eve')) ?? {};
  await slapd.as((client) => client.modifyDN(`uid=eve,${PEOPLE}`, `uid=ivy,ou=others,${BASE}`));
  expect(await sync(realm)).toMatchObject({ added: 0, updated: 1, disabled: 0 });
  expect(await person(realm, 'ivy')).toMatchObject({ id, enabled: true });
  expect(await names(realm)).toEqual(['ivy']);
  await remove(`uid=ivy,ou=others,${BASE}`);
});

test('two people may exchange their names', async () => {
  const realm = await realmWith({ users: { base: PEOPLE, filter: '(uid=swap*)' } });
  await add('swap1');
  await add('swap2');
  await sync(realm);
  const [one, two] = [await person(realm, 'swap1'), await person(realm, 'swap2')];
  await rename(`uid=swap1,${PEOPLE}`, 'uid=swap3');
  await rename(`uid=swap2,${PEOPLE}`, 'uid=swap1');
  await rename(`uid=swap3,${PEOPLE}`, 'uid=swap2');
  expect(await sync(realm)).toMatchObject({ updated: 2, failed: 0 });
  expect(await person(realm, 'swap1')).toMatchObject({ id: two?.id });
  expect(await person(realm, 'swap2')).toMatchObject({ id: one?.id });
  await remove(`uid=swap1,${PEOPLE}`);
  await remove(`uid=swap2,${PEOPLE}`);
});

test('who is gone is disabled, and comes back as who they were only with the same entry', async () => {
  const realm = await realmWith({ users: { base: BASE, filter: '(|(uid=ada)(&(uid=gone)(!(ou=away))))' } });
  await add('gone');
  await sync(realm);
  await replace(`uid=gone,${PEOPLE}`, 'ou', ['away']);
  expect(await sync(realm)).toMatchObject({ disabled: 1 });
  expect(await person(realm, 'gone')).toMatchObject({ enabled: false });
  await replace(`uid=gone,${PEOPLE}`, 'ou', []);
  expect(await sync(realm)).toMatchObject({ updated: 1, disabled: 0 });
  expect(await person(realm, 'gone')).toMatchObject({ enabled: true });
  await remove(`uid=gone,${PEOPLE}`);
  await add('gone');
  const { id } = (await person(realm, 'gone')) ?? {};
  expect(await sync(realm)).toMatchObject({ added: 1, disabled: 1, failed: 0 });
  expect((await person(realm, 'gone'))?.id).not.toBe(id);
  expect(await names(realm)).toEqual(['ada', 'gone', `gone-gone-${id}`]);
  await remove(`uid=gone,${PEOPLE}`);
});

test('a directory that has nobody any more disables nobody', async () => {
  const realm = await realmWith();
  await sync(realm);
  const body = { users: { base: `ou=others,${BASE}` } };
  await server.admin.call(putDirectory, { ...at(realm), body });
  expect(await sync(realm)).toMatchObject({ state: 'failed', error: expect.stringContaining('no user was disabled') });
  expect((await people(realm)).every(({ enabled }) => enabled)).toBe(true);
}, 60_000);

test('a directory takes over nobody who is here already, and tells of entries that it can’t take', async () => {
  const realm = await realmWith({ users: { base: PEOPLE, filter: '(|(uid=ada)(uid=bob)(uid=odd))' } });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'other', email: 'ADA@example.org' } });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'BOB' } });
  await add('odd', { mail: 'no address' });
  const { errors, ...done } = await sync(realm);
  expect(done).toMatchObject({ state: 'done', read: 3, added: 2, failed: 3 });
  expect(errors.map(({ entry }) => entry).sort()).toEqual(['ada', 'bob', 'odd'].map((uid) => `uid=${uid},${PEOPLE}`));
  expect(await names(realm)).toEqual(['BOB', 'ada', 'odd', 'other']);
  expect([(await person(realm, 'ada'))?.email, (await person(realm, 'odd'))?.email]).toEqual([null, null]);
  await remove(`uid=odd,${PEOPLE}`);
});

test('a sync of what was changed reads no more than that, and finds new people', async () => {
  const realm = await realmWith({ users: { base: BASE, filter: '(|(uid=ada)(uid=late))' } });
  await sync(realm);
  await server.pool.query(
    `update directory_sync set mark = to_char(now() + interval '1 day', 'YYYYMMDDHH24MISS".0Z"') where realm_id = $1`,
    [realm],
  );
  expect(await sync(realm, 'changed')).toMatchObject({ kind: 'changed', read: 0, disabled: 0 });
  await add('late');
  await server.pool.query(`update directory_sync set mark = '20200101000000.0Z' where realm_id = $1`, [realm]);
  expect(await sync(realm, 'changed')).toMatchObject({ read: 2, added: 1 });
  expect((await person(realm, 'ada'))?.enabled).toBe(true);
  await remove(`uid=late,${PEOPLE}`);
});

test('groups are made below one of the realm and filled with its people alone; who comes otherwise stays', async () => {
  const groupOf = (cn: string, member: string[]) =>
    slapd.as((client) => client.add(`cn=${cn},ou=groups,${BASE}`, { objectClass: 'groupOfNames', cn, member }));
  const realm = await realmWith({ groups: { base: `ou=groups,${BASE}`, below: '/staff/company' } });
  await groupOf('dev', [`UID=Ada, ${PEOPLE}`, `uid=bob,${PEOPLE}`, `uid=nobody,${PEOPLE}`]);
  await groupOf('a/b', [`uid=ada,${PEOPLE}`]);
  expect(await sync(realm)).toMatchObject({ state: 'done', failed: 0 });
  const groups = async () => (await server.admin.call(listGroups, { params: { realm }, query: {} })).body ?? [];
  expect((await groups()).map(({ path }) => path)).toEqual([
    '/staff',
    '/staff/company',
    '/staff/company/a%2Fb',
    '/staff/company/dev',
  ]);
  const dev = (await groups()).find(({ path }) => path.endsWith('/dev'))?.id ?? '';
  const members = async () =>
    (await server.admin.call(listGroupMembers, { params: { realm, id: dev }, query: {} })).body?.map((m) => m.username);
  expect(await members()).toEqual(['ada', 'bob']);
  await server.admin.call(createUser, {
    params: { realm },
    body: { username: 'guest', groups: ['/staff/company/dev'] },
  });
  await replace(`cn=dev,ou=groups,${BASE}`, 'member', [`uid=cleo,${PEOPLE}`]);
  await sync(realm);
  expect(await members()).toEqual(['cleo', 'guest']);
  await remove(`cn=dev,ou=groups,${BASE}`);
  await remove(`cn=a/b,ou=groups,${BASE}`);
  await sync(realm);
  expect(await members()).toEqual(['guest']);
});

test('a group of the directory is the group of the realm whose path differs in case only', async () => {
  const realm = await realmWith({ groups: { base: `ou=groups,${BASE}`, below: '/Staff' } });
  const own = { groups: [{ path: '/STAFF' }, { path: '/STAFF/Ops' }] };
  await server.admin.call(importRealm, { params: { realm }, body: own });
  for (const cn of ['ops', 'qa'])
    await slapd.as((client) =>
      client.add(`cn=${cn},ou=groups,${BASE}`, { objectClass: 'groupOfNames', cn, member: [`uid=ada,${PEOPLE}`] }),
    );
  expect(await sync(realm)).toMatchObject({ state: 'done', failed: 0 });
  const { body: groups = [] } = await server.admin.call(listGroups, { params: { realm }, query: {} });
  expect(groups.map(({ path }) => path)).toEqual(['/STAFF', '/STAFF/Ops', '/STAFF/qa']);
  for (const { id } of groups.slice(1)) {
    const { body } = await server.admin.call(listGroupMembers, { params: { realm, id }, query: {} });
    expect(body?.map(({ username }) => username)).toEqual(['ada']);
  }
  for (const cn of ['ops', 'qa']) await remove(`cn=${cn},ou=groups,${BASE}`);
});

test('groups in groups: who is in the inner one is in both, also where they hold each other; without `nested` they aren’t', async () => {
  const groupsAt = `ou=groups,${BASE}`;
  const groupOf = (cn: string, member: string[]) =>
    slapd.as((client) => client.add(`cn=${cn},${groupsAt}`, { objectClass: 'groupOfNames', cn, member }));
  await groupOf('all', [`cn=Tech, ${groupsAt}`, `uid=cleo,${PEOPLE}`]);
  await groupOf('tech', [`cn=backend,${groupsAt}`, `uid=bob,${PEOPLE}`]);
  await groupOf('backend', [`uid=ada,${PEOPLE}`, `cn=all,${groupsAt}`]);
  const nested = { base: groupsAt, nested: true };
  const realm = await realmWith({ groups: { base: groupsAt }, pageSize: 1 });
  const members = async (name: string) => {
    const { body: groups = [] } = await server.admin.call(listGroups, { params: { realm }, query: {} });
    const id = groups.find(({ path }) => path === `/corporate/${name}`)?.id ?? '';
    const { body = [] } = await server.admin.call(listGroupMembers, { params: { realm, id }, query: {} });
    return body.map(({ username }) => username).sort();
  };
  await sync(realm);
  expect([await members('all'), await members('tech'), await members('backend')]).toEqual([['cleo'], ['bob'], ['ada']]);
  await server.admin.call(putDirectory, { ...at(realm), body: { groups: nested } });
  await sync(realm);
  const everybody = ['ada', 'bob', 'cleo'];
  expect([await members('all'), await members('tech'), await members('backend')]).toEqual([
    everybody,
    everybody,
    everybody,
  ]);
  // The inner one alone is changed, and none of those that it is in.
  await replace(`cn=backend,${groupsAt}`, 'member', [`uid=nobody,${PEOPLE}`]);
  await server.pool.query(`update directory_sync set mark = '20200101000000.0Z' where realm_id = $1`, [realm]);
  expect(await sync(realm, 'changed')).toMatchObject({ state: 'done' });
  expect([await members('all'), await members('tech'), await members('backend')]).toEqual([
    ['bob', 'cleo'],
    ['bob'],
    [],
  ]);
  for (const cn of ['all', 'tech', 'backend']) await remove(`cn=${cn},${groupsAt}`);
});

test('realmctl begins a sync, waits for its end and says what it did, or why it failed', async () => {
  const realm = await realmWith();
  const ctl = (...args: string[]) =>
    realmctl(asOperator(server), ['sync', 'directory', 'corporate', '-r', realm, ...args]);
  const first = await ctl('-o', 'json');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(first.stdout)).toMatchObject({ state: 'done', kind: 'full', added: 3 });
  expect((await ctl('--changed')).stdout).toMatch(/^STATE +READ +ADDED.*done/s);
  expect((await ctl('--no-wait')).code).toBe(0);
  await server.admin.call(putDirectory, { ...at(realm), body: { users: { base: `ou=nowhere,${BASE}` } } });
  expect(await ctl()).toMatchObject({ code: 2, stderr: expect.stringContaining('has no entry at the base') });
}, 60_000);

test('a directory that is killed in the middle is gone on with when it is back, and nobody comes twice', async () => {
  const realm = await realmWith({ users: { base: crowd }, pageSize: 50 });
  void server.admin.call(syncDirectory, at(realm)).catch(() => {});
  const latest = async () =>
    (await server.admin.call(listDirectorySyncs, { ...at(realm), query: { limit: 1 } })).body?.[0];
  await eventually(async () => expect((await latest())?.added).toBeGreaterThan(100));
  await slapd.kill();
  await eventually(async () => expect(await latest()).toMatchObject({ state: 'waiting', error: expect.any(String) }));
  const { added = 0 } = (await latest()) ?? {};
  expect(added).toBeLessThan(MANY);
  await slapd.start();
  const { id = '' } = (await latest()) ?? {};
  expect(await endedSync(server, realm, 'corporate', id)).toMatchObject({
    state: 'done',
    added: MANY,
    updated: 0,
    failed: 0,
    disabled: 0,
  });
  const { rows } = await server.pool.query('select count(*)::int as n from realm_user where realm_id = $1', [realm]);
  expect(rows).toEqual([{ n: MANY }]);
}, 120_000);

test('it is reached by LDAPS and StartTLS, by who signed its certificate alone', async () => {
  const connection = { bindDn: READER, caCertificate: slapd.ca };
  const tried = async (of: object) => {
    const realm = await realmWith({ connection: { ...connection, ...of } });
    return (await server.admin.call(testDirectory, at(realm))).body;
  };
  expect(await tried({ urls: [slapd.ldaps] })).toMatchObject({
    ok: true,
    error: null,
    people: ['ada', 'bob', 'cleo'],
    faults: [],
  });
  expect(await tried({ urls: [slapd.ldap], startTls: true })).toMatchObject({ ok: true });
  expect(await tried({ urls: ['ldap://127.0.0.1:1', slapd.ldaps] })).toMatchObject({ ok: true });
  const strange = { urls: [slapd.ldaps], caCertificate: null };
  expect(await tried(strange)).toMatchObject({ ok: false, error: expect.stringMatching(/certificate/), people: [] });
  expect(await tried({ urls: ['ldaps://10.0.0.1'] })).toMatchObject({
    ok: false,
    error: expect.stringContaining('SVC_OUTBOUND_ALLOW'),
  });
});

test('one that offers no TLS is told so, with what to use instead', async () => {
  // the answer of a directory to an extended operation that it does not know: a protocol error
  const refusal = Buffer.from('300c02010178070a010204000400', 'hex');
  const plain = createServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', (asked) => {
        // by the number of the question: LDAPMessage begins with it
        refusal[4] = asked[4] ?? 1;
        socket.write(refusal);
      }),
  );
  await once(plain.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(plain.address() as AddressInfo).port}`;
  const tried = async (of: object) => {
    const realm = await realmWith({ connection: { bindDn: READER, ...of } });
    return (await server.admin.call(testDirectory, at(realm))).body?.error;
  };
  try {
    expect(await tried({ urls: [`ldap://${host}`], startTls: true })).toBe(
      'the directory offers no STARTTLS: use ldaps://, or set STARTTLS up in the directory',
    );
    expect(await tried({ urls: [`ldaps://${host}`] })).toBe(
      'the directory speaks no TLS at this port: use ldap:// with STARTTLS, or the port of ldaps://',
    );
  } finally {
    plain.close();
  }
});

test('one that takes StartTLS and then says nothing holds nobody up for ever', async () => {
  const { hostname, port } = new URL(slapd.ldap);
  const silent = createServer((socket) => {
    const behind = connect(Number(port), hostname);
    socket.once('data', (asked) => behind.write(asked));
    behind.once('data', (answer) => socket.write(answer));
    socket.on('error', () => {}).on('close', () => behind.destroy());
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  try {
    const urls = [`ldap://127.0.0.1:${Object(silent.address()).port}`];
    const realm = await realmWith({ connection: { urls, startTls: true, bindDn: READER, caCertificate: slapd.ca } });
    const { body } = await server.admin.call(testDirectory, at(realm));
    expect(body).toMatchObject({ ok: false, error: expect.stringContaining('did not answer in time') });
    const open = () => new Promise<number>((resolve) => silent.getConnections((_, n) => resolve(n)));
    await expect.poll(open).toBe(0);
  } finally {
    silent.close();
  }
}, 60_000);

test('a wrong password of the realm’s own is told without showing it, here and in the log', async () => {
  const realm = await realmWith({ secret: 'a password that is wrong' });
  const { body } = await server.admin.call(testDirectory, at(realm));
  expect(body).toMatchObject({ ok: false, error: expect.stringContaining('bindDn') });
  const failed = await sync(realm);
  expect(failed).toMatchObject({ state: 'failed', error: expect.stringContaining('bindDn') });
  const { rows } = await server.pool.query('select data from event where realm_id = $1', [realm]);
  const all = JSON.stringify([rows, failed, body, lines]);
  expect(all).not.toContain('a password that is wrong');
  expect(all).not.toContain(READER_PASSWORD);
}, 60_000);
