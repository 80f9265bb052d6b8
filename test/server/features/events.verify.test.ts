// The chain over the audit log as administrators meet it: by the admin API and by realmctl.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyEvents } from '../../../server/contract/events.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createRealm, deleteRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { sweepEvents } from '../../../server/jobs/janitor.ts';
import { administrator } from '../../support/administrators.ts';
import { asOperator, realmctl, withOperator } from '../../support/realmctl.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: 'sealed' };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  await server.admin.call(createRealm, { body: params });
});
afterAll(() => server?.stop());

const verify = async (query: { after?: number; limit?: number } = {}) => {
  const { body } = await server.admin.call(verifyEvents, { params, query });
  if (!body) throw new Error('no answer');
  return body;
};
const allSealed = () => expect.poll(async () => (await verify()).waiting).toBe(0);
const change = (seconds: number) =>
  server.admin.call(putSettings, { params, body: { accessTokenTtlSeconds: 100 + seconds } });
const ctl = (...args: string[]) => realmctl(asOperator(server), ['events', 'verify', '-r', params.realm, ...args]);

test('what happened is sealed by itself a little later, and realmctl finds it whole', async () => {
  await allSealed();
  await change(1);
  await allSealed();
  const { last, events } = await verify();
  expect(events).toBeGreaterThanOrEqual(2);
  const { code, stdout } = await ctl('-o', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ realm: params.realm, last, faults: [] });
  const place = `${last?.number}:${last?.hash}`;
  expect((await ctl()).stdout).toContain(place);
  await change(2);
  await allSealed();
  expect((await ctl('--noted', place)).code).toBe(0);
  expect(await ctl('--noted', `1:${'0'.repeat(64)}`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Block 1 is not the one that was noted'),
  });
  expect((await ctl('--noted', 'x')).stderr).toContain('must be number:hash');
  expect(await verify({ limit: 1 })).toMatchObject({ blocks: 1, waiting: null, next: 1 });
});

test('an erased person is in the log no more, and the log is whole', async () => {
  const { body: user } = await server.admin.call(createUser, {
    params,
    body: { username: 'ana', email: 'ana@x.example' },
  });
  await allSealed();
  await server.admin.call(eraseUser, { params: { ...params, userId: user?.id ?? '' } });
  await allSealed();
  await expect.poll(async () => (await verify()).erased).toBe(1);
  expect((await verify()).faults).toEqual([]);
  expect((await ctl()).code).toBe(0);
});

test('realmctl says of a noted block that age deleted it, and which one is the last of these', async () => {
  await change(3);
  await allSealed();
  const noted = (await verify({ limit: 1 })).last;
  const outbox = createOutbox({ now: () => new Date(), newId, consumers: [], enqueue: async () => {} });
  const transact = createTransact({ pool: server.pool, outbox, committed: () => {}, strict: true });
  await server.pool.query(`update event_block set newest_at = '2020-01-01' where realm_id = $1 and number < 3`, [
    params.realm,
  ]);
  await sweepEvents({ transact, seal: createSeal([MASTER_KEY]) }, new Date(), { eventRetentionDays: 1_000 });
  const { folded, faults } = await verify();
  expect({ folded, faults }).toMatchObject({ folded: { number: 2 }, faults: [] });
  expect(await ctl('--noted', `${noted?.number}:${noted?.hash}`)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Block 1 is gone, since age deleted what it held'),
  });
  expect((await ctl('--noted', `2:${folded?.hash}`)).code).toBe(0);
  expect(await ctl('--noted', `2:${'0'.repeat(64)}`)).toMatchObject({ code: 1 });
});

test('a changed event is found, and realmctl says which block and fails', async () => {
  await server.pool.query(
    `update event set actor = '{"type":"user","id":null,"name":"eve"}' where realm_id = $1 and type = 'SETTINGS_UPDATED'`,
    [params.realm],
  );
  const { code, stderr } = await ctl();
  expect(code).toBe(1);
  expect(stderr).toMatch(/Block \d+: its events are not those that were sealed\./);
  expect((await verify()).faults).not.toEqual([]);
});

test('who may not read the events may not check them, and a new realm of an old name has its own chain', async () => {
  const local = await administrator(server, { target: params.realm, permissions: ['users:read'] });
  await expect(local.call(verifyEvents, { params })).rejects.toMatchObject({ status: 403 });
  await server.admin.call(deleteRealm, { params });
  await server.admin.call(createRealm, { body: params });
  await allSealed();
  expect(await verify()).toMatchObject({ blocks: 1, faults: [] });
});
