// Batched reads: queries of the same moment go in one message, so that PostgreSQL wakes once and answers once for all of
// them. Use it for short reads that many requests run and that wait for no lock: each caller gets its rows when all have come.
// This file opens no transaction (transact.ts) and knows no table.
import type pg from 'pg';
import { createBatcher } from '../schedule/batcher.ts';
import { runPipeline } from './pipeline.ts';
import type { Sql } from './sql.ts';
import { type Statement, statement } from './statement.ts';

interface Read {
  statement: Statement;
  resolve(rows: object[]): void;
  reject(error: unknown): void;
}

/** An `Sql` whose reads of the same moment go to PostgreSQL in one message; for single reads without side effects. */
export function batchedReadsOver(pool: pg.Pool): Sql {
  const refuse = (batch: readonly Read[], error: unknown) => {
    for (const { reject } of batch) reject(error);
  };
  async function send(batch: readonly Read[]): Promise<void> {
    // without a connection for the batch there is none for its single statements either
    const client = await pool.connect().catch((error: unknown) => refuse(batch, error));
    if (!client) return;
    const failure = await answer(client, batch);
    client.release(failure);
    if (!failure) return;
    // One statement may be at fault: each runs again alone.
    if (batch.length > 1) await Promise.all(batch.map((one) => send([one])));
    else refuse(batch, failure);
  }

  async function answer(client: pg.PoolClient, batch: readonly Read[]): Promise<Error | undefined> {
    try {
      const statements = batch.map((one) => one.statement);
      const rows = await runPipeline(client, statements);
      for (const [i, { resolve }] of batch.entries()) resolve(rows[i] ?? []);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  const join = createBatcher({ run: send, refuse, most: 8, concurrency: 4 });
  return async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
    const rows = await new Promise<object[]>((resolve, reject) =>
      join({ statement: statement(strings, ...values), resolve, reject }),
    );
    return rows as Row[];
  };
}
