// How long jobs of the queue (pg-boss's table) have been due, for metrics: read by its own index of what waits.
import type { Sql } from '../db/sql.ts';

/** The jobs with something due, by name. @throws pg's error while the queue is not set up */
export const dueJobs = (sql: Sql) => sql<{ name: string; seconds: number }>`
  select name, extract(epoch from now() - min(start_after))::float as seconds
  from pgboss.job where state < 'active' and start_after <= now() group by name order by name`;
