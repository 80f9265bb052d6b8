// Adds and removes many members of one group in a constant number of statements, with the same consequences as
// memberships.ts has for each user. Decisions "Group", "Rights".
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import { fragment } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import type { AdminRights } from '../../../domain/admin-rights.ts';
import type { Principal } from '../../../domain/principal.ts';

export interface MemberChange {
  add: readonly string[];
  /** `others`: all members that are not in `add`. */
  remove: readonly string[] | 'others';
}

export function createGroupMembers({ access }: { access: Pick<AdminRights, 'covers'> }) {
  /**
   * @returns the number of users that joined or left. @throws Problem `invalid-request`: the realm doesn't have one of the
   * users
   */
  return async (
    { sql, record }: Pick<Tx, 'sql' | 'record'>,
    { principal, by }: { principal: Principal; by: By },
    realm: string,
    group: string,
    { add, remove }: MemberChange,
  ): Promise<number> => {
    const [unknown] = await sql<{ id: string }>`
      select id from unnest(${add}::uuid[]) as wanted (id)
      where not exists (select from realm_user u where u.realm_id = ${realm} and u.id = wanted.id) limit 1`;
    if (unknown) {
      const errors = [{ path: 'members', message: `${unknown.id} is no user’s id` }];
      throw new Problem('invalid-request', undefined, { errors });
    }
    const gone =
      remove === 'others' ? fragment`user_id <> all(${add}::uuid[])` : fragment`user_id = any(${remove}::uuid[])`;
    const changed = await sql<{ id: string; username: string }>`
      with gone as (
        delete from group_member where realm_id = ${realm} and group_id = ${group} and ${gone} returning user_id
      ), come as (
        insert into group_member (realm_id, group_id, user_id)
        select ${realm}, ${group}, id from unnest(${add}::uuid[]) as wanted (id)
        on conflict do nothing returning user_id
      )
      select u.id, u.username from realm_user u
      where u.realm_id = ${realm} and u.id in (select user_id from gone union all select user_id from come)`;
    if (changed.length === 0) return 0;
    const userIds = changed.map(({ id }) => id);
    if (!(await access.covers(principal, realm, { userIds }, sql)))
      throw new Problem('privilege-escalation', 'One of the users holds admin permissions that you do not hold');
    for (const { id, username } of changed) {
      const subject = { type: 'user', id, name: username } as const;
      record({ type: 'USER_UPDATED', realm, by, subject, data: { fields: ['groups'] } });
    }
    return changed.length;
  };
}
export type ChangeMembers = ReturnType<typeof createGroupMembers>;
