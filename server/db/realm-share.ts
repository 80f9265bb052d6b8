// Owns: each realm's share of the pool's connections, so that a realm whose rows are locked, as by a large import or a
// deletion, leaves connections to all others.
// Does not own: the sharing itself (schedule/bulkhead.ts), how long a statement usually waits for a lock (sql.ts).
// Implements: specification 1, "A change in one realm never affects another".
import type pg from 'pg';
import type { Bulkhead } from '../schedule/bulkhead.ts';
import { codeOf, LOCKED } from './error-code.ts';
import { BEGIN, COMMIT, ROLLBACK, runPipeline } from './pipeline.ts';
import type { Sql } from './sql.ts';
import { type Statement, statement } from './statement.ts';

/** A statement that meets a lock fails soon (55P03). */
export const SHORT_LOCK_TIMEOUT: Statement = statement`set local lock_timeout = '50ms'`;
/** The most tries with a short lock timeout; the client has given up by then. */
const TRIES = 100;

/** Runs `work` with one of the realm's connections. On one of the last, it runs again until it meets no lock. */
export async function withinShare<T>(
  bulkhead: Bulkhead,
  realm: string,
  work: (shortLocks: boolean) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    // No promise where there is room, which is nearly always.
    const place = bulkhead.acquire(realm);
    if (place) await place;
    const shortLocks = bulkhead.nearlyFull();
    try {
      return await work(shortLocks);
    } catch (error) {
      if (!shortLocks || codeOf(error) !== LOCKED || tries === TRIES) throw error;
    } finally {
      bulkhead.release(realm);
    }
  }
}

/** An `Sql` for single writes outside a transaction. They may wait for a lock too, so they count against the realm's share. */
export type RealmSql = (realm: string) => Sql;

export const realmSqlOver =
  (bulkhead: Bulkhead, pool: pg.Pool, sql: Sql): RealmSql =>
  (realm) =>
  <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) =>
    withinShare(bulkhead, realm, async (shortLocks) =>
      shortLocks
        ? ((await withShortLocks(pool, statement(strings, ...values))) as Row[])
        : sql<Row>(strings, ...values),
    );

async function withShortLocks(pool: pg.Pool, wanted: Statement): Promise<object[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const [, , rows = []] = await runPipeline(client, [BEGIN, SHORT_LOCK_TIMEOUT, wanted, COMMIT]);
    return rows;
  } catch (error) {
    // A connection whose rollback fails is not given back to the pool.
    await runPipeline(client, [ROLLBACK]).catch((e: Error) => {
      broken = e;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
