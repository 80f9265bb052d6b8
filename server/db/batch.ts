// Statements on one connection without waiting between them: pg's pipeline mode sends each as it is asked for.
// It doesn't know transactions (transact.ts) or how SQL is written (statement.ts). Dependencies C: `pipeline: true`.
import type pg from 'pg';
import type { Statement } from './statement.ts';

/**
 * The rows of each statement, in order; the error of the first that failed. They run one after the other. After a failure
 * inside a transaction PostgreSQL refuses the rest, and a `commit` among them ends the transaction as `rollback` would.
 */
export async function runBatch(client: pg.Client, statements: readonly Statement[]): Promise<object[][]> {
  const results = await Promise.allSettled(sendAll(client, statements));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value.rows;
  });
}

/** In one piece: pg would write each statement by itself, and each write is a call of the operating system. */
function sendAll(client: pg.Client, statements: readonly Statement[]): Promise<pg.QueryResult<object>>[] {
  const { stream } = client.connection;
  stream.cork();
  try {
    return statements.map((statement) => client.query<object>(queryOf(statement)));
  } finally {
    stream.uncork();
  }
}

/** As pg takes it; each time anew, since pg writes into what it is given. Without a name it is sent as plain text. */
export const queryOf = ({ text, name, values }: Statement): pg.QueryConfig =>
  name === '' ? { text } : { text, name, values: [...values] };
