// Owns: rows of POST /users/import that the realm can't take, whatever the reason: each is told, and the others are written.
// Does not own: the usual ways of an import (users.import.test.ts), erasures while it runs (users.import.erasure.test.ts).
// Implements: decisions "Import, export, plan" (a bad row does not lose the good ones).
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { importUsers } from '../../../server/contract/user-import.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;
let realm = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer();
  admin = await importer(server);
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `refused${made}`;
  await server.admin.call(createRealm, { body: { realm } });
});

const by = async (client: TestServer['admin'], rows: object[]) => {
  const { body } = await client.call(importUsers, { params: { realm }, body: rows as never });
  return {
    told: body?.failures.map(({ row, errors }) => [row, errors[0]?.path, errors[0]?.message]),
    taken: body?.rows.map(({ row, action }) => [row, action]),
    counts: [body?.created, body?.updated, body?.unchanged, body?.failed],
  };
};
const send = (rows: object[]) => by(server.admin, rows);
const people = async () =>
  (await server.pool.query('select username, email from realm_user where realm_id = $1 order by 1', [realm])).rows.map(
    ({ username, email }) => (email ? `${username} ${email}` : username),
  );

test('of two rows with one username or address the first is taken', async () => {
  const { told } = await send([
    { username: 'ada', email: 'ada@example.test' },
    { username: 'ADA' },
    { username: 'bob', email: 'ADA@example.test' },
    { username: 'cy' },
  ]);
  expect(told).toEqual([
    [1, 'username', 'declares ADA again: row 0 does already'],
    [2, 'email', 'declares ADA@example.test again: row 0 does already'],
  ]);
  expect(await people()).toEqual(['ada ada@example.test', 'cy']);
});

test('a name that reads like another’s, or that is another’s address, is refused', async () => {
  await send([{ username: 'fiona', email: 'f@example.test' }, { username: 'x@example.test' }]);
  const { told } = await send([
    { username: 'ﬁona' },
    { username: 'F@example.test' },
    { username: 'gil', email: 'X@example.test' },
    { username: 'new@example.test' },
    { username: 'hal', email: 'new@example.test' },
    { username: 'ian', email: 'ian@example.test' },
  ]);
  const message = 'is the address or the username of another user';
  expect(told).toEqual([
    [0, 'username', message],
    [1, 'username', message],
    [2, 'email', message],
    [4, 'email', message],
  ]);
  expect(await people()).toEqual([
    'fiona f@example.test',
    'ian ian@example.test',
    'new@example.test',
    'x@example.test',
  ]);
});

test('an address that another user keeps is refused, one that goes from one to another isn’t', async () => {
  await send(['a', 'b', 'c', 'd'].map((username) => ({ username, email: `${username}@example.test` })));
  const { told, counts } = await send([
    { username: 'a', email: 'b@example.test' },
    { username: 'b', email: 'a@example.test' },
    // d keeps theirs, so c does, and so nobody else gets c's
    { username: 'e', email: 'c@example.test' },
    { username: 'c', email: 'd@example.test' },
  ]);
  expect(told).toEqual([
    [2, 'email', "is c's already"],
    [3, 'email', "is d's already"],
  ]);
  expect(counts).toEqual([0, 2, 0, 2]);
  expect(await people()).toEqual(['a b@example.test', 'b a@example.test', 'c c@example.test', 'd d@example.test']);
});

test('the id of another user is refused', async () => {
  const [id, other] = ['01999999-0000-7000-8000-000000000001', '01999999-0000-7000-8000-000000000002'];
  await send([{ username: 'ada', id }]);
  const { told } = await send([
    { username: 'bob', id },
    { username: 'cy', id: other },
    { username: 'dan', id: other },
    { username: 'ada', id: other, firstName: 'Ada' },
  ]);
  expect(told).toEqual([
    [0, 'id', 'is the id of another user'],
    [2, 'id', 'is the id of another user'],
  ]);
  expect(await people()).toEqual(['ada', 'cy']);
});

test('what applications know another user by is refused', async () => {
  await admin.apply(realm, {
    realm: { subjectStrategy: 'attribute', subjectAttribute: 'number' },
    clients: [{ clientId: 'shop' }],
  });
  await send([{ username: 'ada', attributes: { number: ['1'] } }]);
  const { told } = await send([
    { username: 'bob', attributes: { number: ['1'] } },
    { username: 'cy', attributes: { number: ['2'] } },
    { username: 'dan', attributes: { number: ['2'] } },
    { username: 'eve', attributes: { number: ['shop'] } },
    { username: 'ada', attributes: { number: ['3'] } },
  ]);
  expect(told?.map(([row, path]) => [row, path])).toEqual([
    [0, 'attributes.number'],
    [2, 'attributes.number'],
    [3, 'attributes.number'],
  ]);
  expect(await people()).toEqual(['ada', 'cy']);
});

test('a role, a group, a client’s role and a provider that aren’t there are told by their names', async () => {
  await admin.apply(realm, { roles: [{ name: 'clerk' }], groups: [{ path: '/all' }] });
  const { told } = await send([
    { username: 'a', roles: ['clerk', 'king'] },
    { username: 'b', groups: ['/none'] },
    { username: 'c', clientRoles: { shop: ['buyer'] } },
    { username: 'd', identities: [{ identityProvider: 'none', issuer: 'https://i.example', subject: '1' }] },
    { username: 'e', roles: ['clerk'], groups: ['/all'] },
  ]);
  expect(told).toEqual([
    [0, 'roles', 'there is no role king'],
    [1, 'groups', 'there is no group /none'],
    [2, 'clientRoles', 'there is no clientRole shop/buyer'],
    [3, 'identities', 'there is no identityProvider none'],
  ]);
  expect(await people()).toEqual(['e']);
});

test('whom another manager manages is left to it', async () => {
  await admin.apply(realm, { users: [{ username: 'ada', firstName: 'Ada' }] }, { manager: 'pipeline' });
  const { told, counts } = await send([{ username: 'ada', firstName: 'Other' }, { username: 'bob' }]);
  expect(told).toEqual([[0, '', 'user ada is managed by pipeline']]);
  expect(counts).toEqual([1, 0, 0, 1]);
});

test('who holds more than the importer isn’t changed, and others are', async () => {
  realm = 'master';
  const helper = await administrator(server, { target: 'master', permissions: ['users:read', 'users:write'] });
  const { told, taken } = await by(helper, [{ username: 'admin', firstName: 'Mine' }, { username: `new${made}` }]);
  expect(told).toEqual([[0, '', expect.stringMatching(/^The user admin, by the admin role .* carries more than/)]]);
  expect(taken).toEqual([[1, 'created']]);
});

test('who doesn’t fit the realm’s user profile is told in what', async () => {
  await admin.apply(realm, {
    userProfile: { attributes: [{ name: 'team', validation: { maxLength: 3 } }] },
  });
  const many = Array.from({ length: 4500 }, (_, i) => ({
    username: `user-${i}`,
    attributes: { team: [i % 1500 === 0 ? 'much too long' : 'red'] },
  }));
  const { told, counts } = await send(many);
  expect(told?.map(([row, path]) => [row, path])).toEqual([0, 1500, 3000].map((row) => [row, 'attributes.team']));
  expect(counts).toEqual([4497, 0, 0, 3]);
});

test('text that isn’t a user, and what can’t be stored, is told of its row alone', async () => {
  const answer = await admin.fetch(`/admin/realms/${realm}/users/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: [
      '{"username":"a","__proto__":{}}',
      '[]',
      '{"username":"b","attributes":{"x":["\\ud800"]}}',
      '{"username":"c","firstName":"\\u0000"}',
      '{"username":"d","credentials":[{"type":"password","phc":"plain"}]}',
      '{"username":"e","createdAt":1e300}',
      '{"username":"f","olderThanProfile":["email"]}',
      '{"username":"g"}',
    ].join('\n'),
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    created: 1,
    failed: 7,
    rows: [{ row: 7, username: 'g' }],
    failures: [
      { row: 0 },
      { row: 1 },
      { row: 2 },
      { row: 3, errors: [{ path: 'firstName' }] },
      { row: 4, errors: [{ path: 'credentials[0].phc' }] },
      { row: 5, errors: [{ path: 'createdAt' }] },
      { row: 6, errors: [{ path: 'olderThanProfile' }] },
    ],
  });
});

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const spoiled: [what: string, row: string | Buffer, path: string, message: string][] = [
  ['a NUL in a field’s name', '{"username":"x","\\u0000":1}', '\uFFFD', 'is not a known field'],
  [
    'a NUL in an attribute’s name',
    '{"username":"x","attributes":{"\\u0000":["1"]}}',
    'attributes.\uFFFD',
    'has a key that must not',
  ],
  ['more than a megabyte', `{"username":"x","firstName":"${'x'.repeat(1024 * 1024)}"}`, '', 'is larger than'],
  ['a very long name of a field', `{"username":"x","${'x'.repeat(500_000)}":1}`, `${'x'.repeat(1000)}…`, 'not a known'],
  ['a hundred thousand levels', deep(100_000), '', 'is nested deeper than 100 levels'],
  ['levels with half a pair', `{"username":"x","attributes":${deep(9000)},"firstName":"\\ud800"}`, '', 'nested deeper'],
  ['bytes that are no UTF-8', Buffer.from('{"username":"Zürich"}', 'latin1'), '', 'is not UTF-8'],
];

test.each(spoiled)('a row with %s is told by itself, in a list and in lines', async (_, row, path, message) => {
  const rows = ['{"username":"before"}', row, '{"username":"behind"}'].map((one) => Buffer.from(one as string));
  const joined = (by: string) => Buffer.concat(rows.flatMap((one, i) => (i === 0 ? [one] : [Buffer.from(by), one])));
  const list = Buffer.concat([Buffer.from('['), joined(','), Buffer.from(']')]);
  for (const [type, body] of [
    ['application/json', list],
    ['application/x-ndjson', joined('\n')],
  ] as const) {
    const ask = (query: string) =>
      admin.fetch(`/admin/realms/${realm}/users/import${query}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
    const whole = await ask('?atomic=true');
    expect([whole.status, await whole.text()]).toEqual([400, expect.stringContaining('"users[1]')]);
    expect(await (await ask('')).json()).toMatchObject({
      failed: 1,
      rows: [
        { row: 0, username: 'before' },
        { row: 2, username: 'behind' },
      ],
      failures: [{ row: 1, errors: [{ path, message: expect.stringContaining(message) }] }],
    });
  }
  expect(await people()).toEqual(['before', 'behind']);
});

test('a mark of the byte order before all rows is none of theirs', async () => {
  for (const [type, body] of [
    ['application/json', '\uFEFF[{"username":"a"}]'],
    ['application/x-ndjson', '\uFEFF{"username":"b"}\n'],
  ] as const)
    await admin.fetch(`/admin/realms/${realm}/users/import`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
  expect(await people()).toEqual(['a', 'b']);
});

test('a row that names what isn’t there keeps no name from another', async () => {
  const { told, taken } = await send([
    { username: 'ada', email: 'ada@example.test', roles: ['nope'] },
    { username: 'ada' },
    { username: 'bob', email: 'ada@example.test' },
  ]);
  expect(told).toEqual([[0, 'roles', 'there is no role nope']]);
  expect(taken).toEqual([
    [1, 'created'],
    [2, 'created'],
  ]);
});

test('many bad rows among many good ones are counted all, and the first thousand told', async () => {
  const rows = Array.from({ length: 6000 }, (_, i) => ({
    username: `user-${i}`,
    ...(i % 3 === 0 && { roles: ['nope'] }),
  }));
  const { told, counts, taken } = await send(rows);
  expect(counts).toEqual([4000, 0, 0, 2000]);
  expect(told).toHaveLength(1000);
  expect(told?.at(-1)?.[0]).toBe(2997);
  expect(taken).toHaveLength(4000);
});

test('one event tells of an import, however many rows it has', async () => {
  await send(Array.from({ length: 2500 }, (_, i) => ({ username: `user-${i}` })));
  const { rows } = await server.pool.query(`select data from event where realm_id = $1 and type = 'USERS_IMPORTED'`, [
    realm,
  ]);
  expect(rows).toEqual([{ data: expect.objectContaining({ manager: 'import', create: 2500 }) }]);
});
