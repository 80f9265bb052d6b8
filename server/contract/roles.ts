// Realm roles and client roles. Decisions "Role"; specification 4.10.
import { z } from 'zod';
import { Attributes, ById, Id, InRealm, name, SearchPage, text } from './names.ts';
import { route } from './route.ts';

export const Composite = z.strictObject({
  roles: z.array(name()).max(500).optional().describe('Realm roles that it contains'),
  clientRoles: z
    .record(name(), z.array(name()).max(500))
    .optional()
    .describe('Client roles that it contains, by clientId'),
});
export type Composite = z.infer<typeof Composite>;

const fields = {
  name: name(255).describe('The role’s name'),
  description: text(2000).nullable().describe('What it is for'),
  composite: Composite.describe('Roles that whoever has this one has too'),
  default: z.boolean().describe('Every new user gets it'),
  attributes: Attributes,
};
export const Role = z.object({ id: Id, ...fields }).meta({ id: 'Role' });
export type Role = z.infer<typeof Role>;
export const RoleInput = z.strictObject(fields).partial().required({ name: true });
export type RoleInput = z.infer<typeof RoleInput>;
/** In a realm document (`roles`, and in `clientRoles` a map of clientId to these); the natural key is the name. */
export const RoleDocument = RoleInput;
export type RoleDocument = RoleInput;

const tag = 'roles';
const at = '/admin/realms/:realm/roles' as const;

export const listRoles = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List realm roles',
  permission: 'roles:read',
  params: InRealm,
  query: SearchPage,
  response: z.array(Role),
});
export const createRole = route({
  method: 'POST',
  path: at,
  tag,
  summary: 'Create a realm role',
  permission: 'roles:write',
  params: InRealm,
  body: RoleInput,
  example: { name: 'editor', description: 'May change what is published' },
  status: 201,
  response: Role,
  problems: ['name-taken', 'not-found'],
});
export const getRole = route({
  method: 'GET',
  path: `${at}/:id`,
  tag,
  summary: 'Read a role',
  permission: 'roles:read',
  params: ById,
  response: Role,
  problems: ['not-found'],
});
export const putRole = route({
  method: 'PUT',
  path: `${at}/:id`,
  tag,
  summary: 'Update a role; a field that is left out keeps its value',
  permission: 'roles:write',
  params: ById,
  body: RoleInput.extend({ id: Id }).partial(),
  example: { description: 'May change what is published', default: true },
  response: Role,
  problems: ['not-found', 'name-taken', 'precondition-failed'],
});
export const deleteRole = route({
  method: 'DELETE',
  path: `${at}/:id`,
  tag,
  summary: 'Delete a role',
  permission: 'roles:write',
  params: ById,
  status: 204,
  problems: ['not-found', 'precondition-failed'],
});
