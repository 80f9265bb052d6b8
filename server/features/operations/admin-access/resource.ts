// Owns: admin roles: sets of permissions. No administrator can widen one beyond their own permissions; the same by API and document.
// Does not own: grants (grants.ts), the built-in roles, which are fixed (seed.ts), the right to change a role
// (resource/rights.ts).
// Implements: decisions "Admin authentication"; specification 2.10, 4.10.
import { isDeepStrictEqual } from 'node:util';
import { ADMIN_CLI } from '../../../contract/admin-cli.ts';
import { adminRoles } from '../../../contract/admin-roles.ts';
import { builtInAdminRoles, permissions as known, limitable } from '../../../contract/permissions.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { fragment } from '../../../db/sql.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { asSet, strings } from '../../../resource/items.ts';
import { writeLinks } from '../../../resource/links.ts';
import type { Fields, Saved } from '../../../resource/part.ts';
import { lockRoles } from './store.ts';

const ROLES = { table: 'admin_role', key: 'name' };
const LINKS = [
  {
    field: 'groups',
    table: 'admin_role_group',
    owner: 'role_id',
    member: 'group_id',
    names: { table: 'user_group', key: 'path' },
  },
  {
    field: 'clients',
    table: 'admin_role_client',
    owner: 'role_id',
    member: 'client',
    names: { table: 'client', key: 'client_id' },
  },
];

const isLimit = (value: unknown): value is unknown[] => Array.isArray(value);
/** null: the role is not limited; an empty list: it is limited to no object. */
const limitOf = (value: unknown) => (isLimit(value) ? (asSet(strings(value)) ?? []) : null);
const limitsDiffer = (before: Fields | undefined, { groups, clients }: Fields): boolean =>
  before !== undefined && (!isDeepStrictEqual(before.groups, groups) || !isDeepStrictEqual(before.clients, clients));

/** A role that is limited to groups or clients can't hold permissions that only make sense for a whole realm. */
function faults({ fields: { permissions, groups, clients } }: Pick<Saved, 'fields'>): FieldError[] {
  if (!isLimit(groups) && !isLimit(clients)) return [];
  const can: ReadonlySet<string> = new Set([
    ...(isLimit(groups) ? limitable.groups : []),
    ...(isLimit(clients) ? limitable.clients : []),
  ]);
  const beyond = strings(permissions).filter((permission) => !can.has(permission));
  return [
    ...beyond.map((permission) => ({
      path: 'permissions',
      message: `${permission} can’t be limited to groups or clients; these can: ${[...can].join(', ')}`,
    })),
    ...(strings(clients).includes(ADMIN_CLI)
      ? [{ path: 'clients', message: `${ADMIN_CLI} signs administrators in: a limited role can’t include it` }]
      : []),
  ];
}

export const adminRolesResource = (deps: Pick<ResourceDeps, 'seal' | 'now'>) =>
  declaredResource(
    adminRoles,
    {
      table: {
        columns: { permissions: { type: 'text[]', fromRow: (list) => asSet(strings(list)) } },
        derived: {
          by_groups: { type: 'boolean', of: ({ fields }) => isLimit(fields.groups) },
          by_clients: { type: 'boolean', of: ({ fields }) => isLimit(fields.clients) },
        },
        elsewhere: {
          groups: {
            sql: fragment`case when t.by_groups then array(select g.path from admin_role_group l
              join user_group g on g.realm_id = l.realm_id and g.id = l.group_id
              where l.realm_id = t.realm_id and l.role_id = t.id) end`,
            fromRow: limitOf,
          },
          clients: {
            sql: fragment`case when t.by_clients then array(select c.client_id from admin_role_client l
              join client c on c.realm_id = l.realm_id and c.id = l.client
              where l.realm_id = t.realm_id and l.role_id = t.id) end`,
            fromRow: limitOf,
          },
        },
        facts: { builtIn: fragment`t.built_in` },
      },
      check: faults,
      link: (sql, realm, saved) => writeLinks(sql, realm, ROLES, LINKS, saved),
      shown: ({ fields, facts: { builtIn } }) => {
        const granted = new Set(strings(fields.permissions));
        return { builtIn, permissions: known.filter((permission) => granted.has(permission)) };
      },
      permanent: ({ facts }) => facts.builtIn === true,
      fixed: true,
      exported: (name) => !Object.hasOwn(builtInAdminRoles, name),
      upsert: true,
      renames: {},
      // The lock makes concurrent grants of the role wait for its new permissions.
      hold: (sql, realm, items) =>
        lockRoles(
          sql,
          realm,
          items.map(({ key }) => key),
        ),
      permissionsOf: ({ before, save }) => {
        const [had, has] = [new Set(strings(before?.permissions)), new Set(strings(save.permissions))];
        // If the limits change, every permission is granted or withdrawn for some object.
        return [...(limitsDiffer(before, save) ? had.union(has) : had.symmetricDifference(has))];
      },
      detail: ({ permissions, groups, clients }) => ({ permissions, groups, clients }),
      events: { create: 'ADMIN_ROLE_UPDATED', update: 'ADMIN_ROLE_UPDATED', delete: 'ADMIN_ROLE_UPDATED' },
    },
    deps,
  );
