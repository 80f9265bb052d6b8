// What age deletes of the audit log: bounded work however much there is, and a chain that still proves what is kept.
import { beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { createTransact, type Transact } from '../../../server/db/transact.ts';
import { sealEvents } from '../../../server/events/chain.ts';
import { forgetRealm } from '../../../server/events/log.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { verifyEvents } from '../../../server/features/operations/events/verify.ts';
import { sweepEvents } from '../../../server/jobs/janitor.ts';
import { bareDatabase } from '../../support/bare-database.ts';
import { type Explained, explainAll, hearPlans, nodesOf, rowsRead } from '../../support/plans.ts';

const REALM = 'acme';
const DAY = 86_400_000;
const NOW = new Date('2026-03-01T12:00:00Z');
const seal = createSeal([Buffer.alloc(32, 1)]);
const bare = bareDatabase({ max: 4 });
const now = () => NOW;
const transactOn = (pool: ReturnType<typeof openPool>): Transact => {
  const outbox = createOutbox({ now, newId, consumers: [], enqueue: async () => {} });
  return createTransact({ pool, outbox, committed: () => {}, strict: true });
};
let transact: Transact;

beforeEach(async () => {
  transact = transactOn(bare.pool);
  await bare.sql`truncate event, event_block, event_amendment, event_chain, event_fold`;
});

/** Events of one transaction, which happened so many days ago, and are sealed. */
async function sealed(days: number, n = 2, realm = REALM): Promise<void> {
  await bare.pool.query(
    `insert into event (realm_id, id, type, occurred_at, outcome, data)
     select $1, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n + $4::int), 15, '0'))::uuid,
       'LOGOUT', at, 'success', '{}'
     from (select n, $2::timestamptz as at from generate_series(1, $3::int) n) made`,
    [realm, new Date(NOW.getTime() - days * DAY), n, Math.floor(Math.random() * 1_000_000_000)],
  );
  await expect.poll(() => sealEvents({ sql: bare.sql, transact, seal, now })).toBe('idle');
}
const sweepAll = (eventRetentionDays = 10, at = NOW) => sweepEvents({ transact, seal }, at, { eventRetentionDays });
const verify = (after = 0, realm = REALM) => verifyEvents(bare.sql, seal, realm, { after, limit: 1000 });
const faults = async () => (await verify()).faults;
const blocks = async () => (await bare.pool.query('select number from event_block order by number')).rows.length;

test('a block stays as long as one of its events is young enough', async () => {
  await bare.sql`
    insert into event (realm_id, id, type, occurred_at, outcome)
    select ${REALM}, gen_random_uuid(), 'LOGOUT', ${NOW}::timestamptz - days * interval '1 day', 'success' from unnest(array[20, 1]) days`;
  await sealed(20);
  await sealed(1);
  expect(await sweepAll()).toBe(0);
  expect(await verify()).toMatchObject({ folded: null, blocks: 2, events: 6, forgotten: 0, faults: [] });
});

test('blocks that age empties are folded into one row, and what is kept is proven as before', async () => {
  await sealed(20);
  await sealed(11, 3);
  await sealed(1, 4);
  const { last } = await verify(1);
  expect(await sweepAll()).toBe(5);
  expect(await sweepAll()).toBe(0);
  expect(await verify()).toEqual({
    folded: { number: 2, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    blocks: 1,
    events: 4,
    forgotten: 5,
    erased: 0,
    last,
    faults: [],
    waiting: 0,
    next: null,
  });
  // The next piece of the same check says nothing of it again.
  expect(await verify(3)).toMatchObject({ folded: null, forgotten: 0 });
  await bare.sql`update event set outcome = 'failure'`;
  expect(await faults()).toEqual([{ block: 3, problem: 'events' }]);
  await bare.sql`delete from event`;
  expect(await faults()).toEqual([{ block: 3, problem: 'events' }]);
});

test('an event that is put where age deleted some is found', async () => {
  await sealed(20);
  const { rows } = await bare.pool.query('select id, position from event limit 1');
  await sealed(1);
  await sweepAll();
  await bare.sql`
    insert into event (realm_id, id, type, occurred_at, outcome, position)
    values (${REALM}, ${rows[0].id}, 'LOGOUT', ${NOW}, 'success', ${rows[0].position})`;
  expect(await faults()).toEqual([{ block: null, problem: 'unsealed' }]);
});

test.each([
  ['is said to be of more events', 'update event_fold set events = 1000', [{ block: 2, problem: 'link' }]],
  [
    'is said to reach further',
    'update event_fold set number = 3',
    [
      { block: 3, problem: 'link' },
      { block: 3, problem: 'missing' },
      { block: 4, problem: 'link' },
    ],
  ],
  [
    'ends in another block',
    `update event_fold set hash = sha256('x')`,
    [
      { block: 2, problem: 'link' },
      { block: 3, problem: 'link' },
    ],
  ],
  [
    'is another realm’s',
    `update event_fold f set proof_hash = o.proof_hash from event_fold o where f.realm_id = 'acme' and o.realm_id = 'other'`,
    [{ block: 2, problem: 'link' }],
  ],
  ['is taken out', 'delete from event_fold', [{ block: 3, problem: 'missing' }]],
  [
    'is taken out with blocks behind it',
    'with f as (delete from event_fold) delete from event_block where number < 4',
    [
      { block: 4, problem: 'missing' },
      { block: null, problem: 'unsealed' },
    ],
  ],
])('a fold that %s is found', async (_, change, expected) => {
  for (const realm of [REALM, 'other']) for (const days of [20, 11, 2, 1]) await sealed(days, 2, realm);
  await sweepAll();
  expect(await faults()).toEqual([]);
  await bare.pool.query(change);
  expect(await faults()).toEqual(expected);
  // Nor does the server vouch for it when age deletes more.
  await sweepAll(0);
  expect(await faults()).not.toEqual([]);
});

test('a block that was exchanged or taken out before it was old is not folded: it stays to be found', async () => {
  for (const days of [20, 19, 18, 17, 1]) await sealed(days);
  await bare.sql`update event_block set digest = sha256('x') where number = 3`;
  expect(await sweepAll()).toBe(8);
  expect(await verify()).toMatchObject({ folded: { number: 2 }, faults: [{ block: 3, problem: 'link' }] });
  await bare.sql`delete from event_block where number = 3`;
  expect(await sweepAll(0)).toBe(2);
  expect(await verify()).toMatchObject({ folded: { number: 2 }, faults: [{ block: 4, problem: 'missing' }] });
});

test('a block that is due before one that stands before it is forgotten at once, and folded with that', async () => {
  for (const days of [20, 2, 19, 18, 1]) await sealed(days);
  expect(await sweepAll()).toBe(6);
  expect(await verify()).toMatchObject({ folded: { number: 1 }, blocks: 5, events: 8, forgotten: 6, faults: [] });
  expect(await sweepAll(1.5)).toBe(2);
  expect(await verify()).toMatchObject({ folded: { number: 2 }, forgotten: 8, faults: [] });
  // Those behind it go with what is deleted next.
  await sealed(0);
  expect(await sweepAll(0.5)).toBe(2);
  expect(await verify()).toMatchObject({ folded: { number: 5 }, blocks: 2, events: 2, forgotten: 10, faults: [] });
});

test('what a server from before forgot is folded too', async () => {
  for (const days of [20, 19, 1]) await sealed(days);
  // One block alone is forgotten as all were, since no other stands behind it.
  await sealed(30, 2, 'quiet');
  await sweepAll();
  expect(await verify(0, 'quiet')).toMatchObject({ folded: null, blocks: 2, forgotten: 2, faults: [] });
  // As that server leaves it.
  await bare.sql`update event_block set newest_at = ${new Date(NOW.getTime() - 30 * DAY)} where realm_id = 'quiet' and number = 1`;
  expect(await sweepAll()).toBe(0);
  expect(await verify(0, 'quiet')).toMatchObject({ folded: { number: 1 }, blocks: 1, forgotten: 2, faults: [] });
});

test('neither blocks nor what they say of others grow with what was ever deleted', async () => {
  const after: number[] = [];
  for (let day = 0; day < 24; day += 1) {
    const at = new Date(NOW.getTime() + day * DAY);
    await sealed(-day);
    await sealed(-day, 1, 'other');
    await sweepAll(3, at);
    after.push(await blocks());
  }
  expect(after.at(-1)).toBe(after.at(8));
  expect(await bare.sql`select from event_amendment`).toEqual([]);
  expect(await verify()).toMatchObject({ forgotten: 2 * 20, faults: [] });
});

test('with a realm goes its fold', async () => {
  await sealed(20);
  await sealed(1);
  await sweepAll();
  await transact(REALM, async ({ sql, record }) => {
    await forgetRealm(sql, REALM);
    record({ type: 'REALM_DELETED', realm: 'master', by: { actor: null, ipAddress: null } });
  });
  expect(await bare.sql`select from event_fold where realm_id = ${REALM}`).toEqual([]);
  await sealed(1);
  expect(await verify()).toMatchObject({ folded: null, blocks: 1, forgotten: 0, faults: [] });
});

test('two servers that delete at the same time do so once', async () => {
  for (const days of [20, 19, 18, 1]) await sealed(days, 500);
  const deleted = await Promise.all([sweepAll(), sweepAll(), sweepAll()]);
  expect(deleted.reduce((sum, n) => sum + n, 0)).toBe(1_500);
  expect(await verify()).toMatchObject({ folded: { number: 3 }, blocks: 1, forgotten: 1_500, faults: [] });
});

describe('a statement of it', () => {
  const MOST = 20_000;
  test.each([
    ['one block of an import', [25_000, 10, 5_000]],
    ['many blocks', [...Array.from({ length: 20 }, () => 900), 12_000, 12_000, 5_000]],
  ])('reads a bounded number of rows among many: %s', async (_, sizes) => {
    for (const [i, size] of sizes.entries()) await sealed(i === sizes.length - 1 ? 1 : 30 - i / 100, size);
    await bare.pool.query('vacuum analyze event, event_block');
    await explainAll(bare.url);
    const heard: Explained[] = [];
    const plans = hearPlans((one) => void heard.push(one));
    const pool = openPool(bare.url, { max: 1 });
    try {
      const old = sizes.slice(0, -1).reduce((sum, n) => sum + n, 0);
      const deps = { transact: transactOn(pool), seal };
      expect(await sweepEvents(deps, NOW, { eventRetentionDays: 10 })).toBe(old);
      expect(await verifyEvents(sqlOver(bare.pool), seal, REALM, { after: 0, limit: 10 })).toMatchObject({
        faults: [],
        forgotten: old,
      });
    } finally {
      plans.stop();
      await pool.end();
    }
    expect(heard.filter(({ text }) => text.includes('delete from event e')).length).toBeGreaterThan(1);
    for (const { text, plan } of heard) {
      // what it looks up, and each of these again as it deletes it
      expect(rowsRead(plan), text).toBeLessThanOrEqual(2 * MOST + 1_000);
      const scanned = nodesOf(plan).filter(
        (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'event',
      );
      expect(scanned, text).toEqual([]);
    }
  });
});
