// Owns: deleting what has expired, in small batches, by the clock. Whoever reads a row checks its expiry nevertheless.
// Does not own: audit events and the users' history, whose retention is policy and not tidiness.
// Implements: design "Jobs".
import { z } from 'zod';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import { type Job, job } from './job.ts';

const BATCH = 1_000;
/** A run ends before its job counts as lost; the next one goes on. */
const BATCHES = 100;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Expiry {
  table: Fragment;
  /** Which rows of `row` are of no more use. */
  gone(now: Date): Fragment;
}
const before = (now: Date, ms: number) => new Date(now.getTime() - ms);

const expiries: readonly Expiry[] = [
  { table: fragment`sign_in`, gone: (now) => fragment`expires_at < ${now}` },
  // Kept a while: a second use is recognised as one.
  { table: fragment`authorization_code`, gone: (now) => fragment`expires_at < ${before(now, HOUR)}` },
  {
    table: fragment`refresh_family`,
    gone: (now) => fragment`(expires_at < ${now} or revoked_at < ${before(now, DAY)})`,
  },
  {
    table: fragment`session`,
    // Its refresh tokens go with a session, so it stays while one of them is good.
    gone: (now) => fragment`expires_at < ${now} and not exists (
      select from refresh_family f where f.realm_id = row.realm_id and f.session_id = row.id and f.revoked_at is null)`,
  },
  { table: fragment`revoked_token`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`client_assertion`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`admin_session`, gone: (now) => fragment`expires_at < ${now}` },
  { table: fragment`webhook_delivery`, gone: (now) => fragment`created_at < ${before(now, 30 * DAY)}` },
  { table: fragment`import_user`, gone: (now) => fragment`started_at < ${before(now, DAY)}` },
];

/** Deletes what has expired; gives the number of rows. */
export async function sweep(sql: Sql, now: Date): Promise<number> {
  let total = 0;
  for (const { table, gone } of expiries) {
    for (let i = 0; i < BATCHES; i += 1) {
      const deleted = await sql`
        delete from ${table} where ctid = any(array(select ctid from ${table} row where ${gone(now)} limit ${BATCH}))
        returning 1`;
      total += deleted.length;
      if (deleted.length < BATCH) break;
    }
  }
  return total;
}

export const janitor = ({ sql, now }: { sql: Sql; now(): Date }): Job =>
  job({
    name: 'janitor',
    schema: z.object({}),
    maxAttempts: 1,
    expireSeconds: 600,
    concurrency: 1,
    everySeconds: 600,
    run: async () => void (await sweep(sql, now())),
  });
