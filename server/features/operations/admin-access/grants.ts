// Grants of admin roles over realms. An administrator can grant or withdraw only permissions that they hold themselves.
import { type AdminGrant, EVERY_REALM, type RoleHolder } from '../../../contract/admin-access.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import { MASTER } from '../../../contract/realms.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { actedBy, actingHolds, endActing } from '../../../domain/acting.ts';
import type { Principal } from '../../../domain/principal.ts';
import type { Expect } from '../../../http/etag.ts';
import { refuseDeclaredOnly } from '../../../resource/declared-only.ts';
import { holdsPermissions } from './service.ts';
import * as store from './store.ts';

type Grants = { grants: AdminGrant[] };
const keyOf = ({ role, realm }: AdminGrant) => `${realm} ${role}`;
const sorted = (grants: readonly AdminGrant[]): AdminGrant[] =>
  [...new Map(grants.map((grant) => [keyOf(grant), grant])).values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
const without = (grants: readonly AdminGrant[], others: readonly AdminGrant[]): AdminGrant[] => {
  const keys = new Set(others.map(keyOf));
  return grants.filter((grant) => !keys.has(keyOf(grant)));
};

export interface AdminGrantsDeps {
  sql: Sql;
  transact: Transact;
  now: () => Date;
}

export function createAdminGrants({ sql, transact, now }: AdminGrantsDeps) {
  async function load(on: Sql, realm: string, holder: store.Holder): Promise<Grants> {
    const rows = await store.grants(on, realm, holder);
    return { grants: sorted(rows.map(({ role, target }) => ({ role, realm: target }))) };
  }

  async function nameOf(on: Sql, realm: string, holder: store.Holder): Promise<string> {
    const name = await store.holderName(on, realm, holder);
    if (name === undefined) throw new Problem('not-found', 'There is no such user or client');
    return name;
  }

  async function refuseFaults(
    on: Sql,
    home: string,
    grants: readonly AdminGrant[],
    roles: ReadonlyMap<string, store.RoleRow>,
  ) {
    const realms = await store.existingRealms(
      on,
      grants.map((grant) => grant.realm),
    );
    const errors = grants.flatMap(({ role, realm }, i) => {
      const path = `grants[${i}]`;
      if (!roles.has(role)) return [{ path: `${path}.role`, message: `there is no admin role ${role} in this realm` }];
      if (home !== MASTER && realm !== home)
        return [
          { path: `${path}.realm`, message: `must be ${home}: only holders in ${MASTER} reach beyond their realm` },
        ];
      if (realm !== home && roles.get(role)?.limited)
        return [
          { path: `${path}.realm`, message: `must be ${home}: the role ${role} is limited to groups or clients there` },
        ];
      if (realm !== EVERY_REALM && !realms.has(realm))
        return [{ path: `${path}.realm`, message: `there is no realm ${realm}` }];
      return [];
    });
    if (errors.length > 0) throw new Problem('invalid-request', errors.map((e) => e.message).join('; '), { errors });
  }

  return {
    async of(realm: string, holder: store.Holder): Promise<Grants> {
      await nameOf(sql, realm, holder);
      return load(sql, realm, holder);
    },

    /** The holders of a role, by their ids; each is a row for each realm. */
    async holders(realm: string, roleId: string, page: store.HolderPage): Promise<RoleHolder[]> {
      const [role] = await sql`select from admin_role where realm_id = ${realm} and id = ${roleId}`;
      if (!role) throw new Problem('not-found', 'There is no such admin role');
      const rows = await store.holdersOf(sql, realm, roleId, page);
      return rows.map(({ target, ...holder }) => ({ holder, realm: target }));
    },

    put: (
      { principal, by, expect }: { principal: Principal; by: By; expect: Expect },
      realm: string,
      holder: store.Holder,
      input: readonly AdminGrant[],
    ): Promise<Grants> =>
      transact(realm, async (tx) => {
        const { sql: on, record } = tx;
        const name = await nameOf(on, realm, holder);
        const current = await load(on, realm, holder);
        expect(current);
        const wanted = sorted(input);
        const given = without(wanted, current.grants);
        const taken = without(current.grants, wanted);
        if (given.length === 0 && taken.length === 0) return current;
        // a user's are run-time data; a client's are of its service account
        if ('clientUuid' in holder) await refuseDeclaredOnly(on, realm, [{ kind: 'serviceAccountRoles', key: name }]);
        const named = [...given, ...taken].map((grant) => grant.role);
        const roles = new Map((await store.holdRoles(on, realm, named)).map((role) => [role.name, role]));
        await refuseFaults(on, realm, given, roles);
        const rows = (grants: readonly AdminGrant[]) =>
          grants.flatMap(({ role, realm: target }) => {
            const row = roles.get(role);
            return row ? [{ roleId: row.id, target, permissions: row.permissions }] : [];
          });
        const changes = [...rows(given), ...rows(taken)];
        if (!changes.every(({ target, permissions }) => holdsPermissions(principal, target, permissions)))
          throw new Problem(
            'privilege-escalation',
            'An admin role holds a permission that you do not hold over its realm',
          );
        await store.deleteGrants(on, realm, holder, rows(taken));
        await store.insertGrants(on, realm, holder, rows(given));
        if ('userId' in holder && taken.length > 0) {
          const acted = actedBy(fragment`select ${holder.userId}::uuid`);
          await endActing(tx, realm, { which: fragment`${acted} and not ${actingHolds}`, by, at: now() });
        }
        const subject =
          'userId' in holder
            ? ({ type: 'user', id: holder.userId, name } as const)
            : ({ type: 'client', id: holder.clientUuid, name } as const);
        record({ type: 'ADMIN_GRANT_CHANGED', realm, by, subject, data: { given, taken } });
        return load(on, realm, holder);
      }),
  };
}
export type AdminGrants = ReturnType<typeof createAdminGrants>;
