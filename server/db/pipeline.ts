// Sends several statements on one connection in one message and reads one answer. PostgreSQL answers at each Sync, and each
// answer costs a system call and a wake-up at both ends. This file knows no transactions (transact.ts) and no SQL templates
// (statement.ts). PostgreSQL "Message Flow", Pipelining; pg's `pipeline: true`.
import pg from 'pg';
import { tracedSql } from '../telemetry/statements.ts';
import { pooledStatements, poolingOf } from './pooled.ts';
import type { Statement } from './statement.ts';

// Unnamed, so that a transaction begins even if a pooler has lost the connection's prepared statements.
const plain = (text: string): Statement => ({ text, name: '', values: [] });
export const BEGIN = plain('begin');
export const COMMIT = plain('commit');
export const ROLLBACK = plain('rollback');

/**
 * Runs the statements one after the other and returns the rows of each. After a failure PostgreSQL runs none of the rest, so the
 * caller must roll back a transaction that the statements began.
 * @throws the error of the first statement that failed
 */
export const runPipeline = (client: pg.ClientBase, statements: readonly Statement[]): Promise<object[][]> =>
  tracedSql(statements, async () => {
    const pooling = poolingOf(client);
    if (!pooling) return send(client, statements);
    const { sent, added } = pooledStatements(pooling, statements, client.getTransactionStatus() !== 'I');
    const rows = await send(client, sent);
    return added < 0 ? rows : rows.toSpliced(added, 1);
  });

const send = (client: pg.ClientBase, statements: readonly Statement[]): Promise<object[][]> =>
  new Promise((resolve, reject) => client.query(new Pipeline(statements, resolve, reject)));

/** The statement as pg's query. Each call makes a new object, since pg changes it. Without name and values pg sends plain text. */
export const queryOf = ({ text, name, values }: Statement): pg.QueryConfig =>
  name !== '' ? { text, name, values: [...values] } : values.length > 0 ? { text, values: [...values] } : { text };

/** Private members of pg that its types lack. test/server/db/pg-internals.unit.test.ts fails if a version of pg changes them. */
declare module 'pg' {
  interface Query {
    handleRowDescription(message: unknown): void;
    handleDataRow(message: unknown): void;
    handleCommandComplete(message: unknown, connection: pg.Connection): void;
    handleReadyForQuery(connection: pg.Connection): void;
  }
  interface Connection {
    /** A prepared statement's text by its name. */
    parsedStatements: Record<string, string>;
    submittedNamedStatements: Record<string, string>;
  }
}

/** One statement of a pipeline, without the Sync that pg would send after each. */
class Part extends pg.Query {
  found: object[] = [];
  failure: Error | undefined;
  readonly statement: Statement;
  constructor(statement: Statement) {
    const { text, name, values } = statement;
    const config = { text, values: [...values], queryMode: 'extended', ...(name === '' ? {} : { name }) };
    super(config, (error, result) => {
      if (error) this.failure = error;
      else this.found = result.rows;
    });
    this.statement = statement;
  }
  _getRows(connection: pg.Connection): void {
    connection.execute({ portal: '' }, true);
  }
}

/** The whole pipeline as one query of pg, which accepts no other class. */
class Pipeline extends pg.Query {
  readonly #parts: readonly Part[];
  /** The index of the statement whose answer comes next. */
  #at = 0;
  readonly #parsed: string[] = [];
  readonly #resolve: (rows: object[][]) => void;
  readonly #reject: (error: Error) => void;
  constructor(statements: readonly Statement[], resolve: (rows: object[][]) => void, reject: (error: Error) => void) {
    super('');
    this.#parts = statements.map((statement) => new Part(statement));
    this.#resolve = resolve;
    this.#reject = reject;
    this.submit = (connection) => this.#send(connection);
  }

  #send(connection: pg.Connection): Error | null {
    const { stream, parsedStatements, submittedNamedStatements } = connection;
    stream.cork();
    try {
      for (const part of this.#parts) {
        const { name } = part.statement;
        const known = name === '' || name in parsedStatements || name in submittedNamedStatements;
        if (!known) this.#parsed.push(name);
        part.submit(connection);
        if (part.failure) {
          // pg has closed it and asked for an answer to what came before it; nothing after it is sent.
          this.#parsed.push(name);
          return null;
        }
      }
      connection.sync();
    } finally {
      stream.uncork();
    }
    return null;
  }
  override handleRowDescription(message: unknown): void {
    this.#parts[this.#at]?.handleRowDescription(message);
  }
  override handleDataRow(message: unknown): void {
    this.#parts[this.#at]?.handleDataRow(message);
  }
  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    this.#parts[this.#at]?.handleCommandComplete(message, connection);
    this.#at += 1;
  }
  handleEmptyQuery(): void {
    this.#at += 1;
  }
  handleError(error: Error, connection: pg.Connection): void {
    const { parsedStatements, submittedNamedStatements } = connection;
    // It is unknown which of them are prepared. Closing an unknown statement is no error.
    for (const name of this.#parsed) {
      delete parsedStatements[name];
      delete submittedNamedStatements[name];
      connection.close({ type: 'S', name }, true);
    }
    this.#reject(error);
  }
  override handleReadyForQuery(connection: pg.Connection): void {
    const { parsedStatements, submittedNamedStatements } = connection;
    for (const part of this.#parts) {
      part.handleReadyForQuery(connection);
    }
    const failed = this.#parts.find(({ failure }) => failure)?.failure;
    if (failed) {
      this.handleError(failed, connection);
      return;
    }
    for (const name of this.#parsed) {
      parsedStatements[name] = submittedNamedStatements[name] ?? '';
      delete submittedNamedStatements[name];
    }
    this.#resolve(this.#parts.map(({ found }) => found));
  }
}
