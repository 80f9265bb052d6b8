// Owns: a single user's roles and groups: listing them with their sources, adding and removing one.
// Does not own: users as a whole (service.ts), roles and groups themselves (roles, groups), how they reach tokens (domain/person.ts).
// Implements: decisions "Role", "Group", "Rights"; specification 4.10.
import type { By } from '../../../contract/events.ts';
import type { HeldRole } from '../../../contract/memberships.ts';
import { Problem } from '../../../contract/problem.ts';
import type { User } from '../../../contract/users.ts';
import { changedMeanwhile } from '../../../db/error-code.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Principal } from '../../../domain/principal.ts';
import { readProfile, visibleTo } from '../../../domain/user-profile.ts';
import { inGroup, list } from './search.ts';
import * as store from './store.ts';
import { toWire } from './wire.ts';

interface Caller {
  principal: Principal;
  by: By;
}
/** A role or a group that the user should have or not have. */
interface Tie {
  id: string;
  has: boolean;
}

interface Found {
  held: boolean;
  field: 'roles' | 'clientRoles' | 'groups';
}

const missing = (what: string) => new Problem('not-found', `There is no such ${what}`);

/**
 * All sources of a user's roles: direct ones, groups and the groups above them, and roles that contain other roles, at any
 * depth.
 */
const sources = (realm: string, userId: string) => fragment`
  with recursive inside (group_id) as (
    select group_id from group_member where realm_id = ${realm} and user_id = ${userId}
    union
    select g.parent_id from inside i join user_group g on g.realm_id = ${realm} and g.id = i.group_id
    where g.parent_id is not null
  ), source (role_id, way, via) as (
    select role_id, 'direct', null::uuid from user_role where realm_id = ${realm} and user_id = ${userId}
    union
    select gr.role_id, 'group', gr.group_id from inside i
    join group_role gr on gr.realm_id = ${realm} and gr.group_id = i.group_id
    union
    select rc.child_id, 'composite', rc.role_id from source s
    join role_composite rc on rc.realm_id = ${realm} and rc.role_id = s.role_id
  )`;
const direct = (realm: string, userId: string) => fragment`
  with source (role_id, way, via) as (
    select role_id, 'direct', null::uuid from user_role where realm_id = ${realm} and user_id = ${userId}
  )`;

export function createMemberships({
  sql,
  transact,
  mustCover,
}: {
  sql: Sql;
  transact: Transact;
  /** Throws unless the caller holds all permissions that the user holds. */
  mustCover(principal: Principal, realm: string, userId: string, on: Sql): Promise<void>;
}) {
  async function load(on: Sql, realm: string, userId: string): Promise<User> {
    const row = await store.find(on, realm, userId);
    if (!row) throw missing('user');
    return toWire(row);
  }

  /** A change that is in effect already writes nothing. Removing a missing tie is an error. */
  const change = (
    { principal, by }: Caller,
    { realm, userId, tie }: { realm: string; userId: string; tie: Tie },
    { find, write }: { find(on: Sql): Promise<Found>; write(on: Sql): Promise<unknown[]> },
  ): Promise<void> =>
    transact(realm, async ({ sql: on, record }) => {
      const { id, username } = await load(on, realm, userId);
      const { held, field } = await find(on);
      await mustCover(principal, realm, userId, on);
      if (held === tie.has) {
        if (tie.has) return;
        throw new Problem(
          'not-found',
          field === 'groups' ? 'The user is not in this group' : 'The user does not hold this role directly',
        );
      }
      await store.lock(on, realm, userId);
      if ((await write(on)).length === 0) throw changedMeanwhile('the same was written');
      const subject = { type: 'user', id, name: username } as const;
      record({ type: 'USER_UPDATED', realm, by, subject, data: { fields: [field] } });
    });

  return {
    async roles(
      realm: string,
      userId: string,
      { effective, after, limit }: { effective: boolean; after: readonly string[] | undefined; limit: number },
    ): Promise<HeldRole[]> {
      await load(sql, realm, userId);
      return sql<HeldRole>`
        ${effective ? sources(realm, userId) : direct(realm, userId)}
        select r.id, r.name, c.client_id as "clientId", r.description, (
          select jsonb_agg(jsonb_build_object('by', s.way, 'name', coalesce(g.path, p.name), 'clientId', pc.client_id)
            order by s.way, pc.client_id, coalesce(g.path, p.name))
          from source s
            left join user_group g on s.way = 'group' and g.realm_id = ${realm} and g.id = s.via
            left join role p on s.way = 'composite' and p.realm_id = ${realm} and p.id = s.via
            left join client pc on pc.realm_id = ${realm} and pc.id = p.client
          where s.role_id = r.id) as "from"
        from role r left join client c on c.realm_id = r.realm_id and c.id = r.client
        where r.realm_id = ${realm} and r.id in (select role_id from source)
          ${after ? fragment`and (coalesce(c.client_id, ''), r.name) > (${after[0]}, ${after[1]})` : fragment``}
        order by coalesce(c.client_id, ''), r.name limit ${limit}`;
    },

    role: (caller: Caller, realm: string, userId: string, tie: Tie): Promise<void> =>
      change(
        caller,
        { realm, userId, tie },
        {
          async find(on) {
            const [role] = await on<{ client: string | null; held: boolean }>`
              select client, exists (select from user_role ur
                where ur.realm_id = r.realm_id and ur.user_id = ${userId} and ur.role_id = r.id) as held
              from role r where r.realm_id = ${realm} and r.id = ${tie.id}`;
            if (!role) throw missing('role');
            return { held: role.held, field: role.client === null ? 'roles' : 'clientRoles' };
          },
          write: (on) =>
            tie.has
              ? on`insert into user_role (realm_id, user_id, role_id) values (${realm}, ${userId}, ${tie.id})
                  on conflict do nothing returning role_id`
              : on`delete from user_role where realm_id = ${realm} and user_id = ${userId} and role_id = ${tie.id}
                  returning role_id`,
        },
      ),

    async members(realm: string, group: string, { after, limit }: { after: string; limit: number }): Promise<User[]> {
      const [there] = await sql`select from user_group where realm_id = ${realm} and id = ${group}`;
      if (!there) throw missing('group');
      const [users, profile] = await Promise.all([
        list(sql, realm, { after, limit }, [inGroup(realm, group)]),
        readProfile(sql, realm),
      ]);
      return users.map((row) => ({ ...toWire(row), attributes: visibleTo(profile, 'admin', row.attributes) }));
    },

    member: (caller: Caller, realm: string, userId: string, tie: Tie): Promise<void> =>
      change(
        caller,
        { realm, userId, tie },
        {
          async find(on) {
            const [group] = await on<{ held: boolean }>`
              select exists (select from group_member m
                where m.realm_id = g.realm_id and m.group_id = g.id and m.user_id = ${userId}) as held
              from user_group g where g.realm_id = ${realm} and g.id = ${tie.id}`;
            if (!group) throw missing('group');
            return { held: group.held, field: 'groups' };
          },
          write: (on) =>
            tie.has
              ? on`insert into group_member (realm_id, group_id, user_id) values (${realm}, ${tie.id}, ${userId})
                  on conflict do nothing returning group_id`
              : on`delete from group_member where realm_id = ${realm} and group_id = ${tie.id} and user_id = ${userId}
                  returning group_id`,
        },
      ),
  };
}
export type Memberships = ReturnType<typeof createMemberships>;
