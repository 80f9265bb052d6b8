// Groups: they form a tree; members get their roles. Decisions "Group"; specification 4.10.
import { z } from 'zod';
import { managedBy } from './managed-by.ts';
import { Attributes, ById, Id, name, Page } from './names.ts';
import { resourceRoutes } from './resource.ts';
import { ClientRoles, RoleName } from './roles.ts';
import { route } from './route.ts';

/** In bytes, because the path is indexed. */
export const longestPath = 2000;
export const pathBytes = (path: string): number => new TextEncoder().encode(path).length;

const groupName = name(255).refine((s) => !s.includes('/'), 'must not contain /');
/** `/engineering/platform`: the natural key. */
export const GroupPath = name(longestPath)
  .regex(/^(\/[^/]+)+$/, 'must be a path such as /engineering/platform')
  .refine((s) => pathBytes(s) <= longestPath, `must have at most ${longestPath} bytes`);

const fields = {
  roles: z.array(name()).max(500).describe('Realm roles of its members'),
  clientRoles: ClientRoles.describe('Client roles of its members, by clientId'),
  attributes: Attributes,
  default: z.boolean().describe('Every new user joins it'),
};

export const Group = z
  .object({
    id: Id,
    name: z.string(),
    path: z.string(),
    parentId: Id.nullable(),
    ...fields,
    roles: z.array(z.string()),
    ...managedBy,
  })
  .meta({ id: 'Group' });
export type Group = z.infer<typeof Group>;
export const GroupInput = z
  .strictObject({
    name: groupName,
    parentId: Id.nullable().describe('null: at the top'),
    ...fields,
  })
  .partial()
  .required({ name: true });
export type GroupInput = z.infer<typeof GroupInput>;
/** PUT accepts the response of GET; another name or parent moves the group, with everything below it. */
export const GroupUpdate = GroupInput.extend({
  id: Id,
  path: GroupPath.describe('As it is; `name` and `parentId` say where the group goes'),
  ...managedBy,
}).partial();
/** In a realm document: flat, by path; a parent that is not declared must exist. */
export const GroupDocument = z
  .strictObject({ path: GroupPath.describe('Names from the top, each after a slash'), ...fields })
  .partial()
  .required({ path: true });
export type GroupDocument = z.infer<typeof GroupDocument>;

const tag = 'groups';
const at = '/admin/realms/:realm/groups' as const;

export const groupRoutes = resourceRoutes({
  path: 'groups',
  area: 'groups',
  one: 'a group',
  many: 'groups by path',
  wire: Group,
  input: GroupInput,
  update: GroupUpdate,
  example: { name: 'sales' },
  updateExample: { name: 'Sales', default: true },
  searches: true,
  problems: ['not-found', 'privilege-escalation'],
  reach: { list: 'rows', get: { group: 'id' } },
  describe: {
    put: 'Update, rename or move a group; a field that is left out keeps its value. Who moves it below a group that admin roles are limited to must hold what these allow',
    remove: 'Delete a group with its subgroups',
  },
});
export const { list: listGroups, create: createGroup, get: getGroup, put: putGroup, remove: deleteGroup } = groupRoutes;

const ByRole = ById.extend({ roleId: Id });
export const listGroupRoles = route({
  method: 'GET',
  path: `${at}/:id/roles`,
  tag,
  summary: 'List the roles that a group gives its members',
  permission: 'groups:read',
  reach: { group: 'id' },
  params: ById,
  query: Page,
  response: z.array(RoleName),
  problems: ['not-found'],
});
export const addGroupRole = route({
  method: 'PUT',
  path: `${at}/:id/roles/:roleId`,
  tag,
  summary: 'Give a group a role, of the realm or of a client',
  permission: 'groups:write',
  params: ByRole,
  status: 204,
  problems: ['declared-only', 'not-found'],
});
export const removeGroupRole = route({
  method: 'DELETE',
  path: `${at}/:id/roles/:roleId`,
  tag,
  summary: 'Take a role away from a group',
  permission: 'groups:write',
  params: ByRole,
  status: 204,
  problems: ['declared-only', 'not-found'],
});
