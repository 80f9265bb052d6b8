import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { type Job, job } from '../../../server/jobs/job.ts';
import { createQueue, type Queue } from '../../../server/jobs/queue.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let pool: pg.Pool;
const queues: Queue[] = [];
const logged: string[] = [];

beforeEach(async () => {
  database = await createDatabase();
  pool = openPool(database.url);
});
afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.stop()));
  await pool.end();
  await database.drop();
});

async function started(...jobs: Job[]): Promise<Queue> {
  const queue = createQueue({ url: database.url, log: (m) => logged.push(m), graceMs: 200, superviseSeconds: 1 });
  queues.push(queue);
  queue.takes(jobs);
  await queue.start();
  return queue;
}
const until = async (holds: () => boolean, ms = 100_000) => {
  const end = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > end) throw new Error('it did not happen in time');
    await sleep(10);
  }
};
const Numbered = z.object({ n: z.int() });
const counting = (more: Partial<Parameters<typeof job<{ n: number }>>[0]> = {}) => {
  const seen: number[] = [];
  const record = job({
    name: 'count',
    schema: Numbered,
    maxAttempts: 5,
    expireSeconds: 60,
    concurrency: 2,
    run: async ({ n }) => void seen.push(n),
    ...more,
  });
  return { seen, record };
};

describe('a job', () => {
  test('runs when the transaction that enqueued it commits, and never when it rolls back', async () => {
    const { seen, record } = counting();
    const queue = await started(record);
    const client = await pool.connect();
    await client.query('begin');
    await queue.enqueue(sqlOver(client), 'count', [{ n: 1 }]);
    await client.query('rollback');
    await client.query('begin');
    await queue.enqueue(sqlOver(client), 'count', [{ n: 2 }, { n: 3 }]);
    await sleep(300);
    expect(seen).toEqual([]);
    await client.query('commit');
    client.release();
    await until(() => seen.length === 2);
    expect(seen.toSorted()).toEqual([2, 3]);
  });

  test('that throws is tried again', async () => {
    let tries = 0;
    const { seen, record } = counting({
      run: async ({ n }) => {
        tries += 1;
        if (tries < 2) throw new Error('not yet');
        seen.push(n);
      },
    });
    const queue = await started(record);
    await queue.enqueue(sqlOver(pool), 'count', [{ n: 7 }]);
    await until(() => seen.length === 1);
    expect(tries).toBe(2);
    expect(logged).toContain('the job count failed and will be tried again');
  });

  test('may be told to start later', async () => {
    const { seen, record } = counting();
    const queue = await started(record);
    const at = performance.now();
    await queue.enqueue(sqlOver(pool), 'count', [{ n: 1 }], { startAfterSeconds: 2 });
    await until(() => seen.length === 1);
    expect(performance.now() - at).toBeGreaterThan(1_900);
  });

  test('a backlog is worked off without waiting between its jobs', async () => {
    const { seen, record } = counting();
    const queue = await started(record);
    const all = Array.from({ length: 300 }, (_, n) => ({ n }));
    await queue.enqueue(sqlOver(pool), 'count', all);
    await until(() => seen.length === 300);
    expect(new Set(seen).size).toBe(300);
  });

  test('of a slow group does not hold up the others', async () => {
    const release = Promise.withResolvers<void>();
    let slow = 0;
    let most = 0;
    const { seen, record } = counting({
      concurrency: 4,
      group: { of: ({ n }) => (n < 100 ? 'slow' : 'fast'), concurrency: 2 },
      run: async ({ n }) => {
        if (n < 100) {
          slow += 1;
          most = Math.max(most, slow);
          await release.promise;
          slow -= 1;
        }
        seen.push(n);
      },
    });
    const queue = await started(record);
    const payloads = Array.from({ length: 20 }, (_, n) => ({ n }));
    await queue.enqueue(sqlOver(pool), 'count', payloads);
    await queue.enqueue(sqlOver(pool), 'count', [{ n: 100 }, { n: 101 }, { n: 102 }]);
    await until(() => seen.length === 3);
    expect(seen.toSorted()).toEqual([100, 101, 102]);
    await until(() => slow === 2);
    release.resolve();
    await until(() => seen.length === 23);
    expect(most).toBe(2);
  });
});

test('a start writes the queues that it finds otherwise, and no others', async () => {
  const written = async () => {
    const { rows } = await pool.query(`select retry_limit, updated_on from pgboss.queue where name = 'count'`);
    return rows[0];
  };
  await started(counting().record);
  const first = await written();
  await started(counting().record);
  expect(await written()).toEqual(first);
  await started(counting({ maxAttempts: 3 }).record);
  const changed = await written();
  expect([first.retry_limit, changed.retry_limit]).toEqual([4, 2]);
  expect(changed.updated_on.getTime()).toBeGreaterThan(first.updated_on.getTime());
});

describe('a queue that stops', () => {
  test('hands back what it could not finish, and another one does it', async () => {
    let taken = false;
    const first = counting({
      run: async (_, { signal }) => {
        taken = true;
        await new Promise<void>((ok) => signal.addEventListener('abort', () => ok()));
      },
    });
    const queue = await started(first.record);
    await queue.enqueue(sqlOver(pool), 'count', [{ n: 1 }]);
    await until(() => taken);
    await queue.stop();
    const second = counting();
    await started(second.record);
    await until(() => second.seen.length === 1);
  });
});

test('replicas that start at the same moment on an empty database all work, and each job runs once', async () => {
  const replicas = Array.from({ length: 3 }, () => counting());
  const all = await Promise.all(replicas.map(({ record }) => started(record)));
  const payloads = Array.from({ length: 60 }, (_, n) => ({ n }));
  await all[0]?.enqueue(sqlOver(pool), 'count', payloads);
  const seen = () => replicas.flatMap((replica) => replica.seen);
  await until(() => seen().length >= 60);
  await sleep(300);
  expect(seen().toSorted((a, b) => a - b)).toEqual(payloads.map(({ n }) => n));
});

test('a job that repeats runs once in its interval, however many replicas there are', async () => {
  const schema = z.object({ n: z.int().default(0) });
  const replicas = Array.from({ length: 3 }, () => counting({ schema, everySeconds: 86_400 }));
  for (const { record } of replicas) await started(record);
  const seen = () => replicas.flatMap((replica) => replica.seen);
  await until(() => seen().length > 0);
  await sleep(1_500);
  expect(seen()).toEqual([0]);
});

test('jobs whose process died are found and done by another', async () => {
  const { seen, record } = counting({ expireSeconds: 1 });
  const queue = await started(record);
  await queue.stop();
  const other = await started({ ...record, concurrency: 0 });
  await other.enqueue(sqlOver(pool), 'count', [{ n: 9 }]);
  // as a worker leaves it that took it and was killed
  await pool.query(
    `update pgboss.job set state = 'active', started_on = now() - interval '1 minute' where name = 'count'`,
  );
  await started(record);
  await until(() => seen.length === 1);
});

test('the queue goes on by itself when the database was away', async () => {
  const { seen, record } = counting();
  const queue = await started(record);
  const admin = new pg.Client({ connectionString: database.url.replace(/\/[^/]*$/, '/postgres') });
  await admin.connect();
  const name = new URL(database.url).pathname.slice(1);
  await admin.query(`alter database ${name} allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  await sleep(2_000);
  await admin.query(`alter database ${name} allow_connections true`);
  await admin.end();
  await queue.enqueue(sqlOver(pool), 'count', [{ n: 4 }]);
  await until(() => seen.length === 1);
});
