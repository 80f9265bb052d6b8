// COPY into a table by pg, on the caller's client: rows in bulk within a transaction.
// bulk.ts streams on connections of its own. In pipeline mode pg accepts only queries of its own class.
import type { Duplex } from 'node:stream';
import pg from 'pg';

/** A COPY into a table: rows are in COPY's text format ({@link copyRow}). */
export interface CopyIn {
  /** Waits while PostgreSQL is behind. */
  write(text: string): Promise<void>;
  /** Ends the COPY: all its rows are stored. @throws PostgreSQL's error, and then none is */
  finish(): Promise<void>;
  /** Aborts the COPY: none of its rows is stored. */
  abort(): Promise<void>;
}

/** Methods of pg's connection that its types lack. */
interface Wire {
  stream: Duplex;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(why: string): void;
}

class CopyQuery extends pg.Query {
  began: (wire: Wire) => void = () => {};
  handleCopyInResponse(wire: Wire): void {
    this.began(wire);
  }
}

/**
 * Opens a COPY. Send no other query to the client until the COPY has finished or is aborted.
 * @param target `table (column, …)`: the server's own text, never a user's
 */
export async function copyOver(client: pg.ClientBase, target: string): Promise<CopyIn> {
  const { promise: began, resolve: begin } = Promise.withResolvers<Wire>();
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let failure: Error | undefined;
  const query = new CopyQuery(`copy ${target} from stdin`, (error) => {
    failure = error ?? undefined;
    if (error) reject(error);
    else resolve();
  });
  query.began = begin;
  client.query(query);
  const settled = ended.catch(() => {});
  const wire = await Promise.race([began, ended]);
  if (!wire) throw new Error('COPY ended before it began');
  return {
    async write(text) {
      if (failure) throw failure;
      wire.sendCopyFromChunk(Buffer.from(text));
      if (wire.stream.writableNeedDrain)
        await Promise.race([new Promise((drained) => wire.stream.once('drain', drained)), settled]);
    },
    async finish() {
      if (!failure) wire.endCopyFrom();
      await ended;
    },
    async abort() {
      if (!failure) wire.sendCopyFail('given up');
      await settled;
    },
  };
}

const SPECIAL = /[\\\n\r\t]/;
const EVERY_SPECIAL = /[\\\n\r\t]/g;
const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const escaped = (text: string) => (SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (c) => escapes[c] ?? c) : text);

/** One row of COPY's text format; null and undefined are NULL. */
export function copyRow(values: readonly Value[]): string {
  let row = '';
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (i > 0) row += '\t';
    if (value === null || value === undefined) row += '\\N';
    else row += typeof value === 'string' ? escaped(value) : String(value);
  }
  return `${row}\n`;
}

export type Value = string | number | boolean | null | undefined;
