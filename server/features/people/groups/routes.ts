// Mounts the routes of a group's roles; the group itself is a plain resource (resource.ts).
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/groups.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RoleName } from '../../../contract/roles.ts';
import type { Sql } from '../../../db/sql.ts';
import { fragment } from '../../../db/sql.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import type { ResourceApi } from '../../../resource/api.ts';
import { strings } from '../../../resource/items.ts';
import type { Fields } from '../../../resource/part.ts';
import type { Resource } from '../../../resource/resource.ts';
import { callerOf } from '../../../resource/routes.ts';

type Named = Pick<RoleName, 'name' | 'clientId'>;

/** The group's roles with this role added or removed. */
function changed(fields: Fields, { name, clientId }: Named, has: boolean): Fields {
  const other = (names: unknown) => {
    const list = strings(names);
    if (!has && !list.includes(name)) throw new Problem('not-found', 'The group does not have this role');
    return has ? [...list, name] : list.filter((n) => n !== name);
  };
  if (clientId === null) return { roles: other(fields.roles) };
  const of: Record<string, unknown> = Object(fields.clientRoles);
  return { clientRoles: { ...of, [clientId]: other(Object.hasOwn(of, clientId) ? of[clientId] : []) } };
}

export function groupRoutes(
  app: FastifyInstance,
  { resources, groups, sql }: { resources: ResourceApi; groups: Resource; sql: Sql },
): void {
  async function roleOf(realm: string, id: string): Promise<Named> {
    const [role] = await sql<Named>`
      select r.name, c.client_id as "clientId" from role r left join client c on c.realm_id = r.realm_id and c.id = r.client
      where r.realm_id = ${realm} and r.id = ${id}`;
    if (!role) throw new Problem('not-found', 'There is no such role');
    return role;
  }
  bind(app, api.listGroupRoles, async ({ params, query, request, reply }) => {
    await resources.get(groups, params.realm, { id: params.id });
    const after = decodeCursor(query.cursor, 2);
    const rows = await sql<RoleName>`
      select r.id, r.name, c.client_id as "clientId", r.description
      from group_role g join role r on r.realm_id = g.realm_id and r.id = g.role_id
        left join client c on c.realm_id = r.realm_id and c.id = r.client
      where g.realm_id = ${params.realm} and g.group_id = ${params.id}
        ${after ? fragment`and (coalesce(c.client_id, ''), r.name) > (${after[0]}, ${after[1]})` : fragment``}
      order by coalesce(c.client_id, ''), r.name limit ${query.limit + 1}`;
    return page({ request, reply }, rows, query.limit, ({ clientId, name }) => [clientId ?? '', name]);
  });
  for (const [route, has] of [
    [api.addGroupRole, true],
    [api.removeGroupRole, false],
  ] as const)
    bind(app, route, async (call) => {
      const { realm, id, roleId } = call.params;
      const role = await roleOf(realm, roleId);
      await resources.replace(groups, callerOf(call), realm, { id }, ({ fields }) => changed(fields, role, has));
      return undefined;
    });
}
