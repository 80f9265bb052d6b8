// Owns: signing in by a real directory: whom it knows, whom it refuses, what becomes of them here, and what happens while it is away.
// Does not own: syncs (ldap-sync.test.ts).
// Implements: specification 4.2; decisions "User federation", "Single sign-on and freshness".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createDirectory, deleteDirectory, putDirectory } from '../../../server/contract/user-federation.ts';
import { createUser, listUsers, putUser, setPassword } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { syncedWith } from '../../support/directories.ts';
import { freePort } from '../../support/free-port.ts';
import { ldapOperations } from '../../support/ldap-operations.ts';
import { createPerson } from '../../support/person.ts';
import { startRelay } from '../../support/relay.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';
import { importer } from '../../support/transfer.ts';

const PEOPLE = `ou=people,${BASE}`;
const LOCAL = 'a password of the realm itself';
const REFUSED = 'The username or password is wrong, or this account cannot sign in at the moment.';
const AWAY = 'can’t be checked at the moment';
const lines: string[] = [];
let server: TestServer;
let slapd: Slapd;
beforeAll(async () => {
  const group = `dn: cn=dev,ou=groups,${BASE}\nobjectClass: groupOfNames\ncn: dev\nmember: uid=bob,${PEOPLE}\n\n`;
  const twoNames = personLdif('fay').replace(/^mail: .*/m, '$&\nmail: fay.second@example.org');
  slapd = await startSlapd(
    ['ada', 'bob', 'cleo', 'dan', 'eve'].map((uid) => personLdif(uid)).join('') + twoNames + group,
  );
  server = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' }, lines });
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});

let made = 0;
async function realmWith(more: object = {}): Promise<string> {
  made += 1;
  const realm = `by-directory${made}`;
  await makePeopledRealm(server, realm, []);
  const body = {
    alias: 'corporate',
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: PEOPLE },
    secret: READER_PASSWORD,
    ...more,
  };
  await server.admin.call(createDirectory, { params: { realm }, body });
  return realm;
}
/** What the page says then. */
async function signIn(realm: string, username: string, password: string) {
  const who = createPerson(server.baseUrl);
  const page = await who.open(`/realms/${realm}/login?for=account`);
  return who.fill(page, { username, password });
}
const isIn = ({ url }: { url: string }) => url.includes('/account');
const passwordOf = (uid: string) => `password of ${uid}`;
const person = async (realm: string, name: string) =>
  (await server.admin.call(listUsers, { params: { realm }, query: { limit: 100 } })).body?.find(
    (u) => u.username === name,
  );
const reasons = async (realm: string) =>
  (
    await server.pool.query(
      `select data ->> 'reason' as reason from event where realm_id = $1 and type = 'LOGIN_FAILURE' order by id`,
      [realm],
    )
  ).rows.map(({ reason }) => reason);

test('whom a sync has taken signs in with the password of the directory, by name or address; no other one does', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  const home = await signIn(realm, 'ada', passwordOf('ada'));
  expect([isIn(home), /(?:Set a|Change) password/.test(home.text)]).toEqual([true, false]);
  expect(isIn(await signIn(realm, 'ADA@example.org', passwordOf('ada')))).toBe(true);
  expect((await signIn(realm, 'ada', passwordOf('bob'))).text).toContain(REFUSED);
  expect((await signIn(realm, 'nobody', passwordOf('ada'))).text).toContain(REFUSED);
  expect(await reasons(realm)).toEqual(['wrong', 'unknown']);
  const { rows } = await server.pool.query(`select secret from credential where realm_id = $1`, [realm]);
  expect(rows.every(({ secret }) => Object.keys(secret).join() === 'directory')).toBe(true);
});

test('a plan that takes the directory away, or looks elsewhere, says whom that touches', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  expect(isIn(await signIn(realm, 'ada', passwordOf('ada')))).toBe(true);
  const { apply } = await importer(server);
  const [manager, dryRun] = ['federation', 'true'];
  const userFederation = [{ alias: 'corporate', users: { base: PEOPLE } }];
  await apply(realm, { userFederation }, { manager });
  const gone = await apply(realm, { userFederation: [] }, { manager, dryRun, prune: 'true' });
  const all = { kind: 'directory', key: 'corporate', locksOut: true, sessions: 1, people: 6 };
  expect(gone.consequences).toMatchObject([{ ...all, message: 'goes: its people’s passwords count no more' }]);
  const narrower = [{ alias: 'corporate', users: { base: PEOPLE, filter: '(uid=ada)' } }];
  const { consequences } = await apply(realm, { userFederation: narrower }, { manager, dryRun });
  expect(consequences).toMatchObject([{ ...all, message: expect.stringContaining('looks for its people otherwise') }]);
});

test('live: somebody comes with their first sign-in, with their groups, and never by another’s filter', async () => {
  const realm = await realmWith({ mode: 'live', groups: { base: `ou=groups,${BASE}` } });
  expect(await person(realm, 'bob')).toBeUndefined();
  for (const name of ['*', 'bo*', 'bob)(uid=*', `bob)(|(uid=*`, 'bob\\2a', 'bob,ou=people'])
    expect((await signIn(realm, name, passwordOf('bob'))).text).toContain(REFUSED);
  expect(isIn(await signIn(realm, 'bob', passwordOf('bob')))).toBe(true);
  expect(await person(realm, 'bob')).toMatchObject({ email: 'bob@example.org', groups: ['/corporate/dev'] });
  expect(await syncedWith(server, realm, 'corporate')).toMatchObject({ state: 'done', added: 0 });
  expect(await person(realm, 'ada')).toBeUndefined();
});

test('somebody of the realm with the same name signs in with their own password alone', async () => {
  const realm = await realmWith({ mode: 'live' });
  const body = { username: 'cleo', password: LOCAL };
  await server.admin.call(createUser, { params: { realm }, body });
  expect((await signIn(realm, 'cleo', passwordOf('cleo'))).text).toContain(REFUSED);
  expect(isIn(await signIn(realm, 'cleo', LOCAL))).toBe(true);
});

test('wrong passwords lock, and the right one of the directory doesn’t help then', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  await server.admin.call(putSettings, { params: { realm }, body: { lockoutEnabled: true, maxLoginFailures: 2 } });
  for (let i = 0; i < 2; i += 1) await signIn(realm, 'dan', 'wrong');
  expect((await signIn(realm, 'dan', passwordOf('dan'))).text).toContain(REFUSED);
  expect(await reasons(realm)).toEqual(['wrong', 'wrong', 'locked']);
});

test('guesses at somebody by a name that only the directory knows lock them, too, whichever name follows', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  expect(await person(realm, 'fay')).toMatchObject({ email: 'fay@example.org' });
  await server.admin.call(putSettings, { params: { realm }, body: { lockoutEnabled: true, maxLoginFailures: 2 } });
  const second = 'fay.second@example.org';
  for (let i = 0; i < 3; i += 1) expect(isIn(await signIn(realm, second, passwordOf('fay')))).toBe(true);
  for (let i = 0; i < 2; i += 1) await signIn(realm, second, 'wrong');
  for (const name of ['fay', second]) expect((await signIn(realm, name, passwordOf('fay'))).text).toContain(REFUSED);
  const { rows } = await server.pool.query(
    `select subject ->> 'name' as name from event where realm_id = $1 and type = 'USER_LOCKED'`,
    [realm],
  );
  expect(rows).toHaveLength(1);
});

test('a guess that somebody’s own directory looked at counts while another is away; while their own is away none does', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  await server.admin.call(putSettings, { params: { realm }, body: { lockoutEnabled: true, maxLoginFailures: 2 } });
  const gone = {
    connection: { urls: [`ldap://127.0.0.1:${await freePort()}`], bindDn: READER },
    secret: READER_PASSWORD,
  };
  await server.admin.call(createDirectory, {
    params: { realm },
    body: { alias: 'other', users: { base: `ou=others,${BASE}` }, ...gone },
  });
  for (let i = 0; i < 2; i += 1) expect((await signIn(realm, 'ada', 'wrong')).text).toContain(AWAY);
  expect((await signIn(realm, 'ada', passwordOf('ada'))).text).toContain(REFUSED);
  expect(await reasons(realm)).toEqual(['away', 'away', 'locked']);

  const there = { connection: { urls: [slapd.ldap], bindDn: READER }, secret: READER_PASSWORD };
  await server.admin.call(putDirectory, { params: { realm, alias: 'other' }, body: there });
  await server.admin.call(putDirectory, { params: { realm, alias: 'corporate' }, body: gone });
  for (let i = 0; i < 3; i += 1) expect((await signIn(realm, 'bob', 'wrong')).text).toContain(AWAY);
  expect((await reasons(realm)).slice(3)).toEqual(['away', 'away', 'away']);
});

test('while it is away nobody is told whom it knows, people of the realm sign in, and sessions go on', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  await server.admin.call(createUser, { params: { realm }, body: { username: 'own', password: LOCAL } });
  expect(isIn(await signIn(realm, 'ada', passwordOf('ada')))).toBe(true);
  await slapd.kill();
  try {
    for (const name of ['ada', 'nobody', 'own'])
      expect((await signIn(realm, name, passwordOf('ada'))).text).toContain(AWAY);
    expect(isIn(await signIn(realm, 'own', LOCAL))).toBe(true);
    expect((await server.admin.call(listSessions, { params: { realm }, query: {} })).body).toHaveLength(2);
  } finally {
    await slapd.start();
  }
});

test('the directory is asked the same, in the same order, for whom it knows, nobody, and somebody that its filter leaves out', async () => {
  let operations: string[] = [];
  const relay = await startRelay(Number(new URL(slapd.ldap).port), () => {
    operations.push('connection');
    return ldapOperations((operation) => operations.push(operation));
  });
  try {
    const realm = await realmWith({
      connection: { urls: [`ldap://127.0.0.1:${relay.port}`], bindDn: READER },
      users: { base: PEOPLE, filter: '(&(objectClass=inetOrgPerson)(!(uid=eve)))' },
    });
    await syncedWith(server, realm, 'corporate');
    const askedFor = async (name: string) => {
      operations = [];
      expect((await signIn(realm, name, 'wrong')).text).toContain(REFUSED);
      return operations.filter((operation) => operation !== 'unbind');
    };
    const known = await askedFor('ada');
    expect(known).toEqual(expect.arrayContaining(['connection', 'search', 'bind']));
    expect(known.filter((operation) => operation === 'bind')).toHaveLength(2);
    for (const name of ['nobody', 'eve', 'nobody@example.org', 'bob']) expect(await askedFor(name)).toEqual(known);
  } finally {
    await relay.stop();
  }
});

test('a password that the directory keeps can’t be set here, and who is disabled here stays out', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  const { id: userId = '' } = (await person(realm, 'eve')) ?? {};
  const refused = server.admin.call(setPassword, { params: { realm, userId }, body: { password: LOCAL } });
  await expect(refused).rejects.toMatchObject({ status: 400, problem: { errors: [{ path: 'password' }] } });
  await server.admin.call(putUser, { params: { realm, userId }, body: { enabled: false } });
  await syncedWith(server, realm, 'corporate');
  expect((await signIn(realm, 'eve', passwordOf('eve'))).text).toContain(REFUSED);
});

test('with a directory goes what its people had signed in to, and they can’t any more', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  await signIn(realm, 'ada', passwordOf('ada'));
  const sessions = async () => (await server.admin.call(listSessions, { params: { realm }, query: {} })).body;
  expect(await sessions()).toHaveLength(1);
  await server.admin.call(deleteDirectory, { params: { realm, alias: 'corporate' } });
  expect(await sessions()).toEqual([]);
  expect((await signIn(realm, 'ada', passwordOf('ada'))).text).toContain(REFUSED);
});

test('nobody takes a directory elsewhere by whose people they would be more than they are', async () => {
  const realm = await realmWith();
  await syncedWith(server, realm, 'corporate');
  const { id = '' } = (await person(realm, 'ada')) ?? {};
  await server.pool.query(
    `insert into admin_grant (realm_id, role_id, user_id, target_realm)
     select realm_id, id, $2, realm_id from admin_role where realm_id = $1 and name = 'realm-admin'`,
    [realm, id],
  );
  const weak = await administrator(server, {
    target: realm,
    permissions: ['user-federation:read', 'user-federation:write'],
  });
  const at = { params: { realm, alias: 'corporate' } };
  const body = { connection: { urls: ['ldaps://mine.example.net'], bindDn: READER }, secret: 'mine' };
  await expect(weak.call(putDirectory, { ...at, body })).rejects.toMatchObject({ status: 403 });
  await weak.call(putDirectory, { ...at, body: { schedule: 3600 } });
  await weak.call(putDirectory, { ...at, body: { enabled: false } });
  await expect(weak.call(putDirectory, { ...at, body: { enabled: true } })).rejects.toMatchObject({ status: 403 });
});
