// Gathered reads: what is asked at the same moment is one message, so that PostgreSQL is woken once for all of it and answers
// once. For short reads that many requests do alike, and that wait for no lock: each has its rows when all are there.
// It opens no transaction (transact.ts) and knows no table.
import type pg from 'pg';
import { runBatch } from './batch.ts';
import { createGroups } from './groups.ts';
import type { Sql } from './sql.ts';
import { type Statement, statement } from './statement.ts';

interface Asked {
  statement: Statement;
  resolve(rows: object[]): void;
  reject(error: unknown): void;
}

export function gatheredOver(pool: pg.Pool): Sql {
  async function send(group: readonly Asked[]): Promise<void> {
    try {
      const rows = await run(group.map((one) => one.statement));
      for (const [i, { resolve }] of group.entries()) resolve(rows[i] ?? []);
    } catch (error) {
      // It may be the fault of one.
      if (group.length > 1) await Promise.all(group.map((one) => send([one])));
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

  const join = createGroups({ run: send, most: 8, atOnce: 4 });
  return async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
    const rows = await new Promise<object[]>((resolve, reject) =>
      join({ statement: statement(strings, ...values), resolve, reject }),
    );
    return rows as Row[];
  };
}
