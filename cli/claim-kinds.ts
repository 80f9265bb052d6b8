// Claims and roles of single clients, as `get` and `describe` show them.
import { protocolMapperRoutes } from '../server/contract/protocol-mappers.ts';
import { clientRoleRoutes } from '../server/contract/roles.ts';
import { list, text, yes } from './cells.ts';
import { clients } from './configuration-kinds.ts';
import { type Kind, kind, type Scope } from './kinds.ts';

/** The id of the client that `--of` names: the listed objects belong to it. */
const clientOf = async (scope: Scope) => Reflect.get((await clients.find(scope, scope.of ?? '')).value, 'id');

const clientRoles = kind({
  plural: 'client-roles',
  singular: 'client-role',
  help: 'roles of one client',
  inRealm: true,
  of: 'client',
  parent: clientOf,
  parentIn: 'clientId',
  routes: clientRoleRoutes,
  at: ({ name }) => ({ name }),
  nameOf: ({ name }) => name,
  columns: [
    { head: 'ROLE', cell: (r) => r.name },
    { head: 'DEFAULT', cell: (r) => yes(r.default) },
    { head: 'DESCRIPTION', cell: (r) => text(r.description) },
    { head: 'ID', cell: (r) => r.id, wide: true },
  ],
});

const mappers = kind({
  plural: 'mappers',
  singular: 'mapper',
  help: 'claims of one client alone: its protocol mappers',
  inRealm: true,
  of: 'client',
  parent: clientOf,
  parentIn: 'clientId',
  routes: protocolMapperRoutes,
  at: ({ id }) => ({ mapperId: id }),
  nameOf: ({ name }) => name,
  columns: [
    { head: 'MAPPER', cell: (m) => m.name },
    { head: 'IN THE TOKEN', cell: (m) => m.claim ?? m.name },
    { head: 'FROM', cell: (m) => m.source },
    { head: 'WHICH', cell: (m) => text(m.attribute ?? m.value) },
    { head: 'IN', cell: (m) => list(m.in) },
    { head: 'TYPE', cell: (m) => m.jsonType, wide: true },
    { head: 'ID', cell: (m) => m.id, wide: true },
  ],
});

export const claimKinds: readonly Kind[] = [clientRoles, mappers];
