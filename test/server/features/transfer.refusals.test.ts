import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { unknownName } from '../../../server/contract/problem.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;

beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
  await admin.apply('acme', { users: [{ username: 'taken', email: 'taken@acme.example' }] });
  // Its rows are thrown away behind its answer.
  await vi.waitUntil(async () => (await state())[0].staged === 0, { timeout: 100_000 });
});
afterAll(() => server?.stop());

const state = async () => {
  const { rows } = await server.pool.query(
    `select (select sum(revision) from realm) revisions, (select count(*) from realm_user) users,
      (select count(*) from pg_class where relname ~ '^import_user_' and relkind = 'r') staged, (select count(*) from role) roles`,
  );
  return rows;
};

describe('one fault, and nothing changes:', () => {
  const role = { name: 'new-role' };
  const client = { clientId: 'new-client' };
  test.each<[string, object | string, string[]]>([
    ['a bad user', { roles: [role], users: [{ username: 'a' }, { username: 'b', email: 'no' }] }, ['users[1].email']],
    ['an unknown field', { roles: [{ ...role, colour: 'red' }] }, ['roles[0].colour']],
    ['an unknown section', { roles: [role], rolls: [] }, ['rolls']],
    [
      'all faults at once',
      { realm: { maxLoginFailures: 0, nope: 1 }, clients: [{ clientId: 'ä' }] },
      ['realm.maxLoginFailures', 'realm.nope', 'clients[0].clientId'],
    ],
    ['another format', { formatVersion: 3, roles: [role] }, ['formatVersion']],
    ['an object declared twice', { roles: [role, { name: 'x' }, role] }, ['roles[2]']],
    [
      'a user declared twice, in another case',
      { users: [{ username: 'Ana' }, { username: 'b' }, { username: 'ana' }] },
      ['users[2].username'],
    ],
    [
      'an address declared twice',
      {
        users: [
          { username: 'a', email: 'x@y.example' },
          { username: 'b', email: 'X@y.example' },
        ],
      },
      ['users[1].email'],
    ],
    [
      'an address that is taken',
      { roles: [role], users: [{ username: 'new', email: 'taken@acme.example' }] },
      ['users[0].email'],
    ],
    [
      'a role of a user that is not there',
      { users: [{ username: 'a' }, { username: 'b', roles: ['ghost'] }] },
      ['users[1].roles'],
    ],
    [
      'a scope that is not there',
      { clients: [{ ...client, defaultClientScopes: ['ghost'] }] },
      ['clients[0].defaultClientScopes'],
    ],
    ['a flow that is not there', { roles: [role], realm: { browserFlow: 'ghost' } }, ['realm.browserFlow']],
    ['a parent group that is not there', { groups: [{ path: '/a/b' }] }, ['groups[0].path']],
    ['a webhook without its address', { webhooks: [{ name: 'w', eventTypes: '*' }] }, ['webhooks[0].url']],
    ['a secret that is too long', { clients: [{ ...client, secret: 'x'.repeat(1025) }] }, ['clients[0].secret']],
    [
      'a public client without PKCE',
      { clients: [{ ...client, tokenEndpointAuthMethod: 'none', requirePkce: false }] },
      ['clients[0].requirePkce'],
    ],
    ['a built-in admin role', { adminRoles: [{ name: 'realm-admin', permissions: [] }] }, ['adminRoles[0].name']],
    [
      'a step that no authenticator knows',
      {
        flows: [
          {
            alias: 'f',
            executions: [
              {
                name: 'c',
                requirement: 'REQUIRED',
                executions: [{ authenticatorId: 'ghost', requirement: 'REQUIRED' }],
              },
            ],
          },
        ],
      },
      ['flows[0].executions[0].executions[0].authenticatorId'],
    ],
    [
      'a flow that can authenticate nobody',
      { flows: [{ alias: 'f', executions: [{ authenticatorId: 'otp', requirement: 'REQUIRED' }] }] },
      ['flows[0].executions[0]'],
    ],
    ['risk thresholds that cross', { realm: { riskMediumThreshold: 80 } }, ['realm.riskMediumThreshold']],
    [
      'an unusable password hash',
      { users: [{ username: 'x', credentials: [{ type: 'password', phc: '$2b$10$x' }] }] },
      ['users[0].credentials[0].phc'],
    ],
    ['a list where an object belongs', { realm: [], roles: [role] }, ['realm']],
    ['an object where a list belongs', { roles: {}, groups: [] }, ['roles']],
    ['a key given twice', '{"roles":[{"name":"new-role"}],"roles":[]}', ['roles']],
    ['a prototype as key', '{"roles":[{"name":"new-role","attributes":{"__proto__":["x"]}}]}', ['roles[0]']],
    ['a prototype in disguise', '{"users":[{"username":"u","attributes":{"\\u005f_proto__":["x"]}}]}', ['users[0]']],
    ['half a surrogate pair', '{"users":[{"username":"u","firstName":"\\ud800"}]}', ['users[0]']],
    ['NUL', '{"users":[{"username":"u","firstName":"\\u0000"}]}', ['users[0].firstName']],
    [
      'a value nested without end',
      `{"clients":[{"clientId":"c","jwks":{"keys":${'['.repeat(50_000)}${']'.repeat(50_000)}}}]}`,
      ['clients[0]'],
    ],
    ['a group’s path of too many bytes', { groups: [{ path: `/${'登'.repeat(1_000)}` }] }, ['groups[0].path']],
    [
      'more objects than a section holds',
      { roles: Array.from({ length: 50_001 }, (_, i) => ({ name: `r${i}` })) },
      ['roles'],
    ],
    [
      'more client roles than a section holds',
      {
        clientRoles: Object.fromEntries(
          Array.from({ length: 30 }, (_, i) => [`c${i}`, Array.from({ length: 2_000 }, (_, j) => ({ name: `r${j}` }))]),
        ),
      },
      ['clientRoles'],
    ],
    ['a bracket that is missing', '{"roles":[{"name":"new-role"}', ['roles']],
    ['a comma too much', '{"roles":[{"name":"new-role"},]}', ['roles']],
    ['something behind the document', '{"roles":[{"name":"new-role"}]} {}', ['']],
    ['broken JSON in a user', '{"users":[{"username":"u"},{"username":}]}', ['users[1]']],
    ['no document at all', '[]', ['']],
    ['an empty body', ' ', ['']],
  ])('%s', async (_, document, paths) => {
    const before = await state();
    const refusal = await admin.refusal('acme', document);
    expect(refusal.status).toBe(400);
    expect(refusal.errors?.map((e) => e.path)).toEqual(paths);
    expect(await state()).toEqual(before);
  });

  test('what names something that isn’t there says so to programs, too', async () => {
    const { errors } = await admin.refusal('acme', { clients: [{ ...client, flowOverride: 'short' }] });
    expect(errors).toEqual([unknownName('clients[0].flowOverride', 'flow', 'short')]);
  });

  test('of any number of faults in one value the first hundred are told, and how many more there are', async () => {
    const realm = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`field${i}`, 1]));
    const { status, detail, errors } = await admin.refusal('acme', { realm });
    expect([status, errors?.length, errors?.[0]?.path]).toEqual([400, 100, 'realm.field0']);
    expect(detail).toContain('199999 more');
  });

  test('doubles name both places', async () => {
    const { errors } = await admin.refusal('acme', { users: [{ username: 'x' }, { username: 'X' }] });
    expect(errors?.[0]?.message).toContain('users[0]');
  });

  test('two workload identities that trust the same subject', async () => {
    const identity = { issuer: 'https://i.example', subject: 's', audience: 'a', clientId: 'ci' };
    const before = await state();
    const refusal = await admin.refusal('acme', {
      clients: [{ clientId: 'ci' }],
      workloadIdentity: [
        { name: 'one', ...identity },
        { name: 'two', ...identity },
      ],
    });
    expect(refusal).toMatchObject({ status: 409, type: 'urn:svc:problem:name-taken' });
    expect(await state()).toEqual(before);
  });
});

test('bytes that aren’t UTF-8 are refused, not repaired', async () => {
  const body = Buffer.concat([Buffer.from('{"users":[{"username":"a'), Buffer.from([0xc3, 0x28]), Buffer.from('"}]}')]);
  const headers = { 'content-type': 'application/json' };
  const response = await admin.fetch('/admin/realms/acme/import', { method: 'POST', headers, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ errors: [{ path: 'users[0]', message: 'is not UTF-8' }] });
});

test('what isn’t JSON by its name is 415', async () => {
  const response = await admin.fetch('/admin/realms/acme/import', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{}',
  });
  expect(response.status).toBe(415);
});

test('sections beside users are bounded: 413', async () => {
  const attributes = { x: Array.from({ length: 100 }, () => 'x'.repeat(4000)) };
  const roles = Array.from({ length: 90 }, (_, i) => ({ name: `r${i}`, attributes }));
  expect(await admin.refusal('acme', { roles })).toMatchObject({ status: 413 });
  const user = {
    username: 'big',
    attributes: Object.fromEntries(roles.slice(0, 4).map((r) => [r.name, attributes.x])),
  };
  expect(await admin.refusal('acme', { users: [user] })).toMatchObject({ status: 413 });
});

test('a client that goes away in the middle leaves nothing behind', async () => {
  const before = await state();
  const head = '{"users":[{"username":"half-1"},{"username":"half-2"},';
  const outgoing = await admin.raw('/admin/realms/acme/import');
  await new Promise<void>((resolve) => {
    const call = request(outgoing.url, {
      method: 'POST',
      headers: { ...outgoing.headers, 'transfer-encoding': 'chunked' },
    });
    call.on('error', () => {});
    call.on('close', () => resolve());
    call.write(head, () => setTimeout(() => call.destroy(), 100));
  });
  await expect.poll(state).toEqual(before);
  expect((await admin.apply('acme', { users: [{ username: 'half-1' }] })).summary.create).toBe(1);
});

test('a dry run of a realm that does not exist plans all of it and makes nothing', async () => {
  const plan = await admin.apply('dreamt', { roles: [{ name: 'r' }], users: [{ username: 'u' }] }, { dryRun: 'true' });
  expect(plan.revision).toBe(0);
  expect(plan.changes.map((c) => `${c.action} ${c.kind} ${c.key}`)).toEqual([
    'create realm dreamt',
    'create role r',
    'create user u',
  ]);
  expect((await admin.fetch('/admin/realms/dreamt')).status).toBe(404);
});
