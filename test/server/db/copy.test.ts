import { beforeAll, expect, test } from 'vitest';
import { copyRow } from '../../../server/db/copy.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const { sql, transact } = bareDatabase({ max: 1 });
beforeAll(() => sql`create table bulk (n int primary key, t text)`);
const TARGET = 'bulk (n, t)';
const count = async () => (await sql<{ n: number }>`select count(*) as n from bulk`)[0]?.n;

test('rows come in with their transaction, many more than a connection takes at once', async () => {
  await transact(async (tx) => {
    await tx.sql`insert into bulk values (-1, 'before')`;
    const copy = await tx.copy(TARGET);
    for (let at = 0; at < 20_000; at += 1000) {
      const rows = Array.from({ length: 1000 }, (_, i) => copyRow([at + i, 'ü\t\\'.repeat(50)]));
      await copy.write(rows.join(''));
    }
    await copy.finish();
    await tx.sql`insert into bulk values (-2, 'behind')`;
  });
  expect(await count()).toBe(20_002);
  const [row] = await sql<{ t: string }>`select t from bulk where n = 19999`;
  expect(row?.t).toBe('ü\t\\'.repeat(50));
  await sql`delete from bulk`;
});

test('a refused row, a given up COPY and a thrown error undo the transaction, and the connection is as good as before', async () => {
  const failing = (end: 'finish' | 'abort', ...numbers: number[]) =>
    transact(async (tx) => {
      await tx.sql`insert into bulk values (100, 'before')`;
      const copy = await tx.copy(TARGET);
      await copy.write(numbers.map((n) => copyRow([n, null])).join(''));
      await copy[end]();
      await tx.sql`select 1`;
    });
  await expect(failing('finish', 1, 1)).rejects.toMatchObject({ code: '23505' });
  await expect(failing('abort', 1, 2)).rejects.toThrow();
  await expect(transact(async (tx) => void (await tx.copy(TARGET)))).rejects.toThrow(/begin/);
  await expect(
    transact(async (tx) => {
      await tx.sql`select 1`;
      await tx.copy('nowhere (n)');
    }),
  ).rejects.toMatchObject({ code: '42P01' });
  expect(await count()).toBe(0);
});

test('an error that is found while rows are still on their way reaches who writes them', async () => {
  const endless = transact(async (tx) => {
    await tx.sql`select 1`;
    const copy = await tx.copy(TARGET);
    try {
      for (;;) {
        await copy.write(copyRow([1, 'x'.repeat(10_000)]));
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      await copy.abort();
      throw error;
    }
  });
  await expect(endless).rejects.toMatchObject({ code: '23505' });
  expect(await count()).toBe(0);
});
