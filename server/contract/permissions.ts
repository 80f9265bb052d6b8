// The permissions of administrators: `area:verb`. Listed by GET /admin-roles/permissions. Decisions "Admin authentication".
import { z } from 'zod';
import { type SectionArea, sectionNames } from './section-names.ts';

const ownAreas = ['realm', 'keys', 'sessions', 'events', 'managers', 'holds'] as const;
export type Area = (typeof ownAreas)[number] | SectionArea;
/** The areas of sections, and those that belong to no section. */
export const areas: ReadonlySet<Area> = new Set([...ownAreas, ...Object.values(sectionNames).map(({ area }) => area)]);

export type Permission =
  | `${Area}:read`
  | `${Area}:write`
  | 'realm:create'
  | 'realm:delete'
  | 'realm:plan'
  | 'users:impersonate';

export const permissions: readonly Permission[] = [
  ...[...areas].flatMap((area): Permission[] => [`${area}:read`, `${area}:write`]),
  'realm:create',
  'realm:delete',
  // plan documents with any sections except users: for pipelines that write nothing
  'realm:plan',
  // impersonate a user who has no further permissions
  'users:impersonate',
];

export const PermissionName = z.enum([...permissions]);

/**
 * Permissions that an admin role can limit to the members of single groups, or to single clients: they are checked for each user or
 * client. Any other permission counts for a whole realm or not at all.
 */
export const limitable = {
  groups: ['users:read', 'users:write', 'groups:read', 'sessions:read', 'sessions:write'],
  clients: ['clients:read', 'clients:write'],
} as const satisfies Record<string, readonly Permission[]>;

const reads = permissions.filter((p) => p.endsWith(':read'));

/** The roles with which each realm is seeded; built in, so their permissions are fixed. */
export const builtInAdminRoles: Record<string, readonly Permission[]> = {
  'realm-admin': permissions,
  'realm-viewer': reads,
  'user-manager': [
    'users:read',
    'users:write',
    'groups:read',
    'groups:write',
    'roles:read',
    'sessions:read',
    'sessions:write',
  ],
  'client-manager': [
    'clients:read',
    'clients:write',
    'client-scopes:read',
    'client-scopes:write',
    'roles:read',
    'roles:write',
  ],
  'security-auditor': [
    'events:read',
    'sessions:read',
    'settings:read',
    'keys:read',
    'users:read',
    'clients:read',
    'admin-roles:read',
  ],
};
