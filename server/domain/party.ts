// A user as audit events name them.
import type { Party } from '../contract/events.ts';
import { isUuid } from '../crypto/ids.ts';
import type { Sql } from '../db/sql.ts';

/** A user as actor or subject of an audit event. */
export const userParty = (id: string | null, name: string | null): Party => ({ type: 'user', id, name });

/**
 * The user with the present username, for an event of code that knows the id alone. A deleted user is named by the id, an
 * erased one by the pseudonym.
 */
export async function namedUser(sql: Sql, realm: string, id: string | null): Promise<Party | null> {
  if (id === null) return null;
  const [user] = isUuid(id)
    ? await sql<{ username: string }>`select username from realm_user where realm_id = ${realm} and id = ${id}`
    : [];
  return userParty(id, user?.username ?? null);
}
