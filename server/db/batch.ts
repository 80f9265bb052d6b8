// Statements on one connection in one message each way, by PostgreSQL's extended protocol: prepared once per connection,
// described once, and followed by one Sync, so that after a failure the rest of the batch is skipped.
// It doesn't know transactions (transact.ts) or how SQL is written (statement.ts). Performance: refresh and code exchange.
import pg from 'pg';
import { type Execution, executionsMessage } from './message.ts';
import type { Statement } from './statement.ts';
import { wireText } from './wire-text.ts';

interface Column {
  name: string;
  parse(text: string): unknown;
}
/** What a connection knows of a statement. */
interface Prepared {
  /** undefined until it was described; none where it gives no rows. */
  columns: Column[] | undefined;
  /** Its batch failed, so it may exist or not, or give other columns than before. */
  unsure: boolean;
}

const connections = new WeakMap<pg.Connection, Map<string, Prepared>>();

function preparedOn(connection: pg.Connection): Map<string, Prepared> {
  let prepared = connections.get(connection);
  if (!prepared) {
    prepared = new Map();
    connections.set(connection, prepared);
  }
  return prepared;
}

/** Called by pg's client with each message that answers the batch. */
class Batch implements pg.Submittable {
  readonly #statements: readonly Statement[];
  readonly #rows: object[][];
  readonly #settle: (error: Error | undefined, rows: object[][]) => void;
  readonly #prepared: Prepared[] = [];
  readonly #toParse: { name: string; text: string; again: boolean }[] = [];
  #at = 0;
  #unreadable: Error | undefined;

  constructor(statements: readonly Statement[], settle: (error: Error | undefined, rows: object[][]) => void) {
    this.#statements = statements;
    this.#rows = statements.map(() => []);
    this.#settle = settle;
  }

  /** Gives back why nothing was sent. */
  submit(connection: pg.Connection): Error | null {
    const { stream } = connection;
    try {
      const message = executionsMessage(this.#plan(preparedOn(connection)));
      stream.cork();
      for (const { name, text, again } of this.#toParse) {
        if (again) connection.close({ type: 'S', name }, true);
        connection.parse({ name, text, types: [] }, true);
      }
      if (stream.writable) stream.write(message);
      stream.uncork();
      return null;
    } catch (error) {
      for (const prepared of this.#prepared) prepared.unsure = true;
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #plan(known: Map<string, Prepared>): Execution[] {
    return this.#statements.map(({ name, text, values }) => {
      let prepared = known.get(name);
      if (!prepared || prepared.unsure) {
        this.#toParse.push({ name, text, again: prepared !== undefined });
        prepared = { columns: undefined, unsure: false };
        known.set(name, prepared);
      }
      this.#prepared.push(prepared);
      return { name, values: values.map(wireText), describe: !prepared.columns };
    });
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const prepared = this.#prepared[this.#at];
    if (!prepared) return;
    prepared.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: pg.types.getTypeParser(dataTypeID, 'text'),
    }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const columns = this.#prepared[this.#at]?.columns ?? [];
    const row: Record<string, unknown> = {};
    try {
      for (let i = 0; i < columns.length; i += 1) {
        const [column, text] = [columns[i], fields[i]];
        if (column) row[column.name] = text === null || text === undefined ? null : column.parse(text);
      }
    } catch (error) {
      this.#unreadable ??= error instanceof Error ? error : new Error(String(error));
    }
    this.#rows[this.#at]?.push(row);
  }

  handleCommandComplete(): void {
    const prepared = this.#prepared[this.#at];
    if (prepared) prepared.columns ??= [];
    this.#at += 1;
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handleReadyForQuery(): void {
    this.#settle(this.#unreadable, this.#rows);
  }

  handleError(error: Error): void {
    for (const prepared of this.#prepared) prepared.unsure = true;
    this.#settle(error, []);
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: pg.Connection): void {
    connection.stream.destroy(new Error('COPY needs a stream'));
  }

  handleCopyData(): void {}
}

/**
 * The rows of each statement. They run one after the other; where one fails, those after it don't run, and the promise
 * is rejected. A batch outside a transaction is one by itself, unless it holds `begin` or `commit`.
 */
export const runBatch = (client: pg.ClientBase, statements: readonly Statement[]): Promise<object[][]> =>
  new Promise((resolve, reject) => {
    client.query(new Batch(statements, (error, rows) => (error ? reject(traced(error)) : resolve(rows))));
  });

/** The stack of what came over the wire leads nowhere; this one leads to the one who asked. */
function traced(error: Error): Error {
  Error.captureStackTrace(error, runBatch);
  return error;
}
