import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { createGroupCommit, type GroupCommitOptions } from '../../../server/db/group-commit.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const { sql, transact } = bareDatabase({ max: 5 });
beforeAll(() => sql`create table thing (id int primary key, note text check (note <> 'refused'))`);
afterEach(() => sql`delete from thing`);

interface Thing {
  id: number;
  note?: string;
}
type Work = GroupCommitOptions<Thing, string>['work'];

/** Inserts what is asked for, but for things with a negative id, which it passes over. */
const insert: Work = async (tx, asks) => {
  const fit = asks.filter(({ id }) => id >= 0);
  const rows = await tx.sql<{ id: number }>`
    insert into thing select id, note from json_to_recordset(${JSON.stringify(fit)}) as a (id int, note text) returning id`;
  const taken = new Set(rows.map(({ id }) => id));
  return asks.map(({ id }) => (taken.has(id) ? `took ${id}` : undefined));
};
const group = (work: Work) => createGroupCommit<Thing, string>({ transact: (_, ...of) => transact(...of), work });
const ids = async () => (await sql<{ id: number }>`select id from thing order by id`).map(({ id }) => id);
const many = (n: number) => Array.from({ length: n }, (_, id) => ({ id }));

test('those who ask at once share transactions, and each is told its own result', async () => {
  const sizes: number[] = [];
  const commit = group((tx, asks) => {
    sizes.push(asks.length);
    return insert(tx, asks);
  });
  expect(await Promise.all(many(100).map(commit))).toEqual(many(100).map(({ id }) => `took ${id}`));
  expect(await ids()).toEqual(many(100).map(({ id }) => id));
  expect(sizes.length).toBeLessThan(50);
  expect(sizes.reduce((a, b) => a + b)).toBe(100);
});

test('whoever is passed over is told so, and the others are written', async () => {
  const commit = group(insert);
  expect(await Promise.all([{ id: 1 }, { id: -1 }, { id: 2 }].map(commit))).toEqual(['took 1', undefined, 'took 2']);
  expect(await ids()).toEqual([1, 2]);
});

test('where the database refuses what one asks for, nothing of the group is written and each goes its own way', async () => {
  const commit = group(insert);
  const told = await Promise.all([{ id: 1 }, { id: 2, note: 'refused' }, { id: 3 }].map(commit));
  expect(told).toEqual([undefined, undefined, undefined]);
  expect(await ids()).toEqual([]);
});

test('a connection that breaks fails its group, which wrote nothing, and not the next one', async () => {
  const commit = group(async (tx, asks) => {
    const told = await insert(tx, asks);
    if (asks.some(({ id }) => id === 7)) {
      const [me] = await tx.sql<{ pid: number }>`select pg_backend_pid() as pid`;
      await sql`select pg_terminate_backend(${me?.pid})`;
      await tx.sql`select`;
    }
    return told;
  });
  const settled = await Promise.allSettled([{ id: 7 }, { id: 8 }].map(commit));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await commit({ id: 9 })).toBe('took 9');
  expect(await ids()).toEqual([9]);
});

test('a group that takes long holds up neither a full group nor, after a moment, a smaller one', async () => {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const commit = group(async (tx, asks) => {
    if (asks.some(({ id }) => id === 1000)) await held;
    return insert(tx, asks);
  });
  const slow = commit({ id: 1000 });
  await sleep(20);
  expect(await Promise.all(many(8).map(commit))).toEqual(many(8).map(({ id }) => `took ${id}`));
  expect(await commit({ id: 500 })).toBe('took 500');
  go();
  expect(await slow).toBe('took 1000');
});
