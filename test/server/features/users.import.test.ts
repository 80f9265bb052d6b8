// Owns: people in bulk by POST /users/import: rows as JSON, what is told of each, all or none.
// Does not own: users of a realm document (transfer.users.test.ts).
// Implements: decisions "Import, export, plan"; specification 4.2.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { importUsers } from '../../../server/contract/user-import.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { importer } from '../../support/transfer.ts';

let server: TestServer;
let realm = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `bulk${made}`;
  await server.admin.call(createRealm, { body: { realm } });
});

const send = (rows: object[], query: object = {}) =>
  server.admin.call(importUsers, { params: { realm }, body: rows as never, query });
const names = async () =>
  ((await server.admin.call(listUsers, { params: { realm } })).body ?? []).map(({ username }) => username);
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ username: `user-${i}` }));

test('good rows are written, bad ones told with their place, and the same again changes nothing', async () => {
  const rows = [
    { username: 'ada', email: 'ada@example.test', password: 'three wet umbrellas' },
    { username: 'bea', email: 'no address' },
    { username: 'cy', roles: ['nope'] },
    { username: 'dan', email: 'ADA@example.test' },
    { username: 'eve', password: 'short' },
    { username: 'fay', attributes: { team: ['red'] } },
  ];
  const { body } = await send(rows);
  expect(body).toMatchObject({ created: 2, updated: 0, unchanged: 0, failed: 4 });
  expect(body?.failures.map(({ row, errors }) => [row, errors[0]?.path]).sort()).toEqual([
    [1, 'email'],
    [2, 'roles'],
    [3, 'email'],
    [4, 'password'],
  ]);
  expect(body?.rows).toEqual([
    { row: 0, username: 'ada', action: 'created' },
    { row: 5, username: 'fay', action: 'created' },
  ]);
  expect(await names()).toEqual(['ada', 'fay']);
  const again = await send([{ username: 'ADA', firstName: 'Ada' }, { username: 'fay' }, { username: 'gil' }]);
  expect(again.body).toMatchObject({ created: 1, updated: 1, unchanged: 1, failed: 0 });
  expect(again.body?.rows.map(({ row, action }) => [row, action])).toEqual([
    [0, 'updated'],
    [1, 'unchanged'],
    [2, 'created'],
  ]);
  const ada = createPerson(server.baseUrl);
  const page = await ada.open(`/realms/${realm}/login`);
  expect((await ada.fill(page, { username: 'ada', password: 'three wet umbrellas' })).url).toContain('/account');
});

test('all or none: one bad row, and nobody is there', async () => {
  await expect(send([...many(3), { username: 'x', email: 'no' }], { atomic: 'true' })).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ path: 'users[3].email' }] },
  });
  expect(await names()).toEqual([]);
  expect((await send(many(3), { atomic: 'true' })).body).toMatchObject({ created: 3, failed: 0 });
  const { body } = await send([{ username: 'user-0' }, { username: 'last' }], { atomic: 'true' });
  expect(body?.rows).toEqual([
    { row: 0, username: 'user-0', action: 'unchanged' },
    { row: 1, username: 'last', action: 'created' },
  ]);
});

test('more rows than fit one piece are all written', async () => {
  const rows = many(2500);
  rows[1700] = { username: '' };
  const { body } = await server.admin.call(importUsers, { params: { realm }, body: rows as never });
  expect(body).toMatchObject({ created: 2499, failed: 1, failures: [{ row: 1700 }] });
  expect(body?.rows.map(({ row }) => row)).toEqual(rows.map((_, i) => i).filter((i) => i !== 1700));
});

test('who may not write users imports nobody', async () => {
  const reader = await administrator(server, { target: realm, permissions: ['users:read'] });
  const call = reader.call(importUsers, { params: { realm }, body: [{ username: 'x' }] });
  await expect(call).rejects.toMatchObject({ status: 403 });
  expect(await names()).toEqual([]);
});

test('lines of JSON are told one by one too, as they were counted', async () => {
  const lines = ['{"username":"ann"}', '', '{"username":', '{"username":"ben","email":"ben@example.test"}'].join('\n');
  const admin = await importer(server);
  const answer = await admin.fetch(`/admin/realms/${realm}/users/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines,
  });
  expect(await answer.json()).toMatchObject({
    created: 2,
    rows: [
      { row: 0, username: 'ann' },
      { row: 2, username: 'ben' },
    ],
    failures: [{ row: 1, errors: [{ message: 'is not valid JSON' }] }],
  });
});
