// The job that removes what deleted realms held, without its work (removal.ts): it is loaded where a realm is being deleted.
import { z } from 'zod';
import type { Sql } from '../../../db/sql.ts';

/** A run ends before the next one is asked for, so that runs never queue up. */
export const RUN_MS = 25_000;

export const removalTerms = {
  name: 'realm-removal',
  schema: z.object({}),
  maxAttempts: 1,
  expireSeconds: 600,
  concurrency: 1,
  everySeconds: 30,
};

/** Whether any realm is being deleted. */
export async function hasRealmsToRemove(sql: Sql): Promise<boolean> {
  const [row] = await sql`select from realm where deleted_at is not null limit 1`;
  return row !== undefined;
}
