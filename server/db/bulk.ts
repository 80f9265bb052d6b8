// Bulk streams: COPY in and COPY out by postgres.js, each on a connection of its own that ends with the stream.
// Never for anything else: after a query that fails while it streams rows, the next one on that connection gets wrong
// rows (test/server/db/bulk.test.ts keeps the reproduction). Dependencies C; performance technique 7.
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import postgres from 'postgres';

/** A COPY into a table: rows are in COPY's text format (see {@link copyRow}). */
export interface CopyIn {
  /** Waits while PostgreSQL is behind. */
  write(text: string): Promise<void>;
  /** Everything is there, or nothing. */
  finish(): Promise<void>;
  /** Gives up: nothing stays. */
  abort(): Promise<void>;
}

const connect = (url: string) =>
  postgres(url, {
    max: 1,
    prepare: false,
    onnotice: () => {},
    connect_timeout: 10,
    connection: { application_name: 'realmkeeper-bulk' },
  });

/** @param target `table (column, …)`: our own text, never a user's */
export async function copyInto(url: string, target: string): Promise<CopyIn> {
  const sql = connect(url);
  let stream: Writable;
  try {
    stream = await sql.unsafe(`copy ${target} from stdin`).writable();
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw error;
  }
  let failure: Error | undefined;
  // Who waits for room, if anybody: woken by it and by the stream's end alike.
  let wake = () => {};
  stream.on('error', (error: Error) => {
    failure = error;
  });
  stream.on('drain', () => wake());
  stream.on('close', () => wake());
  const check = () => {
    if (failure) throw failure;
  };
  return {
    async write(text) {
      check();
      if (!stream.write(text) && !stream.destroyed)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      check();
    },
    async finish() {
      try {
        check();
        const done = once(stream, 'finish');
        stream.end();
        await done;
        check();
      } finally {
        await sql.end({ timeout: 5 });
      }
    },
    async abort() {
      stream.destroy();
      await sql.end({ timeout: 0 });
    },
  };
}

const SPECIAL = /[\\\n\r\t]/g;
const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One row of COPY's text format; null and undefined are NULL. */
export const copyRow = (values: readonly (string | number | boolean | null | undefined)[]): string => {
  let row = '';
  for (const [i, value] of values.entries()) {
    if (i > 0) row += '\t';
    if (value === null || value === undefined) row += '\\N';
    else if (typeof value === 'string') row += value.replace(SPECIAL, (c) => escapes[c] ?? c);
    else row += String(value);
  }
  return `${row}\n`;
};

/** A text array as PostgreSQL reads it. */
export const pgArray = (list: readonly string[]): string =>
  `{${list.map((s) => `"${s.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;

/**
 * The rows of a query that gives one JSON text column, a line each, as PostgreSQL sends them.
 * @param query our own text, values already in it by {@link literal}; JSON holds no control character, so that CSV with
 *   two of them for quote and delimiter is the text itself
 * @param snapshot of `pg_export_snapshot()`: the rows are of that moment
 */
export async function copyOut(url: string, query: string, snapshot?: string): Promise<Readable> {
  const sql = connect(url);
  try {
    const copy = `copy (${query}) to stdout (format csv, quote e'\\x01', delimiter e'\\x02')`;
    let stream: Readable;
    if (snapshot === undefined) stream = await sql.unsafe(copy).readable();
    else {
      // One connection, so that these statements follow each other on it.
      await sql.unsafe('begin isolation level repeatable read read only');
      await sql.unsafe(`set transaction snapshot ${literal(snapshot)}`);
      stream = await sql.unsafe(copy).readable();
    }
    stream.once('close', () => void sql.end({ timeout: 0 }));
    return stream;
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw error;
  }
}

/** A string as an SQL literal, for the statements that take no parameters. */
export const literal = (text: string): string => {
  if (text.includes('\0')) throw new Error('NUL in a literal');
  return `E'${text.replaceAll(/['\\]/g, (c) => (c === '\\' ? '\\\\' : "''"))}'`;
};
