// The one way to speak to PostgreSQL on the request path: a tagged template over pg with named statements.
// It doesn't open transactions (transact.ts), stream in bulk (bulk.ts) or know any table.
// Design: "db/" in README, dependencies C (a named statement is the fastest form of pg).
import { createHash } from 'node:crypto';
import pg from 'pg';

/** A piece of SQL with its values, made by {@link fragment}; it is spliced into the statement, never sent as a value. */
export class Fragment {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** Runs one statement and gives its rows. The row type is stated where the query stands. */
export type Sql = <Row extends object = Record<string, never>>(
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
) => Promise<Row[]>;

/** Makes a piece of SQL to be spliced into another: `sql\`select … where ${fragment\`id = ${id}\`}\``. */
export const fragment = (strings: TemplateStringsArray, ...values: readonly unknown[]) => new Fragment(strings, values);

const names = new Map<string, string>();

/** Named statements stay prepared on their connection; the name is derived from the text, so it never collides. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
    names.set(text, name);
  }
  return name;
}

function render(strings: readonly string[], values: readonly unknown[], out: { text: string; values: unknown[] }) {
  for (const [i, string] of strings.entries()) {
    out.text += string;
    if (i >= values.length) continue;
    const value = values[i];
    if (value instanceof Fragment) render(value.strings, value.values, out);
    else out.text += `$${out.values.push(value)}`;
  }
  return out;
}

/** The statement as pg takes it: `{text, values, name}`. */
export function statement(strings: readonly string[], values: readonly unknown[]) {
  const { text, values: flat } = render(strings, values, { text: '', values: [] });
  return { text, values: flat, name: nameOf(text) };
}

/** `Sql` over a pool (each statement on any connection) or over one client (inside its transaction). */
export const sqlOver =
  (on: pg.Pool | pg.PoolClient | pg.Client): Sql =>
  async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
    const result = await on.query<Row>(statement(strings, values));
    return result.rows;
  };

const INT8 = 20;
// Our int8 columns are counts and revisions, far below 2^53; as text they would compare wrongly.
pg.types.setTypeParser(INT8, Number);

/**
 * Opens the request path's pool. `statement_timeout` bounds what one bad query can hold; `lost` hears of connections that
 * broke while nobody used them.
 */
export function openPool(
  url: string,
  { max = 10, lost = () => {} }: { max?: number; lost?: (error: Error) => void } = {},
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: 30_000,
    application_name: 'realmkeeper',
  });
  pool.on('error', lost);
  // The pool doesn't listen to a client that it has lent out, and an error that nobody hears ends the process. Whoever
  // holds the client is told by the next statement.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
