// The limits of group administrators: they may change the fields that users can change themselves, and memberships in
// groups within reach. An administrator can't give what they don't hold. Decisions "Admin authentication", "Rights".
import { Problem } from '../../../contract/problem.ts';
import type { User } from '../../../contract/users.ts';
import type { Sql } from '../../../db/sql.ts';
import { groupsBeyond, type Reach } from '../../../domain/reach.ts';
import { sameAddress } from './wire.ts';

/**
 * A group administrator could change these fields by signing in as the user. Attributes follow the user profile's rules for
 * users.
 */
const OPEN = new Set(['email', 'firstName', 'lastName', 'enabled', 'attributes', 'requiredActions', 'groups']);

const beyond = (what: string) =>
  new Problem('privilege-escalation', `This is beyond the groups that you administer: ${what}`);

/** @throws Problem `privilege-escalation` naming the field or the group */
export async function refuseBeyond(
  sql: Sql,
  realm: string,
  reach: Reach,
  { before, after }: { before: User | undefined; after: User },
): Promise<void> {
  // A changed address must be verified again.
  const verified = before?.emailVerified && sameAddress(before.email, after.email);
  if (after.emailVerified && !verified) throw beyond('emailVerified');
  if (before) {
    const changed = Object.entries(after).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof User]),
    );
    const other = changed.find(([field]) => !OPEN.has(field) && field !== 'emailVerified');
    if (other) throw beyond(other[0]);
  } else if (after.roles.length > 0 || after.groups.length === 0)
    throw beyond(after.roles.length > 0 ? 'roles' : 'somebody who is in none of them');
  const had = new Set(before?.groups);
  const has = new Set(after.groups);
  const [group] = await groupsBeyond(sql, realm, reach, [...had.symmetricDifference(has)]);
  if (group !== undefined) throw beyond(group);
}
