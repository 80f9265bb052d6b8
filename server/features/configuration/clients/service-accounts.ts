// The realm document's `serviceAccountRoles`: the roles that clients themselves hold. Specification 2.10; decisions
// "Client".
import { ServiceAccountRolesDocument } from '../../../contract/clients.ts';
import {
  asSet,
  clientRoleKey,
  parsing,
  splitClientRoleKey,
  strings,
  withoutUndefined,
} from '../../../resource/items.ts';
import type { Existing, Fields, RealmPart } from '../../../resource/part.ts';
import * as store from './account-store.ts';

/** Roles of service accounts: the realm's, clients', and admin roles over this realm. */
export const serviceAccountRolesPart: RealmPart = {
  section: 'serviceAccountRoles',
  kind: 'serviceAccountRoles',
  area: 'clients',
  list: true,
  parse: parsing(ServiceAccountRolesDocument, ({ clientId, roles, clientRoles, adminRoles }, path) => [
    {
      key: clientId,
      fields: withoutUndefined({
        roles: asSet(roles),
        clientRoles: clientRoles && sortedLists(clientRoles),
        adminRoles: asSet(adminRoles),
      }),
      path,
    },
  ]),
  // A client without any role is left out.
  print: (objects) =>
    objects
      .filter(
        ({ fields }) =>
          ![fields.roles, fields.adminRoles].every((l) => strings(l).length === 0) || hasAny(fields.clientRoles),
      )
      .map(({ key, fields }) => ({ clientId: key, ...fields })),
  fresh: () => ({ roles: [], clientRoles: {}, adminRoles: [] }),
  async read(sql, realm, keys) {
    const rows = await store.readAccounts(sql, realm, keys ?? null);
    return new Map(
      rows.map((row): [string, Existing] => [
        row.client_id,
        {
          id: row.id,
          fields: {
            roles: asSet(row.roles),
            clientRoles: byClient(row.client_roles ?? []),
            adminRoles: asSet(row.admin_roles),
          },
        },
      ]),
    );
  },
  references: ({ key, fields }) => [
    { kind: 'client', key, path: 'clientId' },
    ...strings(fields.roles).map((role) => ({ kind: 'role', key: role, path: 'roles' })),
    ...strings(fields.adminRoles).map((role) => ({ kind: 'adminRole', key: role, path: 'adminRoles' })),
    ...pairs(fields.clientRoles).map((role) => ({ kind: 'clientRole', key: role, path: 'clientRoles' })),
  ],
  // The permissions of granted admin roles are checked, so they must not change before the write.
  hold: (sql, realm, items) =>
    store.holdAdminRoles(sql, realm, [...new Set(items.flatMap(({ fields }) => strings(fields.adminRoles)))]),
  partOf: (key) => ({ kind: 'client', key }),
  async write(sql, realm, { create, update, remove }) {
    const rows = [
      ...[...create, ...update].map(({ key, fields }) => ({
        clientId: key,
        roles: fields.roles ?? [],
        clientRoles: pairs(fields.clientRoles).map(splitClientRoleKey),
        adminRoles: fields.adminRoles ?? [],
      })),
      ...remove.map((clientId) => ({ clientId, roles: [], clientRoles: [], adminRoles: [] })),
    ];
    if (rows.length === 0) return;
    const accounts = JSON.stringify(rows);
    await store.setAccountRoles(sql, realm, accounts);
    await store.setAccountAdminRoles(sql, realm, accounts);
  },
  subject: (key, id) => ({ type: 'client', id, name: key }),
  clientOf: (key) => key,
  actsAs: ({ key }) => [key],
  gives: ({ key, save }) => strings(save.adminRoles).map((role) => ({ role, to: key })),
  alsoEvents: ({ action, fields }) =>
    action === 'delete' || fields.some((f) => f.path === 'adminRoles') ? ['ADMIN_GRANT_CHANGED'] : [],
  events: { create: 'CLIENT_UPDATED', update: 'CLIENT_UPDATED', delete: 'CLIENT_UPDATED' },
};

const hasAny = (map: unknown): boolean => pairs(map).length > 0;
const sortedLists = (map: Record<string, string[]>) =>
  Object.fromEntries(
    Object.entries(map)
      .filter(([, l]) => l.length > 0)
      .map(([clientId, list]) => [clientId, asSet(list)]),
  );
/** Keys of client roles of a map clientId → names. */
const pairs = (map: unknown): string[] =>
  typeof map === 'object' && map !== null
    ? Object.entries(map).flatMap(([clientId, names]) => strings(names).map((role) => clientRoleKey(clientId, role)))
    : [];
const byClient = (keys: readonly string[]) => {
  const map = new Map<string, string[]>();
  for (const { clientId, role } of keys.map(splitClientRoleKey))
    map.set(clientId, [...(map.get(clientId) ?? []), role]);
  return sortedLists(Object.fromEntries(map));
};

interface Names {
  roles?: readonly string[] | undefined;
  clientRoles?: Readonly<Record<string, readonly string[]>> | undefined;
}
const withClientRoles = (keys: readonly string[], roles: readonly string[]) => ({ roles, clientRoles: byClient(keys) });

/** The account's roles with these added. */
export const withRoles = ({ roles, clientRoles }: Fields, more: Names): Fields =>
  withClientRoles([...pairs(clientRoles), ...pairs(more.clientRoles)], [...strings(roles), ...(more.roles ?? [])]);

/** The account's roles without these. */
export const withoutRoles = ({ roles, clientRoles }: Fields, gone: Names): Fields => {
  const [names, keys] = [new Set(gone.roles), new Set(pairs(gone.clientRoles))];
  return withClientRoles(
    pairs(clientRoles).filter((key) => !keys.has(key)),
    strings(roles).filter((role) => !names.has(role)),
  );
};
