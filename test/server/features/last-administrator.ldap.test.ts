// Owns: administrators of master who come from a directory: the last stays enabled, whatever the directory says, and the sync tells it.
// Does not own: other ways (last-administrator.test.ts), syncs otherwise (ldap-sync.test.ts).
// Implements: decisions "The last administrator".
import { Attribute, Change } from 'ldapts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverSession } from '../../../operator/session.ts';
import { type Client, createClient } from '../../../server/contract/client.ts';
import { createDirectory, deleteDirectory, putDirectory } from '../../../server/contract/user-federation.ts';
import { syncedWith } from '../../support/directories.ts';
import { OPERATOR_SECRET } from '../../support/operator.ts';
import { withOperator } from '../../support/realmctl.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const PEOPLE = `ou=people,${BASE}`;
const SCHEMA = `
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
objectclass ( 1.2.840.113556.1.5.99 NAME 'housed' SUP inetOrgPerson STRUCTURAL MAY userAccountControl )
`;
const [USUAL, DISABLED] = ['512', '514'];
const ldifOf = (uid: string) =>
  [
    `dn: uid=${uid},${PEOPLE}`,
    'objectClass: housed',
    `uid: ${uid}`,
    `cn: ${uid}`,
    `sn: ${uid}`,
    `userAccountControl: ${USUAL}`,
    `userPassword: password of ${uid}`,
    '',
    '',
  ].join('\n');

const params = { realm: 'master', alias: 'house' };
let server: TestServer;
let slapd: Slapd;
let operator: Client;
beforeAll(async () => {
  slapd = await startSlapd(['boss', 'deputy', 'clerk'].map(ldifOf).join(''), { schema: SCHEMA });
  server = await startTestServer({ env: { ...withOperator, SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
  const { baseUrl } = server;
  const authorize = serverSession({ serverUrl: baseUrl, credential: { secret: OPERATOR_SECRET }, fetch });
  operator = createClient({ baseUrl, fetch, authorize });
  const body = {
    alias: params.alias,
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: PEOPLE, filter: '(objectClass=housed)' },
    secret: READER_PASSWORD,
  };
  await operator.call(createDirectory, { params, body });
  expect(await sync()).toMatchObject({ state: 'done', added: 3 });
  await server.pool.query(`
    insert into admin_grant (realm_id, role_id, user_id, target_realm)
    select u.realm_id, r.id, u.id, '*' from realm_user u join admin_role r on r.realm_id = u.realm_id
    where u.realm_id = 'master' and u.username in ('boss', 'deputy') and r.name = 'realm-admin'`);
  await server.pool.query(`update realm_user set enabled = false where realm_id = 'master' and username = 'admin'`);
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});

const sync = (kind: 'full' | 'changed' = 'full') => syncedWith({ admin: operator }, 'master', params.alias, kind);
const control = (uid: string, value = DISABLED) =>
  slapd.as((client) =>
    client.modify(
      `uid=${uid},${PEOPLE}`,
      new Change({
        operation: 'replace',
        modification: new Attribute({ type: 'userAccountControl', values: [String(value)] }),
      }),
    ),
  );
const enabled = async () =>
  (
    await server.pool.query<{ username: string }>(
      `select username from realm_user where realm_id = 'master' and enabled order by username`,
    )
  ).rows.map(({ username }) => username);
const told = (uid: string) => [{ entry: `uid=${uid},${PEOPLE}`, message: expect.stringMatching(/^stays enabled/) }];
const setAdmin = (on: boolean) =>
  server.pool.query(`update realm_user set enabled = $1 where realm_id = 'master' and username = 'admin'`, [on]);

test('of two whom the directory disables at once, one stays, and each sync says so until there is another administrator', async () => {
  for (const uid of ['boss', 'deputy', 'clerk']) await control(uid);
  const first = await sync();
  expect(first).toMatchObject({ state: 'done', disabled: 2, failed: 1 });
  const [kept = ''] = await enabled();
  expect(['boss', 'deputy']).toContain(kept);
  expect(await enabled()).toEqual([kept]);
  expect(first.errors).toEqual(told(kept));
  expect(await sync()).toMatchObject({ state: 'done', disabled: 0, errors: told(kept) });
  await setAdmin(true);
  expect(await sync()).toMatchObject({ state: 'done', disabled: 1, failed: 0 });
  expect(await enabled()).toEqual(['admin']);
}, 60_000);

test('who is gone from the directory stays, too, and others who are gone do not', async () => {
  for (const uid of ['boss', 'clerk']) await control(uid, USUAL);
  expect(await sync()).toMatchObject({ updated: 2 });
  await setAdmin(false);
  for (const uid of ['boss', 'clerk']) await slapd.as((client) => client.del(`uid=${uid},${PEOPLE}`));
  expect(await sync()).toMatchObject({ state: 'done', disabled: 1, failed: 1, errors: told('boss') });
  expect(await enabled()).toEqual(['boss']);
  await setAdmin(true);
  expect(await sync()).toMatchObject({ state: 'done', disabled: 1, failed: 0 });
  expect(await enabled()).toEqual(['admin']);
  await setAdmin(false);
}, 60_000);

test('the directory by which the last administrator signs in is neither disabled nor deleted', async () => {
  await server.pool.query(`update realm_user set enabled = true where realm_id = 'master' and username = 'deputy'`);
  const refused = { status: 409, problem: { type: 'urn:svc:problem:last-administrator' } };
  await expect(operator.call(putDirectory, { params, body: { enabled: false } })).rejects.toMatchObject(refused);
  await expect(operator.call(deleteDirectory, { params })).rejects.toMatchObject(refused);
  await setAdmin(true);
  expect((await operator.call(deleteDirectory, { params })).status).toBe(204);
});
