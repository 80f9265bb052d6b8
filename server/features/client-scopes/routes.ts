// Mounts the client scopes' routes.
import type { FastifyInstance } from 'fastify';
import * as api from '../../contract/client-scopes.ts';
import { managerOf } from '../../db/ownership.ts';
import type { Sql } from '../../db/sql.ts';
import { bind } from '../../http/bind.ts';
import { markManaged } from '../../http/managed.ts';
import { decodeCursor, page } from '../../http/paging.ts';
import type { ClientScopes } from './service.ts';

export function clientScopeRoutes(app: FastifyInstance, { scopes, sql }: { scopes: ClientScopes; sql: Sql }): void {
  bind(app, api.listClientScopes, async ({ params, query, request, reply }) => {
    const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await scopes.list(params.realm, after, query.limit + 1);
    return page({ request, reply }, rows, query.limit, (scope) => [scope.name]);
  });
  bind(app, api.createClientScope, ({ params, body, by }) => scopes.create(by, params.realm, body));
  bind(app, api.getClientScope, async ({ params, reply }) => {
    const scope = await scopes.get(params.realm, params.id);
    markManaged(reply, await managerOf(sql, params.realm, 'clientScope', scope.name));
    return scope;
  });
  bind(app, api.deleteClientScope, async ({ params, by, expect }) => {
    await scopes.remove(by, params.realm, params.id, expect);
    return undefined;
  });
}
