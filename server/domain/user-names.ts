// Finds a user by a typed username. One name has several spellings in Unicode (`é` is one character or two, a keyboard may
// write wide letters), so names are compared in one form: RFC 8265 §3.3. Usernames are unique in that form, save for users
// from before it counted: for them the exact spelling goes first.
import { type Fragment, fragment } from '../db/sql.ts';

/**
 * Folds a name almost as the database does. If the database finds two names equal that this function keeps apart, it rejects the
 * write.
 */
export const foldedName = (name: string): string => name.normalize('NFKC').toLowerCase();

/**
 * The id of the user with this username, in any case and Unicode form. Each way has its index.
 * @param username the name, or a column
 */
export const idOfUserNamed = (realm: string, username: string | Fragment): Fragment => fragment`
  select n.id from (
    select id, 1 as place from realm_user where realm_id = ${realm} and lower(username) = lower(${username}::text)
    union all
    select id, 2 from realm_user where realm_id = ${realm} and lower(username) = lower(normalize(${username}::text, NFKC))
    union all
    select id, 3 from realm_user where realm_id = ${realm} and lower(normalize(username, NFKC)) <> lower(username)
      and lower(normalize(username, NFKC)) = lower(normalize(${username}::text, NFKC))
    order by place limit 1) n`;

/**
 * The names among these that are the user's, as {@link idOfUserNamed} finds users. The database alone compares names:
 * JavaScript takes `νίκος` and `ΝΊΚΟΣ` for one name, and the database for two users.
 * @param user the user's row
 */
export const namesOfUser = (
  realm: string,
  user: { id: Fragment; username: Fragment },
  names: readonly string[],
) => fragment`array(
    select given.name from unnest(${names}::text[]) as given (name)
    where lower(normalize(given.name, NFKC)) = lower(normalize(${user.username}, NFKC))
      and ${user.id} = (${idOfUserNamed(realm, fragment`given.name`)}))`;

/**
 * The lower-case forms of a name that Unicode takes for one and the database for several: a Greek name ends in `ς`, and
 * the database makes `σ` of a capital there. Applications compare names as Unicode does, so no new user gets such a name.
 */
export function lowerForms(username: string): string[] {
  const lower = username.normalize('NFKC').toLowerCase();
  return [...new Set([lower, lower.replaceAll('ς', 'σ')])];
}
