import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { runPipeline } from '../../../server/db/pipeline.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { fragment, statement } from '../../../server/db/statement.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const database = bareDatabase({ max: 1 });
const { sql, transact } = database;
beforeAll(() => sql`create table thing (id int primary key, note text)`);

const things = () => sql<{ id: number }>`select id from thing order by id`;

test('values arrive as they were, whatever they hold', async () => {
  const text = fc.string({ unit: 'grapheme' }).filter((s) => !s.includes('\0'));
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(fc.option(text)),
      fc.date({ min: new Date('-004000-01-01'), max: new Date('+200000-01-01'), noInvalidDate: true }),
      fc.uint8Array(),
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      fc.option(fc.boolean()),
      async (one, many, at, bytes, count, yes) => {
        const [row] = await sql<{
          one: string;
          many: string[];
          at: number;
          bytes: Buffer;
          count: number;
          yes: boolean;
        }>`
          select ${one}::text as one, ${many}::text[] as many, extract(epoch from ${at}::timestamptz)::float8 as at,
            ${Buffer.from(bytes)}::bytea as bytes, ${count}::int as count, ${yes}::boolean as yes`;
        expect(row).toEqual({ one, many, at: at.getTime() / 1000, bytes: Buffer.from(bytes), count, yes });
      },
    ),
    { numRuns: 60 },
  );
});

test('bytes in a list and objects for jsonb arrive as they were', async () => {
  const bytes = [Buffer.from('00ff22', 'hex'), Buffer.from('a"\\')];
  const [row] = await sql<{ bytes: Buffer[]; data: object }>`
    select ${bytes}::bytea[] as bytes, ${{ a: [1, '"'] }}::jsonb as data`;
  expect(row).toEqual({ bytes, data: { a: [1, '"'] } });
});

test('one place in the code may be written with other pieces each time', async () => {
  const one = fragment`${1}::int`;
  const two = fragment`${2}::int + ${3}::int`;
  for (const [piece, sum] of [
    [one, 1],
    [two, 5],
    [one, 1],
  ] as const)
    expect(await sql<{ sum: number }>`select ${piece} as sum`).toEqual([{ sum }]);
});

test('what stands after a failed statement of a batch does not run', async () => {
  const client = await database.pool.connect();
  const batch = runPipeline(client, [
    statement`begin`,
    statement`select 1/0`,
    statement`insert into thing values (1)`,
    statement`commit`,
  ]);
  await expect(batch).rejects.toMatchObject({ code: '22012' });
  expect(await runPipeline(client, [statement`rollback`])).toEqual([[]]);
  client.release();
  expect(await things()).toEqual([]);
});

test('a transaction whose first statement fails leaves nothing, and its connection can be used', async () => {
  await expect(transact(({ sql: on }) => on`insert into thing values (${'no number'})`)).rejects.toThrow();
  await expect(transact(({ sql: on }) => on`insert into nothing values (1)`)).rejects.toThrow();
  await transact(({ sql: on }) => on`insert into thing values (1)`);
  await expect(
    transact(async ({ sql: on }) => {
      await on`insert into thing values (2)`;
      throw new Error('undone');
    }),
  ).rejects.toThrow('undone');
  expect(await things()).toEqual([{ id: 1 }]);
});

test('statements that are asked for at once run in one transaction', async () => {
  await expect(
    transact(({ sql: on }) =>
      Promise.all([
        on`insert into thing values (3)`,
        on`insert into thing values (4)`,
        on`insert into thing values (1)`,
      ]),
    ),
  ).rejects.toMatchObject({ code: '23505' });
  expect(await things()).toEqual([{ id: 1 }]);
});

test('a statement whose columns change is read anew', async () => {
  const read = () => sql`select * from thing where id = 1`;
  expect(await read()).toEqual([{ id: 1, note: null }]);
  await sql`alter table thing add column more int default 7`;
  // PostgreSQL refuses the prepared plan once; then it is made again.
  await read().catch(() => {});
  expect(await read()).toEqual([{ id: 1, note: null, more: 7 }]);
});

test('a connection that breaks in a transaction does not come back', async () => {
  const pid = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`)[0]?.pid;
  const before = await pid();
  await expect(transact(({ sql: on }) => on`select pg_terminate_backend(pg_backend_pid())`)).rejects.toThrow();
  expect(await pid()).not.toBe(before);
});

test('values that cannot be sent fail their statement alone, even more of them than PostgreSQL takes', async () => {
  const round: object[] = [];
  round.push(round);
  await expect(sql`select ${{ round }}::jsonb`).rejects.toThrow();
  const many = Object.assign(['select 1 where 1 in (', ...Array.from({ length: 65_536 }, () => ','), ')'], { raw: [] });
  await expect(sqlOver(database.pool)(many, ...Array.from({ length: 65_537 }, () => 1))).rejects.toThrow();
  expect(await things()).toEqual([{ id: 1 }]);
});

test('what is written last is written with the rest or not at all', async () => {
  await transact(async ({ atLast }) => atLast`insert into thing values (10)`);
  await transact(async ({ sql: on, atLast }) => {
    atLast`insert into thing values (12)`;
    await on`insert into thing values (11)`;
  });
  await expect(
    transact(async ({ sql: on, atLast }) => {
      atLast`insert into thing values (10)`;
      await on`insert into thing values (13)`;
    }),
  ).rejects.toMatchObject({ code: '23505' });
  await expect(transact(async ({ atLast }) => atLast`insert into thing values (10)`)).rejects.toThrow();
  expect(await things()).toEqual([{ id: 1 }, { id: 10 }, { id: 11 }, { id: 12 }]);
});

test('a value that cannot be sent undoes what was written before it in the same message', async () => {
  const round: object[] = [];
  round.push(round);
  const told = database.transactWith({ log: () => [statement`select ${{ round }}::jsonb`] });
  const write = (id: number) =>
    told(async ({ atLast, record }) => {
      atLast`insert into thing values (${id})`;
      record({ type: 'LOGOUT', realm: 'acme', by: { actor: null, ipAddress: null }, subject: null, data: {} });
    });
  for (let i = 0; i < 2; i += 1) await expect(write(21)).rejects.toThrow('circular');
  expect((await things()).map(({ id }) => id)).toEqual([1, 10, 11, 12]);
});

test('after a failure in the middle of a message each of its statements can be run again', async () => {
  for (const value of ['no number', 30]) {
    const writing = transact(async ({ atLast }) => {
      atLast`insert into thing values (${31}) on conflict do nothing`;
      atLast`insert into thing values (${value}) on conflict do nothing`;
      atLast`insert into thing values (${32}) on conflict do nothing`;
    });
    if (value === 30) await writing;
    else await expect(writing).rejects.toMatchObject({ code: '22P02' });
  }
  expect((await things()).map(({ id }) => id).slice(-3)).toEqual([30, 31, 32]);
});
