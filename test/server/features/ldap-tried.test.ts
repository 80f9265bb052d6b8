// Trying a directory out, saved or not: its entries as users, without secrets and bytes; how far a sync is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDirectory, testUnsavedDirectory } from '../../../server/contract/directory-syncs.ts';
import { createDirectory, listDirectories } from '../../../server/contract/user-federation.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { syncedWith } from '../../support/directories.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const PEOPLE = `ou=people,${BASE}`;
let server: TestServer;
let slapd: Slapd;
beforeAll(async () => {
  slapd = await startSlapd(Array.from({ length: 12 }, (_, i) => personLdif(`person${i}`)).join(''));
  server = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
  for (const realm of ['acme', 'other']) await makeRealm(server, realm);
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});

const directory = (users: object = {}, more: object = {}) => ({
  alias: 'corporate',
  connection: { urls: [slapd.ldap], bindDn: READER },
  users: { base: PEOPLE, ...users },
  secret: READER_PASSWORD,
  ...more,
});
const tried = async (body = directory(), { realm = 'acme', as = server.admin } = {}) =>
  (await as.call(testUnsavedDirectory, { params: { realm }, body })).body!;

test('unsaved settings show ten entries as the users that they would be, and nothing is written', async () => {
  const attributes = { username: 'uid', email: 'mail', lastName: 'sn', common: 'cn' };
  const { ok, error, people, entries } = await tried(directory({ attributes }));
  expect([ok, error, people.length, entries.length]).toEqual([true, null, 10, 10]);
  const [one] = entries;
  expect(one).toMatchObject({ enabled: true, firstName: null, omitted: [] });
  expect(one?.entry).toContain(PEOPLE);
  expect(one?.username).toMatch(/^person\d+$/);
  expect(one?.attributes.common).toHaveLength(1);
  const params = { realm: 'acme' };
  expect((await server.admin.call(listDirectories, { params })).body).toEqual([]);
  expect((await server.admin.call(listUsers, { params, query: { q: 'person' } })).body).toEqual([]);
});

test('passwords are left out, whichever field they are mapped to', async () => {
  const attributes = { username: 'uid', firstName: 'userPassword', nick: 'userPassword', sn: 'sn' };
  const { entries } = await tried(directory({ attributes }));
  const [one] = entries;
  expect(one).toMatchObject({ firstName: null, attributes: { sn: expect.any(Array) } });
  expect(one?.attributes).not.toHaveProperty('nick');
  expect(JSON.stringify(entries)).not.toMatch(/\{SSHA|password of/i);
});

test('attributes that the profile hides from administrators stay hidden', async () => {
  await makeRealm(server, 'hiding');
  const params = { realm: 'hiding' };
  await server.admin.call(putUserProfile, {
    params,
    body: { attributes: [{ name: 'secretive', view: ['user'], edit: ['user'] }] },
  });
  const attributes = { username: 'uid', secretive: 'cn' };
  const { entries } = await tried(directory({ attributes }), { realm: 'hiding' });
  expect(entries[0]?.attributes).toEqual({});
});

test('a stored directory shows its entries too, and a sync says how many there are', async () => {
  const at = { params: { realm: 'other', alias: 'corporate' } };
  await server.admin.call(createDirectory, { params: { realm: 'other' }, body: directory({}, { pageSize: 5 }) });
  const { body } = await server.admin.call(testDirectory, at);
  expect(body?.entries).toHaveLength(10);
  expect(await syncedWith(server, 'other', 'corporate')).toMatchObject({ state: 'done', read: 12, total: 12 });
});

test('faults of settings are told at their fields; a fault of the directory in its words', async () => {
  const refused = (body: ReturnType<typeof directory>) =>
    server.admin.call(testUnsavedDirectory, { params: { realm: 'acme' }, body });
  await expect(
    refused(directory({}, { connection: { urls: ['ldap://directory.example.com'], bindDn: READER } })),
  ).rejects.toMatchObject({ status: 400, problem: { errors: [{ path: 'connection.urls[0]' }] } });
  await expect(refused(directory({ filter: '(a)(b)' }))).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'users.filter' }] },
  });
  expect(await tried(directory({}, { secret: 'wrong' }))).toMatchObject({
    ok: false,
    error: expect.stringContaining('bindDn'),
    entries: [],
  });
  expect(await tried(directory({}, { connection: { urls: ['ldaps://10.0.0.1'] } }))).toMatchObject({
    ok: false,
    error: expect.stringContaining('SVC_OUTBOUND_ALLOW'),
  });
});

test('no stored password is sent for unsaved settings, and trying needs the permission to write', async () => {
  const { secret: _, ...without } = directory();
  const { body } = await server.admin.call(testUnsavedDirectory, { params: { realm: 'other' }, body: without });
  expect(body).toMatchObject({ ok: false, error: 'the password of bindDn is missing' });
  const reader = await administrator(server, { target: 'acme', permissions: ['user-federation:read'] });
  await expect(tried(directory(), { as: reader })).rejects.toMatchObject({ status: 403 });
  const elsewhere = await administrator(server, { target: 'other', permissions: ['user-federation:write'] });
  await expect(tried(directory(), { as: elsewhere })).rejects.toMatchObject({ status: 403 });
});
