// Owns: the last user who can administer master stays, whichever way asks for the opposite.
// Does not own: syncs with a directory (last-administrator.ldap.test.ts), the first administrator (bootstrap.test.ts).
// Implements: decisions "The last administrator".
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { serverSession } from '../../../operator/session.ts';
import { type Client, createClient, ServerProblem } from '../../../server/contract/client.ts';
import { permissions } from '../../../server/contract/permissions.ts';
import { deleteUser, putUser } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { OPERATOR_SECRET } from '../../support/operator.ts';
import { createPerson } from '../../support/person.ts';
import { withOperator } from '../../support/realmctl.ts';
import { scimToken, scimWith } from '../../support/scim.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const REFUSED = 'urn:svc:problem:last-administrator';
let server: TestServer;
let admin: Importer;
let operator: Client;
let adminId = '';
let passwordId = '';

beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  admin = await importer(server);
  const { baseUrl } = server;
  const authorize = serverSession({ serverUrl: baseUrl, credential: { secret: OPERATOR_SECRET }, fetch });
  operator = createClient({ baseUrl, fetch, authorize });
  const { rows } = await server.pool.query<{ id: string; credential: string }>(
    `select u.id, c.id as credential from realm_user u join credential c on c.realm_id = u.realm_id and c.user_id = u.id
     where u.realm_id = 'master' and u.username = 'admin'`,
  );
  [adminId, passwordId] = [rows[0]?.id ?? '', rows[0]?.credential ?? ''];
});
afterAll(() => server?.stop());

const AT = '/admin/realms/master';
interface Said {
  status: number;
  type: unknown;
  body: Record<string, unknown>;
}
async function ask(method: string, path: string, body?: unknown, by: Importer = admin): Promise<Said> {
  const answer = await by.fetch(path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await answer.text();
  const said = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: answer.status, type: said.type, body: said };
}
const refused = { status: 409, type: REFUSED };
const query = async (text: string, values: unknown[] = []) => (await server.pool.query(text, values)).rows;

/** Another user of master with the administrator's password. @returns the id */
async function makeUser(username: string, { grants = [] as { role: string; realm: string }[], enabled = true } = {}) {
  const { status, body } = await ask('POST', `${AT}/users`, { username, password: ADMIN_PASSWORD, enabled });
  expect(status).toBe(201);
  const id = String(body.id);
  if (grants.length > 0) {
    const given = await ask('PUT', `${AT}/users/${id}/admin-roles`, { grants });
    expect(given.status).toBe(200);
  }
  return id;
}
const EVERYWHERE = [{ role: 'realm-admin', realm: '*' }];
const signsIn = async (username = 'admin') =>
  (
    await fetch(`${server.baseUrl}/admin/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password: ADMIN_PASSWORD }),
    })
  ).status === 204;

describe('the only administrator', () => {
  beforeEach(async () => {
    await query(`delete from admin_grant where realm_id = 'master' and user_id <> $1`, [adminId]);
  });

  test.each([
    ['deletes the user', () => ask('DELETE', `${AT}/users/${adminId}`)],
    ['disables the user', () => ask('PUT', `${AT}/users/${adminId}`, { enabled: false })],
    ['erases the user', () => ask('DELETE', `${AT}/users/${adminId}/gdpr`)],
    ['takes the admin role', () => ask('PUT', `${AT}/users/${adminId}/admin-roles`, { grants: [] })],
    [
      'leaves the admin role over master alone',
      () => ask('PUT', `${AT}/users/${adminId}/admin-roles`, { grants: [{ role: 'realm-admin', realm: 'master' }] }),
    ],
    ['deletes the last credential', () => ask('DELETE', `${AT}/users/${adminId}/credentials/password/${passwordId}`)],
    [
      'imports all or none of the users',
      () => ask('POST', `${AT}/users/import?atomic=true`, [{ username: 'admin', enabled: false }]),
    ],
    ['applies a document', () => ask('POST', `${AT}/import?manager=m`, disabling)],
    ['plans a document', () => ask('POST', `${AT}/import?manager=m&dryRun=true`, disabling)],
  ])('stays where an administrator %s', async (_, way) => {
    expect(await way()).toMatchObject(refused);
    expect(await signsIn()).toBe(true);
  });
  const disabling = { users: [{ username: 'admin', enabled: false }] };

  test('is told what to do first, in the answer’s words', async () => {
    const { body } = await ask('DELETE', `${AT}/users/${adminId}`);
    expect(body.detail).toMatch(/give it to another user first/);
  });

  test('stays where a document prunes the users of its manager', async () => {
    const declared = { users: [{ username: 'admin' }, { username: 'other' }] };
    expect((await ask('POST', `${AT}/import?manager=pruner`, declared)).status).toBe(200);
    const empty = { users: [] };
    for (const dry of ['&dryRun=true', ''])
      expect(await ask('POST', `${AT}/import?manager=pruner&prune=true${dry}`, empty)).toMatchObject(refused);
    expect(await signsIn()).toBe(true);
    await query(`update realm_user set manager = null`);
  });

  test('stays where users are imported row by row, and the other rows are taken', async () => {
    const rows = [{ username: 'row1' }, { username: 'admin', enabled: false }, { username: 'row2' }];
    const { status, body } = await ask('POST', `${AT}/users/import`, rows);
    expect([status, body]).toMatchObject([
      200,
      { created: 2, failed: 1, failures: [{ row: 1, errors: [{ message: expect.stringContaining('realm-admin') }] }] },
    ]);
    expect(await signsIn()).toBe(true);
  });

  test('stays where rows disable all administrators: one of the rows fails, and every other row is taken', async () => {
    for (const username of ['dora', 'emil']) await makeUser(username, { grants: EVERYWHERE });
    const off = ['dora', 'admin', 'emil'].map((username) => ({ username, enabled: false }));
    const { status, body } = await ask('POST', `${AT}/users/import`, [
      { username: 'row3' },
      ...off,
      { username: 'row4' },
    ]);
    const errors = [{ path: 'enabled', message: expect.stringContaining('realm-admin') }];
    expect([status, body]).toMatchObject([200, { created: 2, updated: 2, failed: 1, failures: [{ errors }] }]);
    const left = await query(
      `select u.username from realm_user u join admin_grant g on g.user_id = u.id where u.realm_id = 'master' and u.enabled`,
    );
    expect(left).toEqual([{ username: 'admin' }]);
  });

  test('is out of reach of a provisioning client, alone and in bulk', async () => {
    const scim = scimWith(server, 'master', await scimToken(server, 'master'));
    const SCHEMA = 'urn:ietf:params:scim:api:messages:2.0';
    const off = { schemas: [`${SCHEMA}:PatchOp`], Operations: [{ op: 'replace', path: 'active', value: false }] };
    const user = `/Users/${adminId}`;
    const operation = { method: 'DELETE', path: user };
    expect((await scim('DELETE', user)).status).toBe(403);
    expect((await scim('PATCH', user, off)).status).toBe(403);
    expect((await scim('PUT', user, { userName: 'admin', active: false })).status).toBe(403);
    const bulk = await scim('POST', '/Bulk', { schemas: [`${SCHEMA}:BulkRequest`], Operations: [operation] });
    expect(bulk.body.Operations).toMatchObject([{ status: '403' }]);
    expect(await signsIn()).toBe(true);
  });

  test('can’t delete their own account, by the page or the account API', async () => {
    const who = createPerson(server.baseUrl);
    const at = '/realms/master/account';
    const page = await who.open('/realms/master/login?for=account');
    const account = await who.fill(page, { username: 'admin', password: ADMIN_PASSWORD });
    const csrf = /name="csrf" value="([^"]+)"/.exec(account.text)?.[1] ?? '';
    const answer = await who.post(`${at}/erase`, { csrf, username: 'admin' });
    expect([answer.status, answer.heading]).toEqual([409, 'The last administrator of master cannot go']);
    const read = await who.once(`${at}/sessions`);
    const erased = await who.once(`${at}?username=admin`, {
      method: 'DELETE',
      headers: { 'x-xsrf-token': read.headers.get('x-xsrf-token') ?? '' },
    });
    expect([erased.status, Object(await erased.json()).type]).toEqual([409, REFUSED]);
    expect(await signsIn()).toBe(true);
  });

  test('stays beside administrators who are disabled, limited to master, or without a way to sign in', async () => {
    await makeUser('off', { grants: EVERYWHERE, enabled: false });
    await makeUser('local', { grants: [{ role: 'realm-admin', realm: 'master' }] });
    await makeUser('viewer', { grants: [{ role: 'realm-viewer', realm: '*' }] });
    const { body } = await ask('POST', `${AT}/users`, { username: 'nothing' });
    await ask('PUT', `${AT}/users/${body.id}/admin-roles`, { grants: EVERYWHERE });
    expect(await ask('PUT', `${AT}/users/${adminId}`, { enabled: false })).toMatchObject(refused);
    expect(await signsIn()).toBe(true);
  });

  test('may change everything else of the account, and other users come and go', async () => {
    const id = await makeUser('plain');
    expect((await ask('PUT', `${AT}/users/${adminId}`, { firstName: 'Ada' })).status).toBe(200);
    expect((await ask('PUT', `${AT}/users/${id}`, { enabled: false })).status).toBe(200);
    expect((await ask('DELETE', `${AT}/users/${id}`)).status).toBe(204);
  });
});

describe('a second administrator', () => {
  test('can be disabled and deleted, and lets the first go', async () => {
    const id = await makeUser('second', { grants: EVERYWHERE });
    expect((await ask('PUT', `${AT}/users/${id}`, { enabled: false })).status).toBe(200);
    expect(await ask('PUT', `${AT}/users/${adminId}`, { enabled: false })).toMatchObject(refused);
    expect((await ask('PUT', `${AT}/users/${id}`, { enabled: true })).status).toBe(200);
    const second = await importer(server, { username: 'second', password: ADMIN_PASSWORD });
    expect((await ask('PUT', `${AT}/users/${adminId}`, { enabled: false }, second)).status).toBe(200);
    expect(await ask('DELETE', `${AT}/users/${id}`, undefined, second)).toMatchObject(refused);
    expect((await ask('PUT', `${AT}/users/${adminId}`, { enabled: true }, second)).status).toBe(200);
    admin = await importer(server);
    expect((await ask('DELETE', `${AT}/users/${id}`)).status).toBe(204);
  });

  test.each(['delete', 'disable'])('two requests at once that each %s one of the two: one is refused', async (way) => {
    for (let round = 0; round < 8; round += 1) {
      const [one, two] = [
        await makeUser(`${way}-a${round}`, { grants: EVERYWHERE }),
        await makeUser(`${way}-b${round}`, { grants: EVERYWHERE }),
      ];
      await query(`update realm_user set enabled = false where id = $1`, [adminId]);
      const of = (userId: string) =>
        (way === 'delete'
          ? operator.call(deleteUser, { params: { realm: 'master', userId } })
          : operator.call(putUser, { params: { realm: 'master', userId }, body: { enabled: false } })
        ).then(
          () => 'done',
          (error: unknown) => (error instanceof ServerProblem ? error.problem?.type : String(error)),
        );
      expect([await Promise.all([of(one), of(two)])].flat().sort()).toEqual(['done', REFUSED]);
      await query(`update realm_user set enabled = true where id = $1`, [adminId]);
      await query(`delete from realm_user where realm_id = 'master' and username like $1`, [`${way}-%`]);
    }
  });
});

describe('an administrator by a role of one’s own', () => {
  test('keeps its permissions: the role can’t lose one, be limited or go, by API or document, nor by a plan taken back', async () => {
    const declared = (more: object = {}) => ({ adminRoles: [{ name: 'everything', permissions, ...more }] });
    const { body: plan } = await ask('POST', `${AT}/import?manager=roles`, declared());
    const revision = Number(plan.revision);
    const id = await makeUser('keeper', { grants: [{ role: 'everything', realm: '*' }] });
    const keeper = await importer(server, { username: 'keeper', password: ADMIN_PASSWORD });
    expect((await ask('PUT', `${AT}/users/${adminId}`, { enabled: false }, keeper)).status).toBe(200);
    const [{ id: role = '' } = {}] = await query(`select id from admin_role where name = 'everything'`);
    const less = permissions.slice(1);
    const undo = `${AT}/history/${revision}/undo`;
    const ways: [string, string, unknown?][] = [
      ['PUT', `${AT}/admin-roles/${role}`, { permissions: less }],
      ['DELETE', `${AT}/admin-roles/${role}`],
      ['POST', `${AT}/import?manager=roles`, declared({ permissions: less })],
      ['POST', `${AT}/import?manager=roles&dryRun=true`, declared({ permissions: less })],
      ['POST', `${AT}/import?manager=roles&prune=true`, { adminRoles: [] }],
      ['POST', `${AT}/import?manager=roles&prune=true&dryRun=true`, { adminRoles: [] }],
      ['POST', undo],
      ['POST', `${undo}?dryRun=true`],
      ['DELETE', `${AT}/managers/roles?objects=delete`],
      ['DELETE', `${AT}/users/${id}`],
    ];
    for (const [method, path, body] of ways)
      expect([path, await ask(method, path, body, keeper)]).toMatchObject([path, refused]);
    expect((await ask('PUT', `${AT}/users/${adminId}`, { enabled: true }, keeper)).status).toBe(200);
    admin = await importer(server);
    expect((await ask('DELETE', `${AT}/admin-roles/${role}`)).status).toBe(204);
    expect((await ask('DELETE', `${AT}/users/${id}`)).status).toBe(204);
  });
});

describe('an administrator who signs in by a provider alone', () => {
  test('keeps the provider, and the link to it', async () => {
    const alias = 'partner';
    const config = { issuer: 'https://partner.example.test' };
    const provider = { alias, type: 'oidc', clientId: 'x', secret: 'the secret there', config };
    const made = await ask('POST', `${AT}/identity-providers`, provider);
    expect(made.status).toBe(201);
    const [{ id: providerId } = {}] = await query(`select id from identity_provider where alias = $1`, [alias]);
    const link = newId();
    await query(
      `insert into identity_link (realm_id, id, user_id, provider_id, issuer, subject, subject_digest, created_at)
       values ('master', $1, $2, $3, 'https://partner.example.test', 'ada', '\\x00', now())`,
      [link, adminId, providerId],
    );
    await query(`update credential set type = 'kept' where id = $1`, [passwordId]);
    const ways: [string, string, unknown?][] = [
      ['PUT', `${AT}/identity-providers/${alias}`, { enabled: false }],
      ['DELETE', `${AT}/identity-providers/${alias}`],
      ['DELETE', `${AT}/users/${adminId}/identities/${link}`],
      [
        'POST',
        `${AT}/import?manager=p&dryRun=true&force=true`,
        { identityProviders: [{ ...provider, enabled: false }] },
      ],
    ];
    for (const [method, path, body] of ways)
      expect([path, await ask(method, path, body)]).toMatchObject([path, refused]);
    await query(`update credential set type = 'password' where id = $1`, [passwordId]);
    expect((await ask('DELETE', `${AT}/identity-providers/${alias}`)).status).toBe(204);
    // What was signed in to by the link ends with it.
    admin = await importer(server);
  });
});

describe('where no user administers master any more', () => {
  test('other users are still deleted and disabled, and an administrator without a way to sign in still stays', async () => {
    const [plain, other] = [await makeUser('afterwards'), await makeUser('afterwards2')];
    await query(`update credential set type = 'kept' where id = $1`, [passwordId]);
    const gone = (userId: string) => operator.call(deleteUser, { params: { realm: 'master', userId } });
    await expect(gone(adminId)).rejects.toMatchObject({ problem: { type: REFUSED } });
    expect((await gone(plain)).status).toBe(204);
    await query(`update admin_grant set target_realm = 'master' where user_id = $1`, [adminId]);
    expect((await gone(other)).status).toBe(204);
    await query(`update admin_grant set target_realm = '*' where user_id = $1`, [adminId]);
    await query(`update credential set type = 'password' where id = $1`, [passwordId]);
  });
});

test('of another realm the last administrator may go: administrators of master repair it', async () => {
  expect((await ask('POST', '/admin/realms', { realm: 'tenant' })).status).toBe(201);
  const at = '/admin/realms/tenant/users';
  const { body } = await ask('POST', at, { username: 'boss', password: ADMIN_PASSWORD });
  await ask('PUT', `${at}/${body.id}/admin-roles`, { grants: [{ role: 'realm-admin', realm: 'tenant' }] });
  expect((await ask('DELETE', `${at}/${body.id}`)).status).toBe(204);
});
