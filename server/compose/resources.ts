// The composition root's part for resources: each is declared by its feature with its routes, and is one line here but for those
// of kinds that are declared as a whole, which are found (server/compose/declared-resources.ts).
// Flows and users have shapes of their own. Design "A plain resource: one declaration".
import type { FastifyInstance } from 'fastify';
import type { Sql } from '../db/sql.ts';
import { createAuthorizationServiceResource } from '../features/configuration/authorization-services/resource.ts';
import { roleRoutes } from '../features/configuration/roles/routes.ts';
import { groupRoutes } from '../features/people/groups/routes.ts';
import type { ResourceApi } from '../resource/api.ts';
import type { ResourceDeps } from '../resource/declared.ts';
import { mountResource } from '../resource/routes.ts';
import { declaredResources } from './declared-resources.ts';

/** The resources by their section of the realm document. */
export const createResources = ({ seal, passwords, baseUrl, keys, now }: ResourceDeps) => ({
  authorizationServices: createAuthorizationServiceResource({ now }),
  ...declaredResources({ seal, passwords, baseUrl, keys, now }),
});
export type Resources = ReturnType<typeof createResources>;

export function mountResources(
  admin: FastifyInstance,
  resources: Resources,
  { api, sql }: { api: ResourceApi; sql: Sql },
): void {
  for (const of of Object.values(resources)) if (of.routes) mountResource(admin, { api, sql, of, routes: of.routes });
  roleRoutes(admin, { api, roles: resources.roles });
  groupRoutes(admin, { resources: api, sql, groups: resources.groups });
}
