// Owns: what PostgreSQL is told of a transaction whose statements may take long.
// Does not own: how long they take (features/people/users.import*.test.ts), a peer that is silent meanwhile (dead-peer.long.test.ts).
// Implements: performance (imports).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../server/crypto/ids.ts';
import { openPool, type Sql } from '../../../server/db/sql.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { bareDatabase } from '../../support/bare-database.ts';

const database = bareDatabase({ max: 1 });
let pool: ReturnType<typeof openPool>;
beforeAll(async () => {
  pool = openPool(database.url, { max: 1 });
  // as PostgreSQL's own packages have it, and providers of databases
  await pool.query('set jit = on');
});
afterAll(() => pool?.end());

const compiles = async (sql: Sql) =>
  (await sql<{ jit: string }>`select current_setting('jit') as jit`).map(({ jit }) => jit);

test('its statements are not compiled first, which takes seconds for an import of one user; others are left alone', async () => {
  const outbox = createOutbox({ now: () => new Date(), newId, consumers: [], enqueue: async () => {} });
  const transact = createTransact({ pool, outbox, committed: () => {}, strict: false });
  expect(await transact('acme', ({ sql }) => compiles(sql), { longestMs: 60_000 })).toEqual(['off']);
  expect(await transact('acme', ({ sql }) => compiles(sql))).toEqual(['on']);
});
