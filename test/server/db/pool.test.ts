import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { statement } from '../../../server/db/statement.ts';
import { createTransact, type Outbox } from '../../../server/db/transact.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let pool: pg.Pool;

const silent: Outbox = { write: async () => {}, log: () => statement`select` };

beforeAll(async () => {
  database = await createDatabase();
  pool = openPool(database.url);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

test('a connection that is lost between two statements fails that transaction alone, not the process', async () => {
  const transact = createTransact({ pool, outbox: silent, committed: () => {}, strict: true });
  const broken = transact(async ({ sql }) => {
    const [row] = await sql<{ pid: number }>`select pg_backend_pid() as pid`;
    await pool.query('select pg_terminate_backend($1, 5000)', [row?.pid]);
    // what PostgreSQL says as it ends the session arrives while no statement runs
    await new Promise((resolve) => setTimeout(resolve, 100));
    await sql`select 1`;
  });
  await expect(broken).rejects.toThrow();
  expect(await sqlOver(pool)`select 1 as one`).toEqual([{ one: 1 }]);
});

test('what breaks while nobody uses it is told, and replaced', async () => {
  const told = Promise.withResolvers<Error>();
  const own = openPool(database.url, { max: 1, lost: told.resolve });
  const { rows } = await own.query('select pg_backend_pid() as pid');
  await pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
  expect(await told.promise).toMatchObject({ code: '57P01' });
  expect(await sqlOver(own)`select 1 as one`).toEqual([{ one: 1 }]);
  await own.end();
});
