// Owns: people of a real directory in a realm with a user profile: what of them is taken, and who is told of the rest.
// Does not own: profiles otherwise (user-profile.test.ts), syncs (ldap-sync.test.ts), signing in (ldap-sign-in.test.ts).
// Implements: decisions "User profile", "User federation".
import { Attribute, Change } from 'ldapts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDirectory } from '../../../server/contract/user-federation.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { listUsers, putUser } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { syncedWith } from '../../support/directories.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const PEOPLE = `ou=people,${BASE}`;
const dn = (uid: string) => `uid=${uid},${PEOPLE}`;
const lines: string[] = [];
let server: TestServer;
let slapd: Slapd;
beforeAll(async () => {
  slapd = await startSlapd(['ada', 'bob', 'x9'].map((uid) => personLdif(uid)).join(''));
  await set('ada', { employeeNumber: 'E17', departmentNumber: 'Sales' });
  await set('bob', { employeeNumber: 'seventeen', departmentNumber: 'Sales' });
  server = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' }, lines });
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});

const set = (uid: string, values: Record<string, string>) =>
  slapd.as((client) =>
    client.modify(
      dn(uid),
      Object.entries(values).map(
        ([type, value]) => new Change({ operation: 'replace', modification: new Attribute({ type, values: [value] }) }),
      ),
    ),
  );
let made = 0;
async function realmWith(mode: 'import' | 'live'): Promise<string> {
  made += 1;
  const realm = `profiled${made}`;
  await makePeopledRealm(server, realm, []);
  const attributes = { username: 'uid', email: 'mail', firstName: 'givenName', lastName: 'sn' };
  const own = { staff: 'employeeNumber', department: 'departmentNumber' };
  const body = {
    alias: 'corporate',
    mode,
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: PEOPLE, attributes: { ...attributes, ...own } },
    secret: READER_PASSWORD,
  };
  await server.admin.call(createDirectory, { params: { realm }, body });
  const of = { view: ['admin' as const], edit: [] };
  const profile = {
    unmanagedAttributes: 'disabled' as const,
    attributes: [
      { name: 'username', validation: { minLength: 3 } },
      { ...of, name: 'staff', validation: { pattern: 'E\\d+' } },
      { name: 'costCentre', required: ['admin' as const], view: ['admin' as const], edit: ['admin' as const] },
    ],
  };
  await server.admin.call(putUserProfile, { params: { realm }, body: profile });
  return realm;
}
const person = async (realm: string, name: string) =>
  (await server.admin.call(listUsers, { params: { realm }, query: { limit: 100 } })).body?.find(
    ({ username }) => username === name,
  );
async function signIn(realm: string, username: string) {
  const who = createPerson(server.baseUrl);
  const page = await who.open(`/realms/${realm}/login?for=account`);
  return who.fill(page, { username, password: `password of ${username}` });
}

test('who is in a directory comes and signs in, without what the profile refuses, and the sync names that', async () => {
  const realm = await realmWith('import');
  const { errors, ...done } = await syncedWith(server, realm, 'corporate');
  expect(done).toMatchObject({ state: 'done', read: 3, added: 2, failed: 3 });
  const said = Object.fromEntries(errors.map(({ entry, message }) => [entry, message]));
  expect(said[dn('ada')]).toContain('attributes.department: is no attribute of the realm’s user profile');
  expect(said[dn('ada')]).toContain('attributes.costCentre: is required');
  expect(said[dn('ada')]).not.toContain('staff');
  expect(said[dn('bob')]).toContain('attributes.staff: does not have the required form');
  expect(JSON.stringify(errors)).not.toContain('seventeen');
  expect(said[dn('x9')]).toMatch(/^username: must have at least 3/);
  expect(await person(realm, 'ada')).toMatchObject({ attributes: { staff: ['E17'] } });
  const bob = await person(realm, 'bob');
  expect(bob).toMatchObject({ firstName: 'First bob', email: 'bob@example.org' });
  expect(bob?.attributes).toEqual({});
  expect((await signIn(realm, 'bob')).url).toContain('/account');
  expect(await syncedWith(server, realm, 'corporate')).toMatchObject({ added: 0, updated: 0 });
});

test('a value that fits no more goes, and what else the directory says is followed', async () => {
  const realm = await realmWith('import');
  await syncedWith(server, realm, 'corporate');
  await set('ada', { employeeNumber: 'none', givenName: 'Augusta' });
  try {
    const { errors, ...done } = await syncedWith(server, realm, 'corporate');
    expect(done).toMatchObject({ updated: 1 });
    expect(errors.find(({ entry }) => entry === dn('ada'))?.message).toContain(
      'attributes.staff: does not have the required form',
    );
    const ada = await person(realm, 'ada');
    expect([ada?.firstName, ada?.attributes]).toEqual(['Augusta', {}]);
  } finally {
    await set('ada', { employeeNumber: 'E17', givenName: 'First ada' });
  }
});

test('who comes with their first sign-in is let in, too, and the log says what is left out', async () => {
  const realm = await realmWith('live');
  expect((await signIn(realm, 'bob')).url).toContain('/account');
  expect((await person(realm, 'bob'))?.attributes).toEqual({});
  const about = lines.filter(
    (line) => line.includes(realm) && line.includes('attributes.staff: does not have the required form'),
  );
  expect(about).toHaveLength(1);
  expect(about.join('')).not.toContain('seventeen');
});

test('another number from a directory is nobody’s confirmed one, until it is confirmed', async () => {
  made += 1;
  const realm = `profiled${made}`;
  await makePeopledRealm(server, realm, []);
  const attributes = { username: 'uid', email: 'mail', phone_number: 'telephoneNumber' };
  const body = {
    alias: 'corporate',
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: PEOPLE, attributes },
    secret: READER_PASSWORD,
  };
  await server.admin.call(createDirectory, { params: { realm }, body });
  await set('ada', { telephoneNumber: '+4917' });
  await syncedWith(server, realm, 'corporate');
  const ada = await person(realm, 'ada');
  const confirmed = { phone_number: ['+4917'], phone_number_verified: ['true'] };
  await server.admin.call(putUser, { params: { realm, userId: ada?.id ?? '' }, body: { attributes: confirmed } });
  await set('ada', { givenName: 'Augusta' });
  await syncedWith(server, realm, 'corporate');
  expect((await person(realm, 'ada'))?.attributes).toEqual(confirmed);
  await set('ada', { telephoneNumber: '+4918' });
  await syncedWith(server, realm, 'corporate');
  expect((await person(realm, 'ada'))?.attributes).toEqual({ phone_number: ['+4918'] });
});
