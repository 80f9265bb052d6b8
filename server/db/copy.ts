// COPY into a table by pg, on a client that is the caller's: rows in bulk within a transaction.
// Streams on connections of their own are bulk.ts's. pg's pipeline mode takes no query but one of its own class.
import type { Duplex } from 'node:stream';
import pg from 'pg';

/** A COPY into a table: rows are in COPY's text format ({@link copyRow}). */
export interface CopyIn {
  /** Waits while PostgreSQL is behind. */
  write(text: string): Promise<void>;
  /** Everything is there, or nothing. */
  finish(): Promise<void>;
  /** Gives up: nothing stays. */
  abort(): Promise<void>;
}

/** What pg's connection can do besides what its types say. */
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
 * Nothing else may be asked of the client until it is finished or aborted.
 * @param target `table (column, …)`: our own text, never a user's
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
