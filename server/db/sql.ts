// The one way to speak to PostgreSQL on the request path: a tagged template over pg with prepared statements.
// It doesn't open transactions (transact.ts), stream in bulk (bulk.ts) or know any table.
// A prepared statement is the fastest form of pg.
import pg from 'pg';
import { tracedSql } from '../telemetry/statements.ts';
import { closeDeadPeers, KEEP_ALIVE } from './dead-peer.ts';
import { connectionTo } from './hosts.ts';
import { queryOf, runPipeline } from './pipeline.ts';
import { limitsOf, poolingOf, throughPooler } from './pooled.ts';
import { type Statement, statement } from './statement.ts';

export { Fragment, fragment } from './statement.ts';

/** Runs one statement and returns its rows; the query states its row type. @throws pg's error, with a SQLSTATE in `code` */
export type Sql = <Row extends object = Record<string, never>>(
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
) => Promise<Row[]>;

/** `Sql` over a pool (each statement on any connection) or over one client (inside its transaction). */
export const sqlOver =
  (on: pg.Pool | pg.PoolClient | pg.Client): Sql =>
  async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
    const query = statement(strings, ...values);
    if (poolingOf(on)) return (await runPooled(on, query)) as Row[];
    const { rows } = await tracedSql([query], () => on.query<Row>(queryOf(query)));
    return rows;
  };

/** A single statement through a pooler, with its limits. */
async function runPooled(on: pg.Pool | pg.ClientBase, query: Statement): Promise<object[]> {
  if (!(on instanceof pg.Pool)) return (await runPipeline(on, [query]))[0] ?? [];
  const client = await on.connect();
  let broken: Error | undefined;
  try {
    return (await runPipeline(client, [query]))[0] ?? [];
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(broken);
  }
}

const INT8 = 20;
// Our int8 columns are counts and revisions, far below 2^53; as text they would compare wrongly.
pg.types.setTypeParser(INT8, Number);

export interface PoolOptions {
  max?: number;
  /** Called with the error of an idle connection that broke. */
  lost?: (error: Error) => void;
  /** Milliseconds for one statement. It bounds what a bad query can hold, and how long a silent peer counts as working. */
  longestMs?: number;
  /** The address leads to a pooler in transaction mode; `prepared` if it keeps prepared statements. */
  pooler?: { prepared: boolean } | undefined;
}

/** Milliseconds that a statement waits for a lock; then the client gets 503. Clients wait no longer for an answer. */
const LOCK_MS = 10_000;

/** Opens the request path's pool. */
export function openPool(
  url: string,
  { max = 10, lost = () => {}, longestMs = 30_000, pooler }: PoolOptions = {},
): pg.Pool {
  const pool = new pg.Pool({
    ...connectionTo(url),
    max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // a pooler refuses settings of a session
    ...(pooler ? {} : { statement_timeout: longestMs, lock_timeout: LOCK_MS }),
    ...KEEP_ALIVE,
    application_name: 'realmkeeper',
    // statements that are asked for at once share a trip
    pipeline: true,
  });
  if (pooler) throughPooler(pool, { ...pooler, limits: limitsOf({ statementMs: longestMs, lockMs: LOCK_MS }) });
  pool.on('error', lost);
  // The pool doesn't listen to a client that it has lent out, and an error without a listener ends the process. The
  // client's next statement fails with the error.
  pool.on('connect', (client) => client.on('error', () => {}));
  closeDeadPeers(pool, longestMs);
  return pool;
}
