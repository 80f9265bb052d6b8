// Owns: bodies that come slowly, through the whole server over TCP: imports by an administrator, and what strangers send.
// Does not own: the timer by itself (body-time.test.ts), bodies of minutes (slow-bodies.long.test.ts).
// Implements: specification 4.2; decisions "Import, export, plan".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listRealms } from '../../../server/contract/realms.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { sendSlowly } from '../../support/slow-body.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const BODY_MS = 500;
const PACE = { pieces: 20, everyMs: (4 * BODY_MS) / 20 };
let server: TestServer;
let admin: Importer;
beforeAll(async () => {
  server = await startTestServer({ bodyMs: BODY_MS });
  admin = await importer(server);
  // Made once it is asked for, which takes longer than these bodies may.
  await server.admin.call(listRealms, {});
});
afterAll(() => server?.stop());

const NAMES = Array.from({ length: 3000 }, (_, i) => `user-${i}`);
const rows = NAMES.map((username) => ({ username }));
const imports: [what: string, path: string, type: string, body: string][] = [
  ['a realm document', 'import', 'application/json', JSON.stringify({ users: rows })],
  [
    'a realm document of roles',
    'import',
    'application/json',
    JSON.stringify({ roles: [{ name: 'clerk' }], users: rows }),
  ],
  [
    'an export of Keycloak',
    'import/keycloak',
    'application/json',
    JSON.stringify({ realm: 'any', users: NAMES.map((username) => ({ username, enabled: true })) }),
  ],
  ['rows of users', 'users/import', 'application/json', JSON.stringify(rows)],
  ['lines of users', 'users/import', 'application/x-ndjson', rows.map((row) => JSON.stringify(row)).join('\n')],
  ['rows of users, all or none', 'users/import?atomic=true', 'application/json', JSON.stringify(rows)],
];

describe.each(imports)('%s', (what, path, type, body) => {
  const realm = what.replaceAll(/[ ,]+/g, '-').toLowerCase();
  const request = () => {
    const { url, headers } = admin.raw(`/admin/realms/${realm}/${path}`);
    return { url, headers: { ...headers, 'content-type': type }, body, ...PACE };
  };
  const users = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
  const staged = async () =>
    (await server.pool.query(`select from pg_class where relname ~ '^import_user_' and relkind = 'r'`)).rowCount;
  beforeAll(() => admin.apply(realm, {}));

  test('that stalls is a 408, and has changed nothing', async () => {
    const { status } = await sendSlowly({ ...request(), stallsAfter: 15 });
    expect(status).toBe(408);
    await expect.poll(staged).toBe(0);
    expect(await users()).toEqual([]);
  });

  test('that takes long to arrive is imported whole', async () => {
    const { status, text } = await sendSlowly(request());
    expect(status, text.slice(0, 500)).toBe(200);
    const { rows: found } = await server.pool.query('select count(*)::int as n from realm_user where realm_id = $1', [
      realm,
    ]);
    expect(found).toEqual([{ n: NAMES.length }]);
  });
});

describe('whoever isn’t signed in', () => {
  const sent = (path: string, body: string, type = 'application/json') =>
    sendSlowly({ url: server.baseUrl + path, headers: { 'content-type': type }, body, ...PACE });

  test.each([
    ['at the token endpoint', '/realms/master/protocol/openid-connect/token', 'application/x-www-form-urlencoded'],
    ['at the administrators’ sign-in', '/admin/login', 'application/json'],
    ['where nothing is', '/nowhere', 'application/json'],
  ])('is cut off %s, however steadily the body comes', async (_, path, type) => {
    const { status } = await sent(path, 'a'.repeat(2000), type);
    expect(status).toBe(408);
  });

  test('gets no longer for an import, and imports nothing', async () => {
    const { status } = await sent('/admin/realms/master/users/import', JSON.stringify(rows));
    expect([401, 403, 408]).toContain(status);
    expect(await server.admin.call(listUsers, { params: { realm: 'master' } })).toMatchObject({
      body: [{ username: 'admin' }],
    });
  });
});
