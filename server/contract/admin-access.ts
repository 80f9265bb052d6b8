// Administrators' sign-in and permissions. Decisions "Admin authentication"; specification 5.
import { z } from 'zod';
import { ById, EpochMs, Id, InRealm, name, Page, RealmName, text } from './names.ts';
import { PermissionName } from './permissions.ts';
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
  problems: ['declared-only', 'not-found', 'privilege-escalation', 'precondition-failed'],
});

export const RoleHolder = z
  .object({
    holder: z.object({ type: z.enum(['user', 'client']), id: Id, name: z.string() }),
    realm: z.string().describe('Over which realm; * is every realm'),
  })
  .meta({ id: 'RoleHolder' });
export type RoleHolder = z.infer<typeof RoleHolder>;
export const listRoleHolders = route({
  method: 'GET',
  path: '/admin/realms/:realm/admin-roles/:id/holders',
  tag,
  summary: 'List the users and the service accounts that hold an admin role, and over which realm',
  permission: 'admin-roles:read',
  params: ById,
  query: Page,
  response: z.array(RoleHolder),
  problems: ['not-found'],
});
