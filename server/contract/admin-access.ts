// Administrators' sign-in and permissions. Decisions "Admin authentication"; specification 5.
import { z } from 'zod';
import { ClientId } from './clients.ts';
import { GroupPath } from './groups.ts';
import { ById, EpochMs, Id, InRealm, name, RealmName, text } from './names.ts';
import { builtInAdminRoles, PermissionName } from './permissions.ts';
import { resourceRoutes } from './resource.ts';
import { route } from './route.ts';

const tag = 'admin-access';

export { ADMIN_API_CLAIM, ADMIN_CLI } from './admin-cli.ts';

export const AdminLogin = z.strictObject({
  username: text(255).min(1),
  password: text(512).min(1),
  otp: z
    .string()
    .regex(/^\d{6,8}$/)
    .optional(),
  realm: RealmName.optional().describe('Default: master'),
});
export const adminLogin = route({
  method: 'POST',
  path: '/admin/login',
  operationId: 'adminLogin',
  tag,
  summary: 'Sign in: sets SVC_ADMIN_SESSION and XSRF-TOKEN',
  principal: 'anonymous',
  surface: 'admin',
  permission: null,
  body: AdminLogin,
  example: { username: 'admin', password: 'what the first start printed' },
  status: 204,
  problems: ['invalid-credentials', 'otp-required', 'too-many-requests'],
});
export const adminLogout = route({
  method: 'POST',
  path: '/admin/logout',
  operationId: 'adminLogout',
  tag,
  summary: 'End the admin session',
  principal: 'admin-session',
  permission: null,
  status: 204,
});
export const stepUpAdminSession = route({
  method: 'POST',
  path: '/admin/session/step-up',
  operationId: 'stepUpAdminSession',
  tag,
  summary: 'Prove a second factor in the admin session: sets SVC_ADMIN_SESSION and XSRF-TOKEN anew',
  description:
    'For a session that answers `step-up-required`: since it began, the realm’s settings or flow have come to ask for a second factor, or the person has set one up. Who has none yet sets one up at `GET /admin/login`.',
  principal: 'admin-session',
  permission: null,
  body: z.strictObject({ otp: AdminLogin.shape.otp.unwrap() }),
  example: { otp: '123456' },
  status: 204,
  problems: ['invalid-request', 'invalid-credentials', 'too-many-requests'],
});
export const AdminSession = z
  .object({
    type: z.enum(['user', 'client', 'agent']),
    id: Id,
    name: z.string(),
    realm: RealmName.describe('Home realm'),
    permissions: z.record(z.string(), z.array(z.string())).describe('Permissions by realm; * is every realm'),
    limited: z
      .array(z.object({ permissions: z.array(z.string()), groups: z.array(Id), clients: z.array(Id) }))
      .describe('Permissions in the home realm for people in these groups, or for these clients, alone'),
    expiresAt: EpochMs.nullable(),
  })
  .meta({ id: 'AdminSession' });
export const getAdminSession = route({
  method: 'GET',
  path: '/admin/session',
  operationId: 'getAdminSession',
  tag,
  summary: 'Who am I, and what may I do',
  permission: null,
  response: AdminSession,
});

export const AdminRole = z
  .object({
    id: Id,
    name: z.string(),
    builtIn: z.boolean(),
    permissions: z.array(PermissionName),
    groups: z.array(z.string()).nullable(),
    clients: z.array(z.string()).nullable(),
  })
  .meta({ id: 'AdminRole' });
export type AdminRole = z.infer<typeof AdminRole>;
const roleFields = {
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
};
export const AdminRoleInput = z.strictObject(roleFields).partial().required({ name: true });
export const adminRoleRoutes = resourceRoutes({
  path: 'admin-roles',
  tag,
  area: 'admin-roles',
  one: 'an admin role',
  many: 'admin roles',
  wire: AdminRole,
  input: AdminRoleInput,
  update: AdminRoleInput.extend({ id: Id, builtIn: z.boolean() }).partial(),
  example: { name: 'help-desk', permissions: ['users:read', 'users:write', 'sessions:read'] },
  updateExample: { permissions: ['users:read', 'sessions:read'] },
  problems: ['built-in', 'privilege-escalation', 'last-administrator'],
  describe: {
    create: 'Create an admin role; nobody can give it what they do not hold',
    put: 'Update an admin role that is not built in; an id that nothing has becomes a new one, where the body names it',
    remove: 'Delete an admin role that is not built in; who held it holds it no more',
  },
});
export const {
  list: listAdminRoles,
  create: createAdminRole,
  get: getAdminRole,
  put: putAdminRole,
  remove: deleteAdminRole,
} = adminRoleRoutes;

export const listPermissions = route({
  method: 'GET',
  path: '/admin/realms/:realm/admin-roles/permissions',
  tag,
  summary: 'Every permission there is',
  permission: 'admin-roles:read',
  params: InRealm,
  response: z.array(PermissionName),
});
/** Every realm, as the target of a grant; only users and clients of `master` can hold such a grant. */
export const EVERY_REALM = '*';
export const AdminGrant = z.strictObject({
  role: name(255).describe('Name of an admin role of the holder’s realm'),
  realm: z
    .string()
    .max(63)
    .regex(/^(\*|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)$/, 'must be the name of a realm, or * for every realm')
    .describe('Over which realm; * is every realm, and other than the holder’s own only for holders in master')
    .meta({ examples: ['acme'] }),
});
export type AdminGrant = z.infer<typeof AdminGrant>;
const grants = z.array(AdminGrant).max(1000);
const AdminGrants = z.object({ grants }).meta({ id: 'AdminGrants' });
export const AdminGrantsInput = z.strictObject({ grants });

const OfUser = z.strictObject({ realm: RealmName, userId: Id });
export const getUserAdminRoles = route({
  method: 'GET',
  path: '/admin/realms/:realm/users/:userId/admin-roles',
  tag,
  summary: 'Which admin roles a user holds',
  permission: 'admin-roles:read',
  params: OfUser,
  response: AdminGrants,
  problems: ['not-found'],
});
export const putUserAdminRoles = route({
  method: 'PUT',
  path: '/admin/realms/:realm/users/:userId/admin-roles',
  tag,
  summary: 'Set which admin roles a user holds',
  description: 'Nobody can give, or take away, what they do not hold themselves.',
  permission: 'admin-roles:write',
  params: OfUser,
  body: AdminGrantsInput,
  example: { grants: [{ role: 'realm-viewer', realm: 'acme' }] },
  response: AdminGrants,
  problems: ['not-found', 'privilege-escalation', 'precondition-failed', 'last-administrator'],
});
export const getClientAdminRoles = route({
  method: 'GET',
  path: '/admin/realms/:realm/clients/:id/admin-roles',
  tag,
  summary: 'Which admin roles a client’s service account holds',
  permission: 'admin-roles:read',
  params: ById,
  response: AdminGrants,
  problems: ['not-found'],
});
export const putClientAdminRoles = route({
  method: 'PUT',
  path: '/admin/realms/:realm/clients/:id/admin-roles',
  tag,
  summary: 'Set which admin roles a client’s service account holds',
  description: 'Nobody can give, or take away, what they do not hold themselves.',
  permission: 'admin-roles:write',
  params: ById,
  body: AdminGrantsInput,
  example: { grants: [{ role: 'realm-viewer', realm: 'acme' }] },
  response: AdminGrants,
  problems: ['not-found', 'privilege-escalation', 'precondition-failed'],
});

/** In a realm document; the natural key is the name. Built-in roles are not exported. */
export const AdminRoleDocument = AdminRoleInput.refine((role) => !Object.hasOwn(builtInAdminRoles, role.name), {
  path: ['name'],
  message: 'is built in, so it cannot be declared',
});
export type AdminRoleDocument = z.infer<typeof AdminRoleDocument>;
