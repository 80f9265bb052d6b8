// Owns: what the loops over the audit log cost where nothing is to be done: a look at the log's end, however long it is.
// Does not own: what they do (chain.test.ts, features/operations/forwarding.test.ts).
// Implements: docs/audit.md.
import { beforeAll, expect, test, vi } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { openPool, type Sql, sqlOver } from '../../../server/db/sql.ts';
import { createTransact, type Transact } from '../../../server/db/transact.ts';
import { sealEvents } from '../../../server/events/chain.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { continuePositions } from '../../../server/events/position.ts';
import {
  begin,
  eventsAfter,
  hasWaitingEvents,
  progress,
} from '../../../server/features/operations/forwarding/store.ts';
import { bareDatabase } from '../../support/bare-database.ts';
import { type Explained, explainAll, hearPlans, rowsRead } from '../../support/plans.ts';

const bare = bareDatabase({ max: 2 });
const now = () => new Date();
const seal = createSeal([Buffer.alloc(32, 1)]);
const outbox = createOutbox({ now, newId, consumers: [], enqueue: async () => {} });
const transactOn = (pool: ReturnType<typeof openPool>): Transact =>
  createTransact({ pool, outbox, committed: () => {}, strict: true });

beforeAll(async () => {
  // All of one transaction, as of an import.
  await bare.pool.query(
    `insert into event (realm_id, id, type, occurred_at, outcome)
     select 'acme', gen_random_uuid(), 'LOGOUT', now(), 'success' from generate_series(1, 12000)`,
  );
  const deps = { sql: bare.sql, transact: transactOn(bare.pool), seal, now };
  await vi.waitUntil(async () => (await sealEvents(deps)) === 'idle', { timeout: 60_000 });
  await begin(bare.sql);
  await bare.pool.query('vacuum analyze event');
  await explainAll(bare.url);
});

/** Each statement as often as it takes until it is planned for any values. */
async function rowsOf(work: (sql: Sql, transact: Transact) => Promise<unknown>): Promise<number> {
  const heard: Explained[] = [];
  const plans = hearPlans((one) => void heard.push(one));
  const pool = openPool(bare.url, { max: 1 });
  try {
    for (let i = 0; i < 8; i += 1) await work(sqlOver(pool), transactOn(pool));
  } finally {
    plans.stop();
    await pool.end();
  }
  expect(heard.length).toBeGreaterThanOrEqual(8);
  return Math.max(...heard.map(({ plan }) => rowsRead(plan)));
}

test.each<[string, (sql: Sql, transact: Transact) => Promise<unknown>]>([
  ['sealing', (sql, transact) => sealEvents({ sql, transact, seal, now })],
  ['forwarding', hasWaitingEvents],
  ['forwarding’s progress', (sql) => progress(sql, 1_000)],
  ['a server’s start', (_, transact) => continuePositions(transact)],
])('%s reads the end of the log', async (_, work) => {
  expect(await rowsOf(work)).toBeLessThanOrEqual(10);
});

test('forwarding reads as many events of one large transaction as it sends', async () => {
  const [middle] = await bare.sql<{ position: number; id: string }>`
    select position, id from event order by position, id offset 6000 limit 1`;
  if (!middle) throw new Error('no event');
  // with each its block
  expect(await rowsOf((sql) => eventsAfter(sql, middle, 500))).toBeLessThanOrEqual(1_100);
});
