import { expect, test } from 'vitest';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const database = bareDatabase({ max: 10, strict: true });

test('a connection that is lost between two statements fails that transaction alone, not the process', async () => {
  const broken = database.transact(async ({ sql }) => {
    const [row] = await sql<{ pid: number }>`select pg_backend_pid() as pid`;
    await database.pool.query('select pg_terminate_backend($1, 5000)', [row?.pid]);
    // what PostgreSQL says as it ends the session arrives while no statement runs
    await new Promise((resolve) => setTimeout(resolve, 100));
    await sql`select 1`;
  });
  await expect(broken).rejects.toThrow();
  expect(await database.sql`select 1 as one`).toEqual([{ one: 1 }]);
});

test('what breaks while nobody uses it is told, and replaced', async () => {
  const told = Promise.withResolvers<Error>();
  const own = openPool(database.url, { max: 1, lost: told.resolve });
  const { rows } = await own.query('select pg_backend_pid() as pid');
  await database.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
  expect(await told.promise).toMatchObject({ code: '57P01' });
  expect(await sqlOver(own)`select 1 as one`).toEqual([{ one: 1 }]);
  await own.end();
});
