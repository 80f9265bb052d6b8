// Erases a user's id from waiting and recently finished jobs of the queue. Specification 4.6.
import type { Sql } from '../db/sql.ts';

/** @param pseudonym an id that replaces the user's from now on */
export async function eraseFromQueue(sql: Sql, { id, pseudonym }: { id: string; pseudonym: string }): Promise<void> {
  const [queue] = await sql`select where to_regclass('pgboss.job') is not null`;
  if (queue)
    await sql`
      update pgboss.job set data = replace(data::text, ${id}, ${pseudonym})::jsonb, output = replace(output::text, ${id}, ${pseudonym})::jsonb
      where position(${id} in concat(data, output)) > 0`;
}
