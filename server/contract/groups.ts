// Groups: a tree of them; members get their roles. Decisions "Group"; specification 4.10.
import { z } from 'zod';
import { Attributes, ById, Id, InRealm, name, SearchPage } from './names.ts';
import { route } from './route.ts';

const groupName = name(255).refine((s) => !s.includes('/'), 'must not contain /');
/** `/engineering/platform`: the natural key. */
export const GroupPath = name(2000)
  .regex(/^(\/[^/]+)+$/, 'must be a path such as /engineering/platform')
  .refine((s) => new TextEncoder().encode(s).length <= 2000, 'must have at most 2000 bytes');

export const Group = z
  .object({
    id: Id,
    name: z.string(),
    path: z.string(),
    parentId: Id.nullable(),
    roles: z.array(z.string()),
    attributes: Attributes,
  })
  .meta({ id: 'Group' });
export type Group = z.infer<typeof Group>;
export const GroupInput = z.strictObject({
  name: groupName,
  parentId: Id.nullable().optional(),
  roles: z.array(name()).max(500).optional(),
  attributes: Attributes.optional(),
});
export type GroupInput = z.infer<typeof GroupInput>;
/** In a realm document: flat, by path; a parent that is not declared must exist. */
export const GroupDocument = z.strictObject({
  path: GroupPath.describe('Names from the top, each after a slash'),
  roles: z.array(name()).max(500).optional().describe('Realm roles of its members'),
  attributes: Attributes.optional(),
});
export type GroupDocument = z.infer<typeof GroupDocument>;

const tag = 'groups';
const at = '/admin/realms/:realm/groups' as const;

export const listGroups = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List groups by path',
  permission: 'groups:read',
  params: InRealm,
  query: SearchPage,
  response: z.array(Group),
});
export const createGroup = route({
  method: 'POST',
  path: at,
  tag,
  summary: 'Create a group',
  permission: 'groups:write',
  params: InRealm,
  body: GroupInput,
  example: { name: 'sales' },
  status: 201,
  response: Group,
  problems: ['name-taken', 'not-found'],
});
export const deleteGroup = route({
  method: 'DELETE',
  path: `${at}/:id`,
  tag,
  summary: 'Delete a group with its subgroups',
  permission: 'groups:write',
  params: ById,
  status: 204,
  problems: ['not-found', 'precondition-failed'],
});
