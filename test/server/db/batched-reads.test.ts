import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { batchedReadsOver } from '../../../server/db/batched-reads.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const database = bareDatabase({ max: 4 });
const batchedReads = () => batchedReadsOver(database.pool);
const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

test('what is asked in one turn shares a connection, and each gets its own rows', async () => {
  const sql = batchedReads();
  const found = await Promise.all(
    numbers(8).map((i) => sql<{ pid: number; i: number }>`select pg_backend_pid() as pid, ${i}::int as i`),
  );
  expect(found.map(([row]) => row?.i)).toEqual(numbers(8));
  expect(new Set(found.map(([row]) => row?.pid)).size).toBe(1);
});

test('more than a message holds goes in several, and different statements go together', async () => {
  const sql = batchedReads();
  const [rows, ...counts] = await Promise.all([
    sql`select i from generate_series(1, 3) i`,
    ...numbers(40).map((i) => sql<{ n: number }>`select ${i}::int as n`),
  ]);
  expect(rows).toEqual([{ i: 1 }, { i: 2 }, { i: 3 }]);
  expect(counts.map(([row]) => row?.n)).toEqual(numbers(40));
});

test('what one asks for wrongly fails for that one alone', async () => {
  const sql = batchedReads();
  const settled = await Promise.allSettled(numbers(6).map((i) => sql<{ n: number }>`select 12 / ${i}::int as n`));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', ...numbers(5).map(() => 'fulfilled')]);
  expect(settled[0]).toMatchObject({ reason: { code: '22012' } });
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
});

test('who comes while a message takes long waits for it a moment at most', async () => {
  const sql = batchedReads();
  const order: string[] = [];
  const slow = sql`select pg_sleep(3)`.then(() => void order.push('slow'));
  await sleep(50);
  await sql`select`;
  order.push('quick');
  await slow;
  expect(order).toEqual(['quick', 'slow']);
});

test('a connection that breaks under a message fails none that can be asked again', async () => {
  const sql = batchedReads();
  const asked = numbers(3).map((i) => sql<{ n: number }>`select ${i}::int as n, pg_sleep(0.5)`);
  await sleep(200);
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`,
  );
  expect((await Promise.all(asked)).map(([row]) => row?.n)).toEqual(numbers(3));
});

test('where there is no connection for a message, each of it is not waited for anew', async () => {
  const sql = batchedReads();
  const held = await Promise.all(numbers(4).map(() => database.pool.connect()));
  const asked = Promise.allSettled(numbers(8).map(() => sql`select`));
  await expect.poll(() => database.pool.waitingCount).toBe(1);
  const settled = await asked;
  expect(settled.map(({ status }) => status)).toEqual(numbers(8).map(() => 'rejected'));
  expect(database.pool.waitingCount).toBe(0);
  for (const client of held) client.release();
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
});
