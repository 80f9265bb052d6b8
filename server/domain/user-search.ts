// What people are searched by: anywhere in one text that an index of trigrams holds (migration user_search), or where the database
// has no such index, by how the username, the address or a name begins (migration user_filters).
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

const searched = fragment`lower(u.username || E'\\n' || coalesce(u.email, '') || E'\\n' || coalesce(u.first_name, '') || ' ' || coalesce(u.last_name, ''))`;

/** That the username, the address or the name of the user `u` has it; for `pattern` as `like` takes it. */
export const holding = (pattern: string): Fragment => fragment`${searched} like lower(${pattern})`;

/** The same where an index finds it, or else that one of them begins so; for `%…%`. */
export async function matching(sql: Sql, pattern: string): Promise<Fragment> {
  const [index] = await sql`select where to_regclass('realm_user_search') is not null`;
  if (index) return holding(pattern);
  const begins = pattern.slice(1).toLowerCase();
  return fragment`(lower(u.username) like ${begins} or lower(u.email) like ${begins}
    or lower(u.first_name) like ${begins} or lower(u.last_name) like ${begins})`;
}
