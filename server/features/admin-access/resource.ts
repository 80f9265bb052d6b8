// Owns: admin roles: sets of permissions that nobody can widen beyond their own; the same by API and document.
// Does not own: who holds them (grants.ts), the built-in ones, which are fixed (seed.ts), who may change one (resource/rights.ts).
// Implements: decisions "Admin authentication"; specification 2.10, 4.10.
import { AdminRole, adminRoleRoutes } from '../../contract/admin-access.ts';
import { builtInAdminRoles, permissions as known } from '../../contract/permissions.ts';
import { fragment } from '../../db/sql.ts';
import { asSet, strings } from '../../http/document.ts';
import { type Resource, resource } from '../../resource/resource.ts';
import { lockRoles } from './store.ts';

export const createAdminRoleResource = ({ now }: { now: () => Date }): Resource =>
  resource(
    {
      section: 'adminRoles',
      wire: AdminRole,
      routes: adminRoleRoutes,
      table: {
        name: 'admin_role',
        columns: { permissions: { type: 'text[]', fromRow: (list) => asSet(strings(list)) } },
        facts: { builtIn: fragment`t.built_in` },
      },
      fresh: () => ({ permissions: [] }),
      canonical: ({ permissions, ...fields }) =>
        permissions === undefined ? fields : { ...fields, permissions: asSet(strings(permissions)) },
      shown: ({ fields, facts: { builtIn } }) => {
        const granted = new Set(strings(fields.permissions));
        return { builtIn, permissions: known.filter((permission) => granted.has(permission)) };
      },
      permanent: ({ facts }) => facts.builtIn === true,
      fixed: true,
      exported: (name) => !Object.hasOwn(builtInAdminRoles, name),
      upsert: true,
      renames: {},
      // Grants that are given meanwhile wait for the role's new permissions.
      hold: (sql, realm, items) =>
        lockRoles(
          sql,
          realm,
          items.map(({ key }) => key),
        ),
      permissionsOf: ({ before, save }) => {
        const [had, has] = [new Set(strings(before?.permissions)), new Set(strings(save.permissions))];
        return [...had.symmetricDifference(has)];
      },
      detail: ({ permissions }) => ({ permissions }),
      events: { create: 'ADMIN_ROLE_UPDATED', update: 'ADMIN_ROLE_UPDATED', delete: 'ADMIN_ROLE_UPDATED' },
    },
    { now },
  );
