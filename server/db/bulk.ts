// Bulk streams: COPY in and COPY out by postgres.js, each on a connection of its own that ends with the stream.
// Never for anything else: after a query that fails while it streams rows, the next one on that connection gets wrong
// rows (test/server/db/bulk.test.ts keeps the reproduction).
import { Readable, type Writable } from 'node:stream';
import { openBulk } from './bulk-connection.ts';
import { type CopyIn, copyRow, type Value } from './copy.ts';

const HIGH_WATER = 256 * 1024;

export interface BulkOptions {
  /** How long PostgreSQL may stay silent, or take no data, while the stream waits for it. */
  longestMs?: number;
}
const TAKES_MS = 60_000;
/** Milliseconds for COPY out: PostgreSQL may have to sort many rows before it sends the first. */
const GIVES_MS = 600_000;

/** Opens a COPY into a table. @param target `table (column, …)`: the server's own text, never a user's */
export async function copyInto(url: string, target: string, options: BulkOptions = {}): Promise<CopyIn> {
  const { sql, waited } = openBulk(url, options.longestMs ?? TAKES_MS);
  const query = sql.unsafe(`copy ${target} from stdin`);
  let stream: Writable;
  try {
    stream = await waited(query.writable());
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw error;
  }
  let failure: Error | undefined;
  // Wakes the writer that waits for room, also at the stream's end.
  let wake = () => {};
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const fail = (error: Error) => {
    failure ??= error;
    reject(error);
    wake();
  };
  // The query's promise was fulfilled when the stream began: a later error would be lost.
  Object.assign(query, { reject: fail });
  stream.on('error', fail);
  stream.on('drain', () => wake());
  stream.on('close', () => wake());
  const check = () => {
    if (failure) throw failure;
  };
  return {
    async write(text) {
      check();
      if (!stream.write(text) && !stream.destroyed)
        await waited(
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
        );
      check();
    },
    async finish() {
      try {
        check();
        // postgres.js takes no query before everything was sent.
        await waited(
          new Promise<void>((resolve) => {
            stream.write('', () => resolve());
          }),
        );
        let accepted = false;
        stream.end(() => {
          accepted = stream.errored === null;
        });
        await new Promise((resolve) => setImmediate(resolve));
        check();
        // PostgreSQL answers this query after the COPY, even a failed one; a refused COPY itself never calls back.
        await waited(Promise.race([sql.unsafe('select 1'), failed]));
        check();
        if (!accepted) throw new Error('PostgreSQL refused the COPY');
      } finally {
        await sql.end({ timeout: 5 });
      }
    },
    async abort() {
      stream.destroy(new Error('given up'));
      await sql.end({ timeout: 0 });
    },
  };
}

/** Rows of one COPY, buffered until they fill a message. The COPY begins with the first row. */
export interface Rows {
  add(values: readonly Value[]): void;
  /** Sends the buffer if it fills a message, and waits while PostgreSQL is behind. */
  flush(): Promise<void>;
  finish(): Promise<void>;
  abort(): Promise<void>;
}

const PIECE = 256 * 1024;

/** Collects rows as text and sends them by COPY, in pieces of 256 KiB; the connection opens with the first piece. */
export function rowsInto(open: () => Promise<CopyIn>): Rows {
  let copy: CopyIn | undefined;
  let buffer = '';
  async function send(): Promise<void> {
    const text = buffer;
    buffer = '';
    copy ??= await open();
    await copy.write(text);
  }
  return {
    add(values) {
      buffer += copyRow(values);
    },
    async flush() {
      if (buffer.length >= PIECE) await send();
    },
    async finish() {
      if (buffer !== '') await send();
      await copy?.finish();
      copy = undefined;
    },
    async abort() {
      await copy?.abort();
      copy = undefined;
    },
  };
}

const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;

/** A text array as PostgreSQL reads it. */
export const pgArray = (list: readonly string[]): string => `{${list.map(quoted).join(',')}}`;

/**
 * Streams the rows of a query with one JSON text column as PostgreSQL sends them: one row per line.
 * @param query the server's own text, with its values written by {@link literal}; JSON holds no control character, so that CSV with
 *   two of them for quote and delimiter is the text itself
 * @param snapshot of `pg_export_snapshot()`: the rows are of that moment
 */
export async function copyOut(
  url: string,
  query: string,
  snapshot?: string,
  options: BulkOptions = {},
): Promise<Readable> {
  return (await startCopyOut(url, query, snapshot, options)).rows;
}

/**
 * As {@link copyOut}, but waits for the connection and its snapshot alone.
 * @returns `rows`, fulfilled when PostgreSQL has the first row: it may have to sort many of them before
 */
export async function startCopyOut(
  url: string,
  query: string,
  snapshot?: string,
  options: BulkOptions = {},
): Promise<{ rows: Promise<Readable> }> {
  const { sql, waiting, waited } = openBulk(url, options.longestMs ?? GIVES_MS);
  /** Ends the connection if the step fails. */
  async function ending<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      await sql.end({ timeout: 0 });
      throw error;
    }
  }
  if (snapshot !== undefined)
    await ending(async () => {
      // One connection, so that these statements follow each other on it; it ends with the stream.
      await waited(sql.unsafe('begin isolation level repeatable read read only'));
      await waited(sql.unsafe(`set transaction snapshot ${literal(snapshot)}`));
      // The planner knows nothing of a realm that was just filled: it expects a row, and joins all users with all their roles in a
      // nested loop, at the cost of the product.
      await waited(sql.unsafe('set local enable_nestloop = off'));
    });
  const rows = ending(async () => {
    const copy = sql.unsafe(`copy (${query}) to stdout (format csv, quote e'\\x01', delimiter e'\\x02')`);
    const source = await waited(copy.readable());
    return relay(source, { cancel: () => copy.cancel(), end: () => sql.end({ timeout: 5 }), waiting });
  });
  // The consumer may have gone before it asks for them.
  rows.catch(() => {});
  return { rows };
}

/**
 * A stream that the consumer can abandon: the source is then cancelled and read to its end. Otherwise its connection would wait
 * for a reader for ever.
 */
function relay(
  source: Readable,
  { cancel, end, waiting }: { cancel(): void; end(): Promise<void>; waiting(): () => void },
): Readable {
  let over = false;
  // The timeout runs only while the consumer reads: a slow consumer makes the connection idle, too.
  let waited = waiting();
  const closed = new Promise<void>((resolve) => source.once('close', resolve)).finally(() => waited());
  const out = new Readable({
    highWaterMark: HIGH_WATER,
    read() {
      if (!source.isPaused()) return;
      waited = waiting();
      source.resume();
    },
    destroy(error, done) {
      if (!over) {
        cancel();
        source.resume();
      }
      closed.then(end).then(
        () => done(error),
        () => done(error),
      );
    },
  });
  source.on('data', (chunk: Buffer) => {
    if (out.destroyed || out.push(chunk)) return;
    waited();
    source.pause();
  });
  source.once('end', () => {
    over = true;
    out.push(null);
  });
  source.once('error', (error) => {
    over = true;
    out.destroy(error);
  });
  return out;
}

/** A string as an SQL literal, for the statements that take no parameters. */
export const literal = (text: string): string => {
  if (text.includes('\0')) throw new Error('NUL in a literal');
  return `E'${text.replaceAll(/['\\]/g, (c) => (c === '\\' ? '\\\\' : "''"))}'`;
};
