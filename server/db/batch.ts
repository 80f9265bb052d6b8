// Statements on one connection without waiting between them: pg's pipeline mode sends each as it is asked for.
// It doesn't know transactions (transact.ts) or how SQL is written (statement.ts). Dependencies C: `pipeline: true`.
import type pg from 'pg';
import type { Statement } from './statement.ts';

/**
 * The rows of each statement, in order; the error of the first that failed. They run one after the other. After a failure
 * inside a transaction PostgreSQL refuses the rest, and a `commit` among them ends the transaction as `rollback` would.
 */
export async function runBatch(client: pg.ClientBase, statements: readonly Statement[]): Promise<object[][]> {
  const results = await Promise.allSettled(statements.map((statement) => client.query<object>(queryOf(statement))));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value.rows;
  });
}

/** As pg takes it; each time anew, since pg writes into what it is given. Without a name it is sent as plain text. */
export const queryOf = ({ text, name, values }: Statement): pg.QueryConfig =>
  name === '' ? { text } : { text, name, values: [...values] };
