// Owns: entries of a real directory that have fields which can't be taken: each field is judged alone, and disabling is always followed.
// Does not own: syncs otherwise (ldap-sync.test.ts), names that go from one entry to another (ldap-names.test.ts).
// Implements: decisions "User federation"; docs/ldap.md.
import { Attribute, Change } from 'ldapts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDirectory } from '../../../server/contract/directory-syncs.ts';
import { listGroups } from '../../../server/contract/groups.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { createDirectory } from '../../../server/contract/user-federation.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { syncedWith } from '../../support/directories.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

/** Flags of 389, Active Directory and OpenLDAP's password policy, which a plain slapd lets nobody write. */
const SCHEMA = `
attributetype ( 2.16.840.1.113730.3.1.610 NAME 'nsAccountLock' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.42.2.27.8.1.17 NAME 'pwdAccountLockedTime' EQUALITY generalizedTimeMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.99999.1 NAME 'anyMail' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
attributetype ( 1.3.6.1.4.1.99999.2 NAME 'picture' SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )
objectclass ( 1.3.6.1.4.1.99999.3 NAME 'account389' SUP inetOrgPerson STRUCTURAL
  MAY ( nsAccountLock $ userAccountControl $ pwdAccountLockedTime $ anyMail $ picture ) )
`;
const PEOPLE = `ou=people,${BASE}`;
const dnOf = (uid: string) => `uid=${uid},${PEOPLE}`;
let server: TestServer;
let slapd: Slapd;
beforeAll(async () => {
  const ldif = ['ada', 'bob'].map((uid) => personLdif(uid)).join('');
  slapd = await startSlapd(ldif.replaceAll('inetOrgPerson', 'account389').replaceAll(/^mail:/gm, 'anyMail:'), {
    schema: SCHEMA,
  });
  server = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});

let made = 0;
const attributes = { username: 'uid', email: 'anyMail', firstName: 'givenName', lastName: 'sn' };
async function realmWith(users: object = {}, more: object = {}): Promise<string> {
  made += 1;
  const realm = `fields${made}`;
  await makePeopledRealm(server, realm, []);
  const body = {
    alias: 'corporate',
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: PEOPLE, attributes, ...users },
    secret: READER_PASSWORD,
    ...more,
  };
  await server.admin.call(createDirectory, { params: { realm }, body });
  return realm;
}
const people = async (realm: string) =>
  (await server.admin.call(listUsers, { params: { realm }, query: { limit: 500 } })).body ?? [];
const person = async (realm: string, name: string) => (await people(realm)).find(({ username }) => username === name);
const set = (uid: string, values: Record<string, string[]>) =>
  slapd.as((client) =>
    client.modify(
      dnOf(uid),
      Object.entries(values).map(
        ([type, some]) => new Change({ operation: 'replace', modification: new Attribute({ type, values: some }) }),
      ),
    ),
  );
const add = (uid: string, more: Record<string, string | string[] | Buffer> = {}, dn = dnOf(uid)) =>
  slapd.as((client) =>
    client.add(
      dn,
      Object.entries({ objectClass: 'account389', uid, cn: uid, sn: uid, ...more }).map(
        ([type, value]) => new Attribute({ type, values: [value].flat() as string[] }),
      ),
    ),
  );
const remove = (dn: string) => slapd.as((client) => client.del(dn));
const messages = (errors: readonly { entry: string; message: string }[]) =>
  Object.fromEntries(errors.map(({ entry, message }) => [entry, message]));
async function signsIn(realm: string, name: string): Promise<boolean> {
  const who = createPerson(server.baseUrl);
  const page = await who.open(`/realms/${realm}/login?for=account`);
  const { url } = await who.fill(page, { username: name, password: `password of ${name}` });
  return url.includes('/account');
}
const sessionsOf = async (realm: string) =>
  (await server.admin.call(listSessions, { params: { realm }, query: {} })).body?.length;

const BAD_FIELDS: [string, Record<string, string[]>][] = [
  ['an address that is none', { anyMail: ['n/a'] }],
  ['an address without a domain', { anyMail: ['x@localhost'] }],
  ['the address of a local user', { anyMail: ['TAKEN@example.org'] }],
  ['the name of a local user', { uid: ['ada', 'local'] }],
  ['a first name that is too long', { givenName: ['x'.repeat(3_000)] }],
];
const SWITCHES: [string, Record<string, string[]>][] = [
  ['nsAccountLock', { nsAccountLock: ['TRUE'] }],
  ['userAccountControl', { userAccountControl: ['514'] }],
  ['pwdAccountLockedTime', { pwdAccountLockedTime: ['000001010000Z'] }],
];
const restored = {
  anyMail: ['ada@example.org'],
  givenName: ['First ada'],
  uid: ['ada'],
  nsAccountLock: [],
  userAccountControl: [],
  pwdAccountLockedTime: [],
};

test.each(
  BAD_FIELDS.map(([what, bad], i) => [SWITCHES[i % 3]?.[0] ?? '', what, bad, SWITCHES[i % 3]?.[1] ?? {}] as const),
)('an account that %s disables is disabled here and its sessions end, also with %s', async (_, __, bad, disabling) => {
  const realm = await realmWith();
  await server.admin.call(createUser, { params: { realm }, body: { username: 'local', email: 'taken@example.org' } });
  await syncedWith(server, realm, 'corporate');
  expect(await signsIn(realm, 'ada')).toBe(true);
  expect(await sessionsOf(realm)).toBe(1);
  try {
    await set('ada', { ...bad, ...disabling });
    expect(await syncedWith(server, realm, 'corporate', 'changed')).toMatchObject({ state: 'done', disabled: 1 });
    expect(await person(realm, 'ada')).toMatchObject({ enabled: false });
    expect(await sessionsOf(realm)).toBe(0);
    expect(await signsIn(realm, 'ada')).toBe(false);
    await set('ada', restored);
    await syncedWith(server, realm, 'corporate');
    expect(await person(realm, 'ada')).toMatchObject({ enabled: true, email: 'ada@example.org' });
  } finally {
    await set('ada', restored);
  }
});

test('an account whose entry has no username any more, or one that can’t be, is disabled as any other', async () => {
  const realm = await realmWith({ attributes: { ...attributes, username: 'employeeNumber' } });
  try {
    await set('ada', { employeeNumber: ['e1'] });
    await set('bob', { employeeNumber: ['e2'] });
    await syncedWith(server, realm, 'corporate');
    await set('ada', { employeeNumber: [], nsAccountLock: ['true'], givenName: ['Augusta'] });
    await set('bob', { employeeNumber: ['z'.repeat(300)], userAccountControl: ['2'] });
    const { errors, ...done } = await syncedWith(server, realm, 'corporate');
    expect(done).toMatchObject({ disabled: 2, failed: 2 });
    expect(messages(errors)[dnOf('ada')]).toBe('left out: username: employeeNumber is missing');
    expect(messages(errors)[dnOf('bob')]).toMatch(/^left out: username: employeeNumber .*255/);
    expect(await person(realm, 'e1')).toMatchObject({ enabled: false, firstName: 'Augusta' });
    expect(await person(realm, 'e2')).toMatchObject({ enabled: false });
  } finally {
    await set('ada', { employeeNumber: [], nsAccountLock: [], givenName: ['First ada'] });
    await set('bob', { employeeNumber: [], userAccountControl: [] });
  }
});

test('wrong guesses lock an account in the directory for a while, which disables nobody here', async () => {
  const realm = await realmWith();
  await set('bob', { pwdAccountLockedTime: ['20260101000000Z'] });
  expect(await syncedWith(server, realm, 'corporate')).toMatchObject({ added: 2 });
  expect(await person(realm, 'bob')).toMatchObject({ enabled: true });
  await set('bob', { pwdAccountLockedTime: [] });
});

test('an account that its entry disables is disabled by its next sign-in, before any sync', async () => {
  for (const mode of ['import', 'live']) {
    const realm = await realmWith({}, { mode });
    expect(await signsIn(realm, 'bob')).toBe(true);
    try {
      await set('bob', { nsAccountLock: ['true'], anyMail: ['n/a'] });
      expect(await signsIn(realm, 'bob')).toBe(false);
      expect(await person(realm, 'bob')).toMatchObject({ enabled: false, email: null });
      expect(await sessionsOf(realm)).toBe(0);
    } finally {
      await set('bob', { nsAccountLock: [], anyMail: ['bob@example.org'] });
    }
  }
});

test('each entry comes with what can be taken of it, and the sync names the rest by entry and field', async () => {
  const odd: Record<string, string[]> = {
    odd1: ['n/a'],
    odd2: ['x@localhost'],
    odd3: [`${'x'.repeat(260)}@example.org`],
    odd4: ['jörg@exämple.org'],
    odd5: [' '],
    odd6: ['none', 'six@example.org'],
    odd7: ['Local@Example.org'],
    odd8: ['shared@example.org'],
    odd9: ['SHARED@example.org'],
  };
  const filter = '(|(uid=odd*)(cn=odd*)(cn=Doe*))';
  const realm = await realmWith({ filter, attributes: { ...attributes, picture: 'picture', words: 'description' } });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'l', email: 'local@example.org' } });
  for (const [uid, anyMail] of Object.entries(odd)) await add(uid, { anyMail });
  await add('odd10', { picture: Buffer.from([0, 255, 254, 1]), description: 'kept' });
  await add('odd11', { description: Array.from({ length: 120 }, (_, i) => `word ${i}`), givenName: 'Given' });
  await add('odd 12/ü', {}, `cn=odd 12/ü,${PEOPLE}`);
  await add('odd13', { uid: ['odd13', 'odd13b'] });
  await slapd.as((client) =>
    client.add(`cn=Doe\\, Jane,${PEOPLE}`, { objectClass: 'account389', cn: 'Doe, Jane', sn: 'Doe' }),
  );
  const taken = async () =>
    Object.fromEntries((await people(realm)).map(({ username, email }) => [username, email] as const));
  try {
    const { errors, ...done } = await syncedWith(server, realm, 'corporate');
    expect(done).toMatchObject({ state: 'done', read: 14, added: 13, failed: 8 });
    expect(await taken()).toMatchObject({
      odd1: null,
      odd2: null,
      odd3: null,
      odd4: null,
      odd5: null,
      odd6: 'six@example.org',
      odd7: null,
      odd8: 'shared@example.org',
      odd9: null,
      'odd 12/ü': null,
      odd13: null,
    });
    const said = messages(errors);
    expect(said[dnOf('odd1')]).toBe('left out: email: anyMail is no e-mail address');
    expect(said[dnOf('odd7')]).toBe('left out: email: somebody else has it here');
    expect(said[dnOf('odd9')]).toBe('left out: email: another entry of the directory has it');
    expect(said[dnOf('odd10')]).toBeUndefined();
    expect(said[dnOf('odd11')]).toBe('left out: attributes.words: description has more than 100 values');
    expect(said[`cn=Doe\\2C Jane,${PEOPLE}`] ?? said[`cn=Doe\\, Jane,${PEOPLE}`]).toBe('username: uid is missing');
    expect(await person(realm, 'odd10')).toMatchObject({ attributes: { words: ['kept'], picture: ['AP/+AQ=='] } });
    expect(await person(realm, 'odd11')).toMatchObject({ firstName: 'Given', attributes: {} });
    // the same again: who has an address keeps it
    expect(await syncedWith(server, realm, 'corporate')).toMatchObject({
      added: 0,
      updated: 0,
      disabled: 0,
      failed: 8,
    });
    expect(await taken()).toMatchObject({ odd8: 'shared@example.org', odd9: null });
    const { rows } = await server.pool.query(
      `select data -> 'leftOut' as left from event where realm_id = $1 and type = 'USER_CREATED' and subject ->> 'name' = 'odd1'`,
      [realm],
    );
    expect(rows).toEqual([{ left: ['email'] }]);
    const { body: tried } = await server.admin.call(testDirectory, { params: { realm, alias: 'corporate' } });
    expect(tried?.people).toContain('odd1');
    expect(messages(tried?.faults ?? [])[dnOf('odd1')]).toBe('left out: email: anyMail is no e-mail address');
  } finally {
    for (const uid of [...Object.keys(odd), 'odd10', 'odd11', 'odd13']) await remove(dnOf(uid));
    await remove(`cn=odd 12/ü,${PEOPLE}`);
    await remove(`cn=Doe\\, Jane,${PEOPLE}`);
  }
});

test('entries with one stable id, and names that no group can have, stop no sync', async () => {
  const groupsAt = `ou=groups,${BASE}`;
  const group = (cn: string, member: string[]) =>
    slapd.as((client) => client.add(`cn=${cn},${groupsAt}`, { objectClass: 'groupOfNames', cn, member }));
  await group('fine', [dnOf('ada'), dnOf('nobody'), `cn=${'long '.repeat(900)}x,${PEOPLE}`]);
  await group('a/b', [dnOf('ada')]);
  await group('zero\u200bwidth', [dnOf('ada')]);
  await add('one', { departmentNumber: 'same' });
  await add('two', { departmentNumber: 'same' });
  await set('ada', { departmentNumber: ['of ada'] });
  try {
    const realm = await realmWith(
      { uuidAttribute: 'departmentNumber', filter: '(departmentNumber=*)' },
      { groups: { base: groupsAt } },
    );
    const { errors, ...done } = await syncedWith(server, realm, 'corporate');
    expect(done).toMatchObject({ state: 'done', read: 3, added: 2 });
    expect(messages(errors)[dnOf('two')]).toBe('another entry has the same stable id');
    const byIds = await realmWith({ filter: '(uid=ada)' }, { groups: { base: groupsAt } });
    const again = await syncedWith(server, byIds, 'corporate');
    expect(again).toMatchObject({ state: 'done', added: 1 });
    expect(messages(again.errors)[`cn=a/b,${groupsAt}`]).toBeUndefined();
    const { body: groups } = await server.admin.call(listGroups, { params: { realm: byIds }, query: {} });
    expect(groups?.map(({ path }) => path)).toEqual(expect.arrayContaining(['/corporate/fine', '/corporate/a%2Fb']));
    expect(await person(byIds, 'ada')).toMatchObject({
      groups: expect.arrayContaining(['/corporate/fine', '/corporate/a%2Fb']),
    });
  } finally {
    for (const cn of ['fine', 'a/b', 'zero\u200bwidth']) await remove(`cn=${cn},${groupsAt}`);
    await remove(dnOf('one'));
    await remove(dnOf('two'));
    await set('ada', { departmentNumber: [] });
  }
});
