// SQL of what a person sees of themselves.
import type { Sql } from '../../db/sql.ts';

export interface Profile {
  username: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
}

export async function enabledPerson(
  sql: Sql,
  realm: string,
  id: string | null,
): Promise<{ userId: string; username: string } | undefined> {
  const [row] = await sql<{ userId: string; username: string }>`
    select id as "userId", username from realm_user where realm_id = ${realm} and id = ${id} and enabled`;
  return row;
}

export const profile = async (sql: Sql, realm: string, userId: string) =>
  (
    await sql<Profile>`
      select username, email, first_name, last_name
      from realm_user where realm_id = ${realm} and id = ${userId}`
  )[0];
