// Mounts the realm roles' routes.
import type { FastifyInstance } from 'fastify';
import * as api from '../../contract/roles.ts';
import { managerOf } from '../../db/ownership.ts';
import type { Sql } from '../../db/sql.ts';
import { bind } from '../../http/bind.ts';
import { markManaged } from '../../http/managed.ts';
import { containing, decodeCursor, page } from '../../http/paging.ts';
import type { Roles } from './service.ts';

export function roleRoutes(app: FastifyInstance, { roles, sql }: { roles: Roles; sql: Sql }): void {
  bind(app, api.listRoles, async ({ params, query, request, reply }) => {
    const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await roles.list(params.realm, { after, limit: query.limit + 1, search: containing(query.q) });
    return page({ request, reply }, rows, query.limit, (role) => [role.name]);
  });
  bind(app, api.createRole, ({ params, body, by }) => roles.create(by, params.realm, body));
  bind(app, api.getRole, async ({ params, reply }) => {
    const role = await roles.get(params.realm, params.id);
    markManaged(reply, await managerOf(sql, params.realm, 'role', role.name));
    return role;
  });
  bind(app, api.putRole, async ({ params, body, by, expect, reply }) => {
    const { id: _, ...input } = body;
    const role = await roles.update(by, params.realm, params.id, input, expect);
    markManaged(reply, await managerOf(sql, params.realm, 'role', role.name));
    return role;
  });
  bind(app, api.deleteRole, async ({ params, by, expect }) => {
    await roles.remove(by, params.realm, params.id, expect);
    return undefined;
  });
}
