// Admin roles of a realm: the built-in ones are fixed, others are sets of permissions that nobody can widen beyond their own.
import type { AdminRole } from '../../contract/admin-access.ts';
import type { By } from '../../contract/events.ts';
import { permissions as known, type Permission } from '../../contract/permissions.ts';
import { Problem } from '../../contract/problem.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import type { Expect } from '../../http/etag.ts';
import type { Principal } from '../../http/principal.ts';
import { holds } from './service.ts';
import * as store from './store.ts';

const toWire = ({ id, name, built_in: builtIn, permissions }: store.RoleRow): AdminRole => ({
  id,
  name,
  builtIn,
  permissions: known.filter((permission) => permissions.includes(permission)),
});

export function createAdminRoles({ sql, transact }: { sql: Sql; transact: Transact }) {
  return {
    list: async (realm: string, after: string, limit: number): Promise<AdminRole[]> =>
      (await store.listRoles(sql, realm, after, limit)).map(toWire),

    /** Sets the permissions of a role; with a name, an id that isn't there yet becomes a new role. */
    put: (
      { principal, by, expect }: { principal: Principal; by: By; expect: Expect },
      realm: string,
      id: string,
      input: { permissions: readonly Permission[]; name?: string | undefined },
    ): Promise<AdminRole> =>
      transact(realm, async ({ sql: on, record }) => {
        const current = await store.lockRole(on, realm, id);
        expect(current ? toWire(current) : {});
        const name = input.name ?? current?.name;
        if (name === undefined) throw new Problem('not-found', 'There is no such admin role; with a name it is made');
        if (current?.built_in) throw new Problem('built-in', `${current.name} is built in and cannot be changed`);
        // Whoever holds the role gains or loses what changes, over every realm that it was given for.
        const before = current?.permissions ?? [];
        const changed = [
          ...input.permissions.filter((permission) => !before.includes(permission)),
          ...before.filter((permission) => !input.permissions.some((kept) => kept === permission)),
        ];
        const targets = new Set([realm, ...(current ? await store.roleTargets(on, realm, id) : [])]);
        if (![...targets].every((target) => holds(principal, target, changed)))
          throw new Problem('privilege-escalation', 'The role would gain or lose a permission that you do not hold');
        const permissions = known.filter((permission) => input.permissions.includes(permission));
        const row = { id, name, built_in: false, permissions };
        if (!(await store.upsertRole(on, realm, row))) throw new Problem('name-taken', `The name ${name} is taken`);
        record({
          type: 'ADMIN_ROLE_UPDATED',
          realm,
          by,
          subject: { type: 'object', id, name },
          data: { permissions, ...(current ? {} : { created: true }) },
        });
        return toWire(row);
      }),
  };
}
export type AdminRoles = ReturnType<typeof createAdminRoles>;
