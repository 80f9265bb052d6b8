// What waits in the queue (pg-boss's table), for metrics and for checks of the installation.
import type { Sql } from '../db/sql.ts';

/** The jobs with something due, by name. @throws pg's error while the queue is not set up */
export const dueJobs = (sql: Sql) => sql<{ name: string; seconds: number }>`
  select name, extract(epoch from now() - min(start_after))::float as seconds
  from pgboss.job where state < 'active' and start_after <= now() group by name order by name`;

export interface LateJobs {
  name: string;
  due: number;
  seconds: number;
  failed: number;
}
const MOST = 20;
/** Jobs that are due for `late` seconds or failed for good within a day. pg-boss deletes what it did after ten minutes. */
export const lateJobs = (sql: Sql, late: number) => sql<LateJobs>`
  select name, count(*) filter (where state < 'active')::int as due,
    coalesce(extract(epoch from now() - min(start_after) filter (where state < 'active')), 0)::int as seconds,
    count(*) filter (where state = 'failed')::int as failed
  from pgboss.job
  where (state < 'active' and start_after < now() - ${late} * interval '1 second')
    or (state = 'failed' and completed_on > now() - interval '1 day')
  group by name order by name limit ${MOST}`;
