// The jobs of syncs with directories, without their code (sync.ts): most servers have no directory and never load it.
import { z } from 'zod';
import type { Sql } from '../../../db/sql.ts';

export const SYNC_JOB = 'directory-sync';
const SyncJob = z.object({
  realm: z.string(),
  id: z.uuid(),
  /** Whether its entries are counted first, for an administrator who waits for it. */
  count: z.boolean().default(false),
});
export type SyncJob = z.output<typeof SyncJob>;
const LOOK_SECONDS = 30;

export const syncTerms = {
  name: SYNC_JOB,
  schema: SyncJob,
  // Only faults of this server are thrown, for example a lost database. Faults of the directory are counted with the sync.
  maxAttempts: 100,
  expireSeconds: 23 * 3_600,
  concurrency: 2,
  group: { of: ({ realm }: SyncJob) => realm, concurrency: 1 },
};

export const scheduleTerms = {
  name: 'directory-schedule',
  schema: z.object({}),
  maxAttempts: 1,
  expireSeconds: 300,
  concurrency: 1,
  everySeconds: LOOK_SECONDS,
};

/** Whether any sync can be due or lost: an enabled directory has a schedule, or a sync has not ended. */
export async function hasSyncs(sql: Sql): Promise<boolean> {
  const [row] = await sql`
    select where exists (select from directory where enabled and schedule > 0)
      or exists (select from directory_sync where state in ('waiting', 'running'))`;
  return row !== undefined;
}
