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
  const refuse = (group: readonly Asked[], error: unknown) => {
    for (const { reject } of group) reject(error);
  };
  async function send(group: readonly Asked[]): Promise<void> {
    // Where there is no connection for all of them there is none for each.
    const client = await pool.connect().catch((error: unknown) => refuse(group, error));
    if (!client) return;
    const failure = await answer(client, group);
    client.release(failure);
    if (!failure) return;
    // It may be the fault of one.
    if (group.length > 1) await Promise.all(group.map((one) => send([one])));
    else refuse(group, failure);
  }

  async function answer(client: pg.PoolClient, group: readonly Asked[]): Promise<Error | undefined> {
    try {
      const statements = group.map((one) => one.statement);
      const rows = await runBatch(client, statements);
      for (const [i, { resolve }] of group.entries()) resolve(rows[i] ?? []);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  const join = createGroups({ run: send, refuse, most: 8, atOnce: 4 });
  return async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
    const rows = await new Promise<object[]>((resolve, reject) =>
      join({ statement: statement(strings, ...values), resolve, reject }),
    );
    return rows as Row[];
  };
}
