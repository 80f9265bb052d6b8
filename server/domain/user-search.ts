// The search for users, without regard to case and accents (`search_form`). With an index of trigrams (migration user_search) the text
// is found anywhere; without one, at the beginning of the username, the address or a name (migration search_without_accents). The index
// serves no text of one or two characters: among many users such a text is found at those beginnings, too.
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

const searched = fragment`search_form(u.username || E'\\n' || coalesce(u.email, '') || E'\\n' || coalesce(u.first_name, '') || ' ' || coalesce(u.last_name, ''))`;

/** Condition: the username, the address or the name of the user `u` contains the text. @param pattern for `like` */
export const userContains = (pattern: string): Fragment => fragment`${searched} like search_form(${pattern}::text)`;

const TRIGRAM = 3;
/** A letter with its accent counts as one. @param pattern `%…%`, in which a backslash takes the next character literally */
export const isShort = (pattern: string): boolean =>
  [...pattern.slice(1, -1).normalize('NFC').replaceAll(/\\(.)/gsu, '$1')].length < TRIGRAM;

/**
 * For a text that is too short for the index: the condition that the username, the address, the first or the last name begins with it. A
 * line's beginning or a blank before a word is part of its trigrams, so the index finds even one letter there.
 * @returns undefined: {@link userMatches} has an index
 */
export function userBegins(pattern: string): Fragment | undefined {
  if (!isShort(pattern)) return undefined;
  const begins = pattern.slice(1);
  return fragment`(${searched} like search_form(${begins}::text)
    or ${searched} like search_form(${`%\n${begins}`}::text) or ${searched} like search_form(${`% ${begins}`}::text))`;
}

/** Up to this many matches of a field are read by its index. With more matches, any order of reading soon meets some. */
const MOST_OF_FIELD = 2_000;

/** {@link userContains} if the index exists; else the condition that one of the fields begins with the text. @param pattern `%…%` */
export async function userMatches(sql: Sql, realm: string, pattern: string): Promise<Fragment> {
  const [index] = await sql`select where to_regclass('realm_user_search') is not null`;
  if (index) return userContains(pattern);
  const begins = fragment`search_form(${pattern.slice(1)}::text)`;
  // The planner estimates the number of matches badly and would read all users for a few at the end, so the matches are counted first.
  const of = (field: number, column: Fragment) => fragment`(
    select ${field}::int as field, u.id from realm_user u where u.realm_id = ${realm} and ${column} like ${begins}
    limit ${MOST_OF_FIELD + 1})`;
  const columns = [
    fragment`search_form(u.username)`,
    fragment`search_form(u.email)`,
    fragment`search_form(u.first_name)`,
    fragment`search_form(u.last_name)`,
  ] as const;
  const found = await sql<{ field: number; id: string }>`
    ${of(0, columns[0])} union all ${of(1, columns[1])} union all ${of(2, columns[2])} union all ${of(3, columns[3])}`;
  const counts = Map.groupBy(found, ({ field }) => field).values();
  if (counts.every(({ length }) => length <= MOST_OF_FIELD))
    return fragment`u.id = any(${[...new Set(found.map(({ id }) => id))]}::uuid[])`;
  return fragment`(${columns[0]} like ${begins} or ${columns[1]} like ${begins}
    or ${columns[2]} like ${begins} or ${columns[3]} like ${begins})`;
}
