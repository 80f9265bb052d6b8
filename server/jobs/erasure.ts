// What waits in the queue, and what was done a little while ago, says whom it was about by an id. Specification 4.6.
import type { Sql } from '../db/sql.ts';

/** @param pseudonym an id that stands for the person from now on */
export async function eraseFromQueue(sql: Sql, { id, pseudonym }: { id: string; pseudonym: string }): Promise<void> {
  const [queue] = await sql`select where to_regclass('pgboss.job') is not null`;
  if (queue)
    await sql`
      update pgboss.job set data = replace(data::text, ${id}, ${pseudonym})::jsonb, output = replace(output::text, ${id}, ${pseudonym})::jsonb
      where position(${id} in concat(data, output)) > 0`;
}
