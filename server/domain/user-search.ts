// What people are searched by: anywhere in one text that an index of trigrams holds (migration user_search), or where the database
// has no such index, by how the username, the address or a name begins (migration user_filters).
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

const searched = fragment`lower(u.username || E'\\n' || coalesce(u.email, '') || E'\\n' || coalesce(u.first_name, '') || ' ' || coalesce(u.last_name, ''))`;

/** That the username, the address or the name of the user `u` has it; for `pattern` as `like` takes it. */
export const userContains = (pattern: string): Fragment => fragment`${searched} like lower(${pattern})`;

/** As many of a field are taken by its index; of more, some are near in whatever order. */
const MOST_OF_FIELD = 2_000;

/** The same where an index finds it, or else that one of them begins so; for `%…%`. */
export async function userMatches(sql: Sql, realm: string, pattern: string): Promise<Fragment> {
  const [index] = await sql`select where to_regclass('realm_user_search') is not null`;
  if (index) return userContains(pattern);
  const begins = pattern.slice(1).toLowerCase();
  // The planner guesses badly how many begin so, and would read everybody for a few who come last: so they are counted.
  const of = (field: number, column: Fragment) => fragment`(
    select ${field}::int as field, u.id from realm_user u where u.realm_id = ${realm} and ${column} like ${begins}
    limit ${MOST_OF_FIELD + 1})`;
  const columns = [
    fragment`lower(u.username)`,
    fragment`lower(u.email)`,
    fragment`lower(u.first_name)`,
    fragment`lower(u.last_name)`,
  ] as const;
  const found = await sql<{ field: number; id: string }>`
    ${of(0, columns[0])} union all ${of(1, columns[1])} union all ${of(2, columns[2])} union all ${of(3, columns[3])}`;
  const counts = Map.groupBy(found, ({ field }) => field).values();
  if (counts.every(({ length }) => length <= MOST_OF_FIELD))
    return fragment`u.id = any(${[...new Set(found.map(({ id }) => id))]}::uuid[])`;
  return fragment`(${columns[0]} like ${begins} or ${columns[1]} like ${begins}
    or ${columns[2]} like ${begins} or ${columns[3]} like ${begins})`;
}
