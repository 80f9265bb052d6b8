// Owns: a realm's statistics: what counts, by whom it is read, that the counts of two servers add up and a stop loses none.
// Does not own: how much a statement reads in a large realm (growth.long.test.ts), the console's charts (test/console).
// Implements: decisions "Statistics".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createAdminRole } from '../../../server/contract/admin-roles.ts';
import type { Client } from '../../../server/contract/client.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { deleteRealm } from '../../../server/contract/realms.ts';
import { getClientStatistics, getCounts, getStatistics } from '../../../server/contract/statistics.ts';
import { createUser, setPassword } from '../../../server/contract/users.ts';
import { createWebhook, testWebhook } from '../../../server/contract/webhooks.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { createBus } from '../../../server/events/bus.ts';
import { createCounting } from '../../../server/features/operations/statistics/counting.ts';
import { sweep } from '../../../server/jobs/janitor.ts';
import { getCode, makePeopledRealm, PASSWORD, redeem } from '../../support/applications.ts';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { asOperator, realmctl, withOperator } from '../../support/realmctl.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startReplica, startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'acme';
const DAY_MS = 86_400_000;
let server: TestServer;
let receiver: Receiver;
const by = new Map<string, Client>();
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    env: { ...withOperator, SVC_OUTBOUND_CA_FILE: receiver.caFile },
    retryDelaysSeconds: [0.1],
  });
  await makePeopledRealm(server, REALM);
  await makeRealm(server, 'umbrella');
  for (const clientId of ['robot', 'other-robot'])
    await makeClient(server, REALM, { clientId, secret: SECRET, grantTypes: ['client_credentials'] });
  await administrator('auditor', ['events:read']);
  await administrator('desk', ['users:read']);
  await administrator('caretaker', ['settings:read']);
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});

async function administrator(username: string, permissions: Permission[]): Promise<void> {
  const params = { realm: REALM };
  const { body } = await server.admin.call(createUser, { params, body: { username } });
  const at = { realm: REALM, userId: body?.id ?? '' };
  await server.admin.call(setPassword, { params: at, body: { password: PASSWORD, temporary: false } });
  await server.admin.call(createAdminRole, { params, body: { name: username, permissions } });
  await server.admin.call(putUserAdminRoles, { params: at, body: { grants: [{ role: username, realm: REALM }] } });
  by.set(username, await server.signIn({ realm: REALM, username, password: PASSWORD }));
}
const as = (username: string): Client => by.get(username) ?? server.admin;

async function statistics(query: Record<string, unknown> = {}, caller: Client = server.admin, realm = REALM) {
  const { body } = await caller.call(getStatistics, { params: { realm }, query });
  if (!body) throw new Error('no statistics');
  return body;
}
async function clients(query: Record<string, unknown> = {}) {
  const { body } = await server.admin.call(getClientStatistics, { params: { realm: REALM }, query });
  if (!body) throw new Error('no statistics of clients');
  return body;
}
const ofEvents = [
  (caller: Client, realm: string) => caller.call(getStatistics, { params: { realm } }),
  (caller: Client, realm: string) => caller.call(getClientStatistics, { params: { realm } }),
];
const requests = [...ofEvents, (caller: Client, realm: string) => caller.call(getCounts, { params: { realm } })];
const token = (at: TestServer, clientId: string) =>
  post(at, REALM, 'token', { grant_type: 'client_credentials' }, { authorization: basic(clientId) });
const keyed = ({ by: series }: { by: { key: string | null; total: number }[] }) =>
  Object.fromEntries(series.map(({ key, total }) => [String(key), total]));
const inserted = (rows: [step: string, kind: string, at: number, key: string, count: number][], realm = REALM) =>
  server.pool.query(
    `insert into statistic (realm_id, step, kind, at, key, count)
     select $1, r ->> 0, r ->> 1, to_timestamp((r ->> 2)::float8 / 1000), r ->> 3, (r ->> 4)::bigint
     from jsonb_array_elements($2::jsonb) r`,
    [realm, JSON.stringify(rows)],
  );

test('the counts of two servers add up, and one that stops loses none', async () => {
  const replica = await startReplica(server);
  const other = { ...server, ...replica };
  const before = await statistics();
  expect(before).toMatchObject({ step: 'hour', tokens: { total: 0 }, signIns: { total: 0, previous: null } });
  expect(before.times).toHaveLength(24);
  for (const at of [server, other, other]) expect((await token(at, 'robot')).status).toBe(200);
  await token(other, 'other-robot');
  await redeem(other, REALM, 'spa', await getCode(other, REALM, 'spa', { person: createPerson(other.baseUrl) }));
  const person = createPerson(other.baseUrl);
  const page = await person.open(`/realms/${REALM}/login?for=account`);
  await person.fill(page, { username: 'alice', password: 'not the one' });
  await person.fill(page, { username: 'nobody at all', password: 'not the one' });
  // this one runs no jobs, so nothing of it was written yet
  await replica.app.stop();
  const written = await statistics();
  expect(written.signIns).toMatchObject({ total: 1 });
  expect(keyed(written.failures)).toEqual({ wrong: 1, unknown: 1 });
  expect(written.failures.total).toBe(2);
  await expect.poll(async () => (await statistics()).tokens.total, { timeout: 15_000 }).toBe(5);
  const all = await statistics();
  expect(all.tokens.values).toHaveLength(24);
  expect(all.tokens.values.reduce((sum, count) => sum + count, 0)).toBe(5);
  expect((await statistics({ step: 'day' })).tokens.total).toBe(5);
  expect((await clients()).clients.map(({ clientId, total }) => [clientId, total])).toEqual([
    ['robot', 3],
    ['other-robot', 1],
    ['spa', 1],
  ]);
  expect(await clients({ limit: 1 })).toMatchObject({ total: 5, clients: [{ clientId: 'robot' }], others: 2 });
  expect((await statistics({}, server.admin, 'umbrella')).tokens.total).toBe(0);
});

test('tries of deliveries count by their outcome', async () => {
  const body = { name: 'audit', url: receiver.url, eventTypes: 'ROLE_CREATED', enabled: true, secret: SECRET };
  const hook = await server.admin.call(createWebhook, { params: { realm: REALM }, body });
  const params = { realm: REALM, id: hook.body?.id ?? '' };
  const counted = async () => keyed((await statistics()).deliveries);
  await server.admin.call(testWebhook, { params });
  await expect.poll(counted, { timeout: 20_000 }).toEqual({ succeeded: 1 });
  receiver.answer = () => ({ status: 500 });
  await server.admin.call(testWebhook, { params });
  await expect.poll(counted, { timeout: 20_000 }).toEqual({ succeeded: 1, retrying: 1, dead: 1 });
});

test('a period has the total of the period before, where it was counted and is kept', async () => {
  const realm = 'umbrella';
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const rows = Array.from({ length: 70 }, (_, i): [string, string, number, string, number] => [
    'day',
    'sign-in',
    today - i * DAY_MS,
    '',
    i < 30 ? 2 : 1,
  ]);
  await inserted(rows, realm);
  const month = await statistics({ step: 'day' }, server.admin, realm);
  expect(month.signIns).toMatchObject({ total: 60, previous: 30 });
  expect(month.signIns.values).toEqual(Array.from({ length: 30 }, () => 2));
  expect(month.countedSince).toBe(today - 69 * DAY_MS);
  const longer = await statistics({ step: 'day', from: today - 59 * DAY_MS }, server.admin, realm);
  expect(longer.signIns).toMatchObject({ total: 90, previous: null });
  const hours = await statistics({ from: today - 20 * DAY_MS }, server.admin, realm);
  expect(hours.signIns.previous).toBeNull();
});

test('a period is read from whole days and the hours at its ends, and only the most frequent keys are named', async () => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const yesterday = today - DAY_MS;
  await inserted([
    ['day', 'client', yesterday - DAY_MS, 'robot', 700],
    ['hour', 'client', yesterday - 3_600_000, 'robot', 20],
    ['day', 'client', yesterday, 'robot', 40],
    ...Array.from({ length: 30 }, (_, i): [string, string, number, string, number] => [
      'day',
      'failure',
      yesterday,
      `reason-${i}`,
      100 - i,
    ]),
    ['day', 'failure', yesterday, '', 5],
  ]);
  const found = await clients({ from: yesterday - 2 * 3_600_000, to: today });
  expect(found).toMatchObject({ total: 60, clients: [{ clientId: 'robot', total: 60 }], others: 0 });
  const { failures } = await statistics({ step: 'day', from: yesterday, to: today });
  expect(failures.by).toHaveLength(21);
  expect(failures.by[0]).toMatchObject({ key: 'reason-0', total: 100 });
  expect(failures.by.at(-1)).toMatchObject({ key: null, total: 760 });
  expect(failures.total).toBe(failures.by.reduce((sum, { total }) => sum + total, 0));
});

test('a period that is too long or ends before it begins is refused at the field', async () => {
  const at = Date.now();
  const refused = { status: 400, problem: { errors: [{ path: 'from' }] } };
  for (const query of [
    { from: at - 32 * DAY_MS },
    { step: 'day', from: at - 401 * DAY_MS },
    { from: at, to: at - DAY_MS },
  ])
    await expect(statistics(query), JSON.stringify(query)).rejects.toMatchObject(refused);
  for (const query of [{ step: 'week' }, { from: 'yesterday' }])
    await expect(statistics(query), JSON.stringify(query)).rejects.toMatchObject({ status: 400 });
});

test('statistics need events:read, counts the permission of each thing; another realm is as none', async () => {
  const params = { realm: REALM };
  const forbidden = { status: 403 };
  expect((await statistics({}, as('auditor'))).step).toBe('hour');
  for (const ask of ofEvents) await expect(ask(as('desk'), REALM)).rejects.toMatchObject(forbidden);
  const { body: all = [] } = await server.admin.call(getCounts, { params });
  expect(Object.fromEntries(all.map(({ thing, count }) => [thing, count]))).toMatchObject({ users: 4, webhooks: 1 });
  expect((await as('desk').call(getCounts, { params })).body).toEqual([{ thing: 'users', count: 4, estimated: false }]);
  await expect(as('caretaker').call(getCounts, { params })).rejects.toMatchObject(forbidden);
  for (const realm of ['umbrella', 'nowhere'])
    for (const ask of requests) await expect(ask(as('auditor'), realm)).rejects.toMatchObject(forbidden);
  for (const ask of requests) await expect(ask(server.admin, 'nowhere')).rejects.toMatchObject({ status: 404 });
});

test('a server names so many clients of a day and no more, and keeps no text of a user’s', async () => {
  const realm = 'counted';
  await makeRealm(server, realm);
  const bus = createBus({ failed: (error) => expect(error).toBeUndefined() });
  const log = { warn: (fields: object) => expect(fields).toBeUndefined() };
  const counting = createCounting({ sql: sqlOver(server.pool), bus, log, now: () => new Date() });
  const author = { actor: null, ipAddress: null };
  const hostile = ['Ann’s password: 123', '\u0000', 'x'.repeat(600), 7, null, undefined];
  for (let round = 0; round < 2; round += 1)
    bus.emit([
      ...Array.from({ length: 250 }, (_, i) => ({
        type: 'TOKEN_ISSUED' as const,
        realm,
        by: author,
        clientId: `client-${i}`,
      })),
      { type: 'TOKEN_ISSUED', realm, by: author, clientId: 'a\u0000b' },
      ...hostile.map((reason) => ({
        type: 'LOGIN_FAILURE' as const,
        realm,
        by: author,
        data: { reason, risk: { band: reason } },
      })),
      { type: 'TOKEN_ISSUED', realm: 'not-there', by: author, clientId: 'client' },
    ]);
  await counting.stop();
  const { rows } = await server.pool.query(
    `select kind, count(*)::int as keys, sum(count)::int as n, sum(count) filter (where key = '')::int as others
     from statistic where realm_id = $1 and step = 'day' group by 1 order by 1`,
    [realm],
  );
  expect(rows).toEqual([
    { kind: 'client', keys: 201, n: 502, others: 102 },
    { kind: 'failure', keys: 1, n: 12, others: 12 },
    { kind: 'risk', keys: 1, n: 12, others: 12 },
    { kind: 'token', keys: 1, n: 502, others: 502 },
  ]);
});

test('beyond 2,000 the number of users is the database’s estimate', async () => {
  await server.pool.query(
    `insert into realm_user (realm_id, id, username, created_at)
     select 'umbrella', gen_random_uuid(), 'user-' || i, now() from generate_series(1, 5000) i`,
  );
  await server.pool.query('analyze realm_user');
  const { body = [] } = await server.admin.call(getCounts, { params: { realm: 'umbrella' } });
  const users = body.find(({ thing }) => thing === 'users');
  expect(users?.estimated).toBe(true);
  expect(users?.count).toBeGreaterThan(4_500);
  expect(users?.count).toBeLessThan(5_500);
});

test('realmctl statistics: a table of the period, clients, and JSON', async () => {
  const run = (...args: string[]) => realmctl(asOperator(server), args);
  const table = await run('statistics', '-r', REALM, '--step', 'day', '--since', '2d');
  expect(table.stdout).toMatch(/^TIME +SIGN-INS +FAILURES +TOKENS +HIGH RISK +DELIVERED +FAILED TRIES\n/);
  expect(table.stdout).toMatch(/^TOTAL +1 +\d+ +5 +0 +1 +2$/m);
  expect((await run('statistics', 'clients', '-r', REALM)).stdout).toMatch(/^robot +\d+ /m);
  const json = JSON.parse((await run('statistics', '-r', REALM, '-o', 'json')).stdout);
  expect(json.tokens.total).toBe(5);
  expect((await run('statistics', '-r', 'nowhere')).stderr).toContain('There is no realm nowhere');
});

test('hours go after 31 days and days after 400; a deleted realm takes its counts with it', async () => {
  const at = Date.now();
  const hour = Math.floor(at / 3_600_000) * 3_600_000;
  await inserted([
    ['hour', 'token', hour - 32 * DAY_MS, '', 1],
    ['day', 'token', hour - 399 * DAY_MS, '', 1],
    ['day', 'token', hour - 401 * DAY_MS, '', 1],
  ]);
  await sweep(sqlOver(server.pool), new Date());
  const { rows } = await server.pool.query(
    `select step from statistic where realm_id = $1 and at < now() - interval '10 days'`,
    [REALM],
  );
  expect(rows).toEqual([{ step: 'day' }]);
  await server.admin.call(deleteRealm, { params: { realm: REALM } });
  const left = async () =>
    (await server.pool.query('select count(*)::int as n from statistic where realm_id = $1', [REALM])).rows[0]?.n;
  await expect.poll(left, { timeout: 20_000 }).toBe(0);
});
