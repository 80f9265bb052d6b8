import { expect, test } from 'vitest';
import { createTotals } from '../../../server/features/operations/scim/totals.ts';

test('a large number is counted once for many pages, and again when it is old', async () => {
  let at = 0;
  let counts = 0;
  const totals = createTotals(() => at);
  const of = (key: string, total: number) =>
    totals.of(key, async () => {
      counts += 1;
      return total;
    });
  expect(await of('all', 1_000_000)).toBe(1_000_000);
  at += 49_000;
  expect(await of('all', 1_000_001)).toBe(1_000_000);
  expect(counts).toBe(1);
  at += 2_000;
  expect(await of('all', 1_000_001)).toBe(1_000_001);
  expect(await of('others', 20_000)).toBe(20_000);
  expect(counts).toBe(3);
});

test('a small number, and one that could not be counted, are counted each time', async () => {
  const totals = createTotals(() => 0);
  expect(await totals.of('few', async () => 9_999)).toBe(9_999);
  expect(await totals.of('few', async () => 9_998)).toBe(9_998);
  await expect(totals.of('all', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await totals.of('all', async () => 50_000)).toBe(50_000);
});

test('no more than a thousand numbers are kept', async () => {
  const totals = createTotals(() => 0);
  for (let i = 0; i <= 1_000; i += 1) await totals.of(String(i), async () => 50_000);
  expect(await totals.of('1', async () => 60_000)).toBe(50_000);
  expect(await totals.of('0', async () => 60_000)).toBe(60_000);
});
