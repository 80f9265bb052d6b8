// Owns: a database for all tests of a file with a pool and transactions over it, which writes no audit rows.
// Does not own: the database itself (database.ts), a server on one (server.ts).
// Implements: tests of server/db, which knows no feature.
import type pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { openPool, type Sql, sqlOver } from '../../server/db/sql.ts';
import { statement } from '../../server/db/statement.ts';
import {
  createTransact,
  type Outbox,
  type Transact,
  type TransactionOptions,
  type Tx,
} from '../../server/db/transact.ts';
import { createDatabase, type TestDatabase } from './database.ts';

const withoutAudit: Outbox = {
  subscribed: async () => new Set(),
  drop: () => {},
  nobodyIn: () => statement`select`,
  write: async () => {},
  log: () => [statement`select`],
  rows: () => ({ target: '', text: '' }),
};

/** @param max connections: with only one, the next statement meets whatever a failure left behind */
export function bareDatabase({ max, strict = false }: { max: number; strict?: boolean }) {
  let made: { database: TestDatabase; pool: pg.Pool; transact: Transact } | undefined;
  const there = () => {
    if (!made) throw new Error('the database is not there yet');
    return made;
  };
  const over = (pool: pg.Pool, outbox: Outbox): Transact =>
    createTransact({ pool, outbox, committed: () => {}, strict });
  const ofOne =
    (transact: () => Transact) =>
    <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T> =>
      transact()('acme', work, options);
  beforeAll(async () => {
    const database = await createDatabase();
    const pool = openPool(database.url, { max });
    made = { database, pool, transact: over(pool, withoutAudit) };
  });
  afterAll(async () => {
    await made?.pool.end();
    await made?.database.drop();
  });
  const sql: Sql = (...of) => sqlOver(there().pool)(...of);
  return {
    sql,
    /** In a realm. */
    transact: ofOne(() => there().transact),
    transactWith(outbox: Partial<Outbox>) {
      const own = over(there().pool, { ...withoutAudit, ...outbox });
      return ofOne(() => own);
    },
    get pool() {
      return there().pool;
    },
    get url() {
      return there().database.url;
    },
  };
}
