// Gathered reads: what is asked in one turn of the event loop is one message, so that PostgreSQL is woken once for all of it and
// answers once. For short reads that many requests do alike, and that wait for no lock: each has its rows when all are there.
// It opens no transaction (transact.ts) and knows no table.
import type pg from 'pg';
import { runBatch } from './batch.ts';
import type { Sql } from './sql.ts';
import { type Statement, statement } from './statement.ts';

interface Asked {
  statement: Statement;
  resolve(rows: object[]): void;
  reject(error: unknown): void;
}

/** Statements of one message: who is the last of it waits for those before. */
const MOST = 8;

export function gatheredOver(pool: pg.Pool): Sql {
  let asked: Asked[] = [];

  async function send(group: readonly Asked[]): Promise<void> {
    try {
      const rows = await run(group.map((one) => one.statement));
      for (const [i, { resolve }] of group.entries()) resolve(rows[i] ?? []);
    } catch (error) {
      // It may be the fault of one.
      if (group.length > 1) for (const one of group) void send([one]);
      else group[0]?.reject(error);
    }
  }

  async function run(statements: readonly Statement[]): Promise<object[][]> {
    const client = await pool.connect();
    let failure: Error | undefined;
    try {
      return await runBatch(client, statements);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.release(failure);
    }
  }

  function sendAll(): void {
    const all = asked;
    asked = [];
    for (let from = 0; from < all.length; from += MOST) void send(all.slice(from, from + MOST));
  }

  return async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
    const rows = await new Promise<object[]>((resolve, reject) => {
      // At the end of this turn of the loop, so that all requests that it read are in it.
      if (asked.length === 0) setImmediate(sendAll);
      asked.push({ statement: statement(strings, ...values), resolve, reject });
    });
    return rows as Row[];
  };
}
