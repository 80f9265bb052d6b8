// Realm roles and client roles. Decisions "Role"; specification 4.10.
import { z } from 'zod';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { Attributes, ById, Id, name, text } from './names.ts';
import { route } from './route.ts';

/** Role names by the clientId of their client. */
export const ClientRoles = z.record(name(), z.array(name()).max(500));
export const Composite = z.strictObject({
  roles: z.array(name()).max(500).optional().describe('Realm roles that it contains'),
  clientRoles: ClientRoles.optional().describe('Client roles that it contains, by clientId'),
});
export type Composite = z.infer<typeof Composite>;

const ofRoles = {
  key: 'name' as const,
  fields: {
    name: name(255).describe('The role’s name'),
    description: text(2000).nullable().describe('What it is for'),
    composite: Composite.describe('Roles that whoever has this one has too'),
    default: z.boolean().describe('Every new user gets it'),
    attributes: Attributes,
  },
  fresh: { composite: { roles: [], clientRoles: {} }, default: false },
  searches: ['name', 'description'] as const,
  most: 50_000,
  example: { name: 'editor', description: 'May change what is published' },
  updateExample: {
    description: 'May publish',
    composite: { roles: [], clientRoles: {} },
    default: true,
    attributes: { team: ['press'] },
  },
};

export const roles = kind({
  ...ofRoles,
  section: 'roles',
  kind: 'role',
  one: 'a realm role',
  many: 'realm roles',
  label: 'role',
  description: 'Realm roles',
  problems: ['in-use'],
  cli: { shown: ['default', 'composite', 'description'], heads: { composite: 'CONTAINS' } },
  form: { lead: 'Names for what people may do; applications read them from tokens' },
});
export const Role = roles.wire;
export type Role = AnswerOf<typeof roles>;
export type RoleInput = InputOf<typeof roles>;
export const { list: listRoles, create: createRole, get: getRole, put: putRole, remove: deleteRole } = roles.routes;

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
  problems: ['declared-only', 'not-found', 'precondition-failed'],
});

export const clientRoles = kind({
  ...ofRoles,
  section: 'clientRoles',
  kind: 'clientRole',
  area: 'roles',
  table: 'role',
  one: 'a role of a client',
  many: 'roles of a client',
  label: 'client role',
  description: 'Roles of clients: a map of clientId to roles',
  ofClient: { path: 'roles', shape: 'map' },
  at: 'name',
  mostOfEach: 5000,
  problems: ['not-found'],
  cli: {
    help: 'roles of one client',
    shown: ['default', 'description'],
    heads: { name: 'ROLE', composite: 'CONTAINS' },
  },
});
export const {
  list: listClientRoles,
  create: createClientRole,
  get: getClientRole,
  put: putClientRole,
  remove: deleteClientRole,
} = clientRoles.routes;
