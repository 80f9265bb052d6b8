// What people are searched by, as one text that an index holds (migration user_search).
import { type Fragment, fragment } from '../db/sql.ts';

const searched = fragment`lower(u.username || E'\\n' || coalesce(u.email, '') || E'\\n' || coalesce(u.first_name, '') || ' ' || coalesce(u.last_name, ''))`;

/** That the username, the address or the name of the user `u` has it; for `pattern` as `like` takes it. */
export const holding = (pattern: string): Fragment => fragment`${searched} like lower(${pattern})`;
