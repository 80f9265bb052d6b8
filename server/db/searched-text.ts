// The text of a row that lists and the search look through: the expression of the tables' indexes of trigrams (migrations
// names_of_all_realms and indexes_of_large_realms).
import { Fragment, fragment } from './sql.ts';

/** The columns as one text in lower case, a line for each. @param columns in SQL; the first one is never null */
export const searchedText = ([first = '', ...rest]: readonly string[]): Fragment =>
  new Fragment([`lower(${first}${rest.map((column) => ` || E'\\n' || coalesce(${column}, '')`).join('')})`], []);

/**
 * Condition: the text contains the pattern, without regard to case. A statement with it is not prepared: whether its matches are few, by
 * the index of trigrams, or many, in the order of a list, depends on the pattern.
 * @param pattern for `like`
 */
export const textMatches = (text: Fragment, pattern: string): Fragment =>
  fragment`${Fragment.once('')}${text} like lower(${pattern}::text)`;
