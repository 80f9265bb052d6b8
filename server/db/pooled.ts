// Owns: what differs on connections through a pooler in transaction mode, such as PgBouncer: each transaction may be on another session.
// Does not own: what needs a session of its own, which goes to DATABASE_DIRECT_URL (server/start.ts).
// Implements: docs/high-availability.md "A connection pooler".
import type pg from 'pg';
import { codeOf } from './error-code.ts';
import { type Statement, statement } from './statement.ts';

export interface Pooling {
  /** The limits of a session, which the pooler would refuse, or give to others. */
  limits: Statement;
  /** The pooler carries prepared statements from one session to another. */
  prepared: boolean;
}

const poolings = new WeakMap<object, Pooling>();

/** @returns undefined for a pool or a client that is PostgreSQL's own */
export const poolingOf = (on: pg.Pool | pg.ClientBase): Pooling | undefined => poolings.get(on);

export const limitsOf = (limits: { statementMs: number; lockMs: number }): Statement => statement`
  select set_config('statement_timeout', ${String(limits.statementMs)}, true),
    set_config('lock_timeout', ${String(limits.lockMs)}, true)`;

export function throughPooler(pool: pg.Pool, pooling: Pooling): void {
  poolings.set(pool, pooling);
  pool.on('connect', (client) => poolings.set(client, pooling));
}

/**
 * One message's statements as they go through a pooler: with the limits at the begin of each transaction, which is the message itself
 * where it begins none.
 * @param inside whether the client is in a transaction
 * @returns the statements, and the index of the added one
 */
export function pooledStatements(
  { limits, prepared }: Pooling,
  statements: readonly Statement[],
  inside: boolean,
): { sent: Statement[]; added: number } {
  const begins = statements[0]?.text === 'begin';
  const added = inside ? -1 : begins ? 1 : 0;
  const all = added < 0 ? [...statements] : statements.toSpliced(added, 0, limits);
  return { sent: prepared ? all : all.map((one) => (one.name === '' ? one : { ...one, name: '' })), added };
}

const DIRECT = 'Let DATABASE_URL lead to a pool in transaction mode and DATABASE_DIRECT_URL to the database itself.';

/**
 * Checks that the pooler keeps a transaction on one session, and prepared statements if they are wanted.
 * @throws Error with what to do
 */
export async function checkPooler(pool: pg.Pool, { prepared }: Pick<Pooling, 'prepared'>): Promise<void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    await client.query('select');
    await client.query('commit');
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    if (/statement pooling|not allowed in statement/i.test(broken.message))
      throw new Error(`The connection pooler is in statement mode, which has no transactions. ${DIRECT}`, {
        cause: error,
      });
    throw error;
  } finally {
    client.release(broken);
  }
  if (prepared) await checkPrepared(pool);
}

/** Two clients prepare a statement by the same name, one after the other: a pooler without support gives both one session. */
async function checkPrepared(pool: pg.Pool): Promise<void> {
  const name = `realmkeeper_${process.pid}_${Date.now().toString(36)}`;
  const clients = await Promise.all([pool.connect(), pool.connect()]);
  try {
    for (let again = 0; again < 2; again += 1)
      for (const client of clients) await client.query({ name, text: 'select 1', values: [] });
  } catch (error) {
    // "already exists", or "does not exist" in the session that it came to
    if (!['42P05', '26000'].includes(codeOf(error))) throw error;
    throw new Error(
      'The connection pooler does not keep prepared statements: set max_prepared_statements in PgBouncer 1.21 or newer, or leave out SVC_DATABASE_PREPARED.',
      { cause: error },
    );
  } finally {
    for (const client of clients) client.release(true);
  }
}
