// Admin roles: sets of permissions that administrators are given. Decisions "Admin authentication"; specification 4.10, 5.
import { z } from 'zod';
import { ClientId } from './clients.ts';
import { GroupPath } from './groups.ts';
import { kind } from './kind.ts';
import { name } from './names.ts';
import { builtInAdminRoles, PermissionName } from './permissions.ts';

export const adminRoles = kind({
  section: 'adminRoles',
  kind: 'adminRole',
  one: 'an admin role',
  many: 'admin roles',
  description: 'Admin roles; only from the operator’s own namespace',
  key: 'name',
  fields: {
    name: name(255).describe('The admin role’s name'),
    permissions: z.array(PermissionName).max(200).describe('`area:verb`, what it lets people do'),
    groups: z
      .array(GroupPath)
      .max(200)
      .nullable()
      .describe('Paths: it counts for people in these groups and below alone; null: not limited to groups'),
    clients: z
      .array(ClientId)
      .max(200)
      .nullable()
      .describe('clientIds: it counts for these clients alone; null: not limited to clients'),
  },
  names: { groups: 'group', clients: 'client' },
  answered: { builtIn: z.boolean() },
  most: 1000,
  problems: ['built-in', 'privilege-escalation', 'last-administrator'],
  describe: {
    create: 'Create an admin role; nobody can give it what they do not hold',
    put: 'Update an admin role that is not built in; an id that nothing has becomes a new one, where the body names it',
    remove: 'Delete an admin role that is not built in; who held it holds it no more',
  },
  example: { name: 'help-desk', permissions: ['users:read', 'users:write', 'sessions:read'] },
  updateExample: { permissions: ['users:read', 'clients:read'], groups: [], clients: [] },
  cli: {
    help: 'what administrators can be allowed',
    shown: ['builtIn', 'groups', 'clients'],
    heads: { name: 'ADMIN ROLE' },
  },
});
export const {
  list: listAdminRoles,
  create: createAdminRole,
  get: getAdminRole,
  put: putAdminRole,
  remove: deleteAdminRole,
} = adminRoles.routes;

/** In a realm document. Built-in roles are not exported. */
export const AdminRoleDocument = adminRoles.entry.element.refine(
  (role) => !Object.hasOwn(builtInAdminRoles, role.name),
  {
    path: ['name'],
    message: 'is built in, so it cannot be declared',
  },
);
