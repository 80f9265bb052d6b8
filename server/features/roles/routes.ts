// Mounts what roles have beside a plain resource's routes: being a default one, and where a client's own are found.
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import { clientRoleRoutes, putDefaultRole, Role } from '../../contract/roles.ts';
import { fragment, type Sql } from '../../db/sql.ts';
import { bind } from '../../http/bind.ts';
import { clientRoleKey } from '../../http/document.ts';
import type { ResourceApi } from '../../resource/api.ts';
import type { Resource } from '../../resource/resource.ts';
import { callerOf, mountResource } from '../../resource/routes.ts';

export function roleRoutes(
  app: FastifyInstance,
  { api, sql, roles, clientRoles }: { api: ResourceApi; sql: Sql; roles: Resource; clientRoles: Resource },
): void {
  bind(app, putDefaultRole, async (call) => {
    const { realm, id } = call.params;
    const input = { default: call.body?.default ?? true };
    return Role.parse(roles.toWire(realm, await api.replace(roles, callerOf(call), realm, { id }, input)));
  });
  const find = async (realm: string, id: string) => {
    const [client] = await sql<{ client_id: string }>`
      select client_id from client where realm_id = ${realm} and id = ${id}`;
    if (!client) throw new Problem('not-found', 'There is no such client');
    const clientId = client.client_id;
    return {
      filter: fragment`and t.client = ${id}`,
      keyOf: (role: string) => clientRoleKey(clientId, role),
      given: { clientId },
    };
  };
  mountResource(app, { api, sql, of: clientRoles, routes: clientRoleRoutes, within: { param: 'clientId', find } });
}
