// Realm roles and client roles. Decisions "Role"; specification 4.10.
import { z } from 'zod';
import { Attributes, ById, Id, name, RealmName, text } from './names.ts';
import { resourceRoutes } from './resource.ts';
import { route } from './route.ts';

/** Names of roles by the clientId of whose they are. */
export const ClientRoles = z.record(name(), z.array(name()).max(500));
export const Composite = z.strictObject({
  roles: z.array(name()).max(500).optional().describe('Realm roles that it contains'),
  clientRoles: ClientRoles.optional().describe('Client roles that it contains, by clientId'),
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

/** A reference to a role. */
export const RoleName = z
  .object({
    id: Id,
    name: z.string(),
    clientId: z.string().nullable().describe('Whose role it is; null: the realm’s'),
    description: z.string().nullable(),
  })
  .meta({ id: 'RoleName' });
export type RoleName = z.infer<typeof RoleName>;

const common = {
  area: 'roles',
  tag: 'roles',
  wire: Role,
  input: RoleInput,
  example: { name: 'editor', description: 'May change what is published' },
  updateExample: { description: 'May change what is published', default: true },
  searches: true,
} as const;

export const roleRoutes = resourceRoutes({
  ...common,
  path: 'roles',
  one: 'a realm role',
  many: 'realm roles',
  problems: ['in-use'],
  update: RoleInput.extend({ id: Id }).partial(),
});
export const { list: listRoles, create: createRole, get: getRole, put: putRole, remove: deleteRole } = roleRoutes;

export const putDefaultRole = route({
  method: 'PUT',
  path: '/admin/realms/:realm/roles/:id/default',
  tag: 'roles',
  summary: 'Say whether every new user gets a realm role; without a body: yes',
  permission: 'roles:write',
  params: ById,
  body: z.strictObject({ default: z.boolean().optional() }).nullish(),
  example: { default: true },
  response: Role,
  problems: ['not-found', 'precondition-failed'],
});

const OfClient = z.strictObject({ realm: RealmName, clientId: Id.describe('The client’s id') });
export const clientRoleRoutes = resourceRoutes({
  ...common,
  path: 'clients/:clientId/roles',
  one: 'a role of a client',
  many: 'roles of a client',
  update: RoleInput.extend({ id: Id }).partial(),
  within: OfClient,
  at: { param: 'name', schema: OfClient.extend({ name: name(255).describe('The role’s name') }) },
  problems: ['not-found'],
});
export const {
  list: listClientRoles,
  create: createClientRole,
  get: getClientRole,
  put: putClientRole,
  remove: deleteClientRole,
} = clientRoleRoutes;
