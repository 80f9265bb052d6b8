// Owns: realm roles and roles of clients, including composite roles and the default roles of new users.
// Does not own: the holders of a role (users, groups, clients), admin roles (admin-access).
// Implements: decisions "Role"; specification 2.10, 4.10.
import { clientRoles, roles } from '../../../contract/roles.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { rolesOfRow, tieRoles } from '../../../domain/role-ties.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import type { Saved } from '../../../resource/part.ts';
import { circularRoles, lockComposites } from './circles.ts';
import { canonicalComposite, compositeOf, refersTo } from './composite.ts';

const TIES = { table: 'role_composite', owner: 'role_id', role: 'child_id' } as const;
const contained = rolesOfRow(TIES);

const composite = {
  sql: fragment`jsonb_build_object('roles', to_jsonb(${contained.roles}), 'clientRoles', ${contained.clientRoles})`,
  fromRow: (found: unknown) => canonicalComposite(Object(found)),
};

const link = (sql: Sql, realm: string, saved: readonly Saved[]) =>
  tieRoles(
    sql,
    realm,
    TIES,
    saved
      .filter(({ changed }) => changed.includes('composite'))
      .map(({ id, before, fields }) => ({
        id,
        existed: before !== undefined,
        ...canonicalComposite(compositeOf(fields)),
      })),
  );

const common = {
  canonical: (fields) =>
    fields.composite === undefined ? fields : { ...fields, composite: canonicalComposite(compositeOf(fields)) },
  hold: async (sql, realm, items) => {
    if (items.some((item) => refersTo(item).length > 0)) await lockComposites(sql, realm);
  },
  references: refersTo,
  link,
  renames: {},
} satisfies Partial<Parameters<typeof declaredResource>[1]>;
const table = { columns: { default: { type: 'boolean', name: 'is_default' } }, elsewhere: { composite } } as const;

/**
 * Applications that need the removed roles: without any role an application admits all users, so the database forbids
 * it too.
 */
const applicationsOf = (sql: Sql, realm: string, removed: readonly string[]) =>
  sql<{ kind: string; key: string; on: string; field: string }>`
    select 'application' as kind, a.name as key, r.name as on, 'roles' as field from role r
    join application_role ar on ar.realm_id = r.realm_id and ar.role_id = r.id
    join application a on a.realm_id = ar.realm_id and a.id = ar.application_id
    where r.realm_id = ${realm} and r.client is null and r.name = any(${removed}::text[])`;

export const rolesResource = (deps: ResourceDeps) =>
  declaredResource(
    roles,
    {
      ...common,
      table: { ...table, only: fragment`and t.client is null` },
      whole: (sql, realm, changes) => circularRoles(sql, realm, changes, 'role'),
      dependents: applicationsOf,
    },
    deps,
  );

export const clientRolesResource = (deps: ResourceDeps) =>
  declaredResource(
    clientRoles,
    {
      ...common,
      table: { ...table, only: fragment`and t.client is not null` },
      whole: (sql, realm, changes) => circularRoles(sql, realm, changes, 'clientRole'),
    },
    deps,
  );
