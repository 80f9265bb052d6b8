// Groups: they form a tree; members get their roles. Decisions "Group"; specification 4.10.
import { z } from 'zod';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { Attributes, ById, Id, name, Page } from './names.ts';
import { ClientRoles, RoleName } from './roles.ts';
import { route } from './route.ts';

/** In bytes, because the path is indexed. */
export const longestPath = 2000;
export const pathBytes = (path: string): number => new TextEncoder().encode(path).length;

export const GroupName = name(255).refine((s) => !s.includes('/'), 'must not contain /');
/** `/engineering/platform`: the natural key. */
export const GroupPath = name(longestPath)
  .regex(/^(\/[^/]+)+$/, 'must be a path such as /engineering/platform')
  .refine((s) => pathBytes(s) <= longestPath, `must have at most ${longestPath} bytes`);

export const groups = kind({
  section: 'groups',
  kind: 'group',
  table: 'user_group',
  one: 'a group',
  many: 'groups by path',
  description: 'Groups, by path',
  key: 'path',
  namedBy: { name: GroupName, parentId: Id.nullable().describe('null: at the top').optional() },
  fields: {
    path: GroupPath.describe('Names from the top, each after a slash'),
    roles: z.array(name()).max(500).describe('Realm roles of its members'),
    clientRoles: ClientRoles.describe('Client roles of its members, by clientId'),
    attributes: Attributes,
    default: z.boolean().describe('Every new user joins it'),
  },
  fresh: { default: false },
  names: { parentId: 'group', roles: 'role' },
  answered: { name: z.string(), path: z.string(), parentId: Id.nullable(), roles: z.array(z.string()) },
  searches: ['path'],
  most: 50_000,
  problems: ['not-found', 'privilege-escalation'],
  reach: { list: 'rows', get: { group: 'id' } },
  describe: {
    put: 'Update a group, or rename or move it by `name` and `parentId`, from which `path` follows; a field that is left out keeps its value. Who moves it below a group that admin roles are limited to must hold what these allow',
    remove: 'Delete a group with its subgroups',
  },
  form: {
    lead: 'Groups form a tree; their members have the roles and attributes that a group gives',
    fields: { parentId: { label: 'Parent group', help: 'The group above it; empty: it is at the top' } },
  },
  example: { name: 'sales' },
  updateExample: { name: 'Sales', default: true },
  cli: { shown: ['roles', 'default'], wide: ['clientRoles', 'attributes', 'id'] },
});
export const Group = groups.wire;
export type Group = AnswerOf<typeof groups>;
export type GroupInput = InputOf<typeof groups>;
export const {
  list: listGroups,
  create: createGroup,
  get: getGroup,
  put: putGroup,
  remove: deleteGroup,
} = groups.routes;

const tag = 'groups';
const at = '/admin/realms/:realm/groups' as const;
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
