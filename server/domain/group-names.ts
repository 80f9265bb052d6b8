// Group names that contain a slash, as other systems have them. A path joins names by slashes, so such a name is stored with `%2F`
// for each slash. Pure.
import { type Fragment, fragment } from '../db/sql.ts';

const SLASH = '%2F';

/** The name as a group can have it: `Sales/EMEA` is `Sales%2FEMEA`. */
export const escapedGroupName = (name: string): string => name.replaceAll('/', SLASH);

/** A path, or a part of one, as other systems read it: with the slashes of names. */
export const shownGroupPath = (path: string): string => path.replaceAll(SLASH, '/');

/** The same in SQL, as the index of migration group_shown_path has it. */
export const shownGroupPathSql = (path: Fragment): Fragment => fragment`replace(${path}, '%2F', '/')`;
