// Owns: directories of people as resources: what is refused, what is shown, that their password stays with its address.
// Does not own: what every resource does (test/server/resource), the document's round trip (transfer.*.test.ts).
// Implements: decisions "User federation".
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createDirectory,
  deleteDirectory,
  getDirectory,
  listDirectories,
  putDirectory,
} from '../../../server/contract/user-federation.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
const directory = {
  alias: 'corporate',
  connection: { urls: ['ldaps://directory.example.com'], bindDn: 'cn=reader,dc=example' },
  users: { base: 'ou=people,dc=example' },
  secret: 'the password there',
};
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
});
afterAll(() => server?.stop());

test('a directory is kept with what it needs and never shows its password', async () => {
  const { body } = await server.admin.call(createDirectory, { params, body: directory });
  expect(body).toMatchObject({
    alias: 'corporate',
    type: 'ldap',
    mode: 'import',
    connection: { ...directory.connection, startTls: false, caCertificate: null },
    users: {
      base: 'ou=people,dc=example',
      scope: 'sub',
      uuidAttribute: 'entryUUID',
      attributes: { username: 'uid', email: 'mail' },
      trustEmail: false,
    },
    groups: null,
    schedule: 0,
    pageSize: 500,
    removed: 'disable',
    secretSet: true,
  });
  const at = { params: { ...params, alias: 'corporate' } };
  const { body: again } = await server.admin.call(getDirectory, at);
  expect(again).toEqual(body);
  const { body: same } = await server.admin.call(putDirectory, { ...at, body: again ?? {} });
  expect(same).toEqual(body);
  const { rows } = await server.pool.query(`select secret from directory where realm_id = 'acme'`);
  expect(String(rows[0]?.secret)).not.toContain('password');
});

test('its password goes nowhere else without being said again', async () => {
  const at = { params: { ...params, alias: 'corporate' } };
  const elsewhere = { connection: { ...directory.connection, urls: ['ldaps://mine.example.net'] } };
  await expect(server.admin.call(putDirectory, { ...at, body: elsewhere })).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'secret' }] },
  });
  const { body } = await server.admin.call(putDirectory, {
    ...at,
    body: { ...elsewhere, secret: 'the password there' },
  });
  expect(body?.connection.urls).toEqual(['ldaps://mine.example.net']);
});

test.each([
  ['connection.urls[0]', { connection: { urls: ['ldap://directory.example.com'] } }],
  ['connection.urls[0]', { connection: { urls: ['ldap://directory.example.com:99999'] } }],
  ['connection.urls[0]', { connection: { urls: ['https://directory.example.com'] } }],
  ['connection.urls', { connection: { urls: [] } }],
  ['users.filter', { users: { base: 'dc=example', filter: '(uid=a)(uid=b)' } }],
  ['users.filter', { users: { base: 'dc=example', filter: '(uid=a' } }],
  ['groups.filter', { groups: { base: 'dc=example', filter: '(nonsense)' } }],
  ['users.base', { users: { base: 'people' } }],
  ['users.attributes', { users: { base: 'dc=example', attributes: { email: 'mail' } } }],
  ['users.attributes.team', { users: { base: 'dc=example', attributes: { username: 'uid', team: 'a b' } } }],
  ['schedule', { schedule: 5 }],
  ['pageSize', { pageSize: 0 }],
  ['alias', { alias: '' }],
  ['groups.below', { groups: { base: 'dc=example', below: 'staff' } }],
])('what would not work is refused at its place: %s', async (path, wrong) => {
  const refused = server.admin.call(createDirectory, {
    params,
    body: { ...directory, alias: 'other', ...wrong } as never,
  });
  await expect(refused).rejects.toMatchObject({ status: 400, problem: { errors: [{ path }] } });
});

test('who may not read or write directories doesn’t; one that is deleted is gone', async () => {
  const reader = await administrator(server, { target: 'acme', permissions: ['user-federation:read'] });
  expect((await reader.call(listDirectories, { params })).body).toHaveLength(1);
  const at = { params: { ...params, alias: 'corporate' } };
  await expect(reader.call(deleteDirectory, at)).rejects.toMatchObject({ status: 403 });
  const stranger = await administrator(server, { target: 'acme', permissions: ['users:read'] });
  await expect(stranger.call(listDirectories, { params })).rejects.toMatchObject({ status: 403 });
  await server.admin.call(deleteDirectory, at);
  await expect(server.admin.call(getDirectory, at)).rejects.toMatchObject({ status: 404 });
});
