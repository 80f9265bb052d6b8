// Mounts what roles have beside a plain resource's routes: being a default one, and where a client's own are found.
import type { FastifyInstance } from 'fastify';
import { clientRoleRoutes, putDefaultRole, Role } from '../../../contract/roles.ts';
import type { Sql } from '../../../db/sql.ts';
import { bind } from '../../../http/bind.ts';
import type { ResourceApi } from '../../../resource/api.ts';
import { inClient } from '../../../resource/in-client.ts';
import type { Resource } from '../../../resource/resource.ts';
import { callerOf, mountResource } from '../../../resource/routes.ts';

export function roleRoutes(
  app: FastifyInstance,
  { api, sql, roles, clientRoles }: { api: ResourceApi; sql: Sql; roles: Resource; clientRoles: Resource },
): void {
  bind(app, putDefaultRole, async (call) => {
    const { realm, id } = call.params;
    const input = { default: call.body?.default ?? true };
    return Role.parse(roles.toWire(realm, await api.replace(roles, callerOf(call), realm, { id }, input)));
  });
  mountResource(app, { api, sql, of: clientRoles, routes: clientRoleRoutes, within: inClient(sql) });
}
