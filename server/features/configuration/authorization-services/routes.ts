// Binds the routes of contract/authorization-service-routes.ts.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/authorization-service-routes.ts';
import type { ItemList } from '../../../contract/authorization-services.ts';
import type { Sql } from '../../../db/sql.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind, type Call } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import type { Caller } from '../../../resource/api.ts';
import { shownWithManager, withManagers } from '../../../resource/managed-by.ts';
import { itemOf, type NamedItem } from './items.ts';
import type { AuthorizationServices } from './service.ts';
import { summaries } from './store.ts';

const kind = 'authorizationService';
const callerOf = ({ request, by, expect }: Pick<Call<never, never, never>, 'request' | 'by' | 'expect'>): Caller => ({
  principal: principalOf(request),
  by,
  expect,
});

export function authorizationServiceRoutes(
  app: FastifyInstance,
  { services, sql }: { services: AuthorizationServices; sql: Sql },
): void {
  bind(app, api.listAuthorizationServices, async ({ params: { realm }, query, request, reply }) => {
    const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await summaries(sql, realm, { after, limit: query.limit + 1 });
    const shown = page({ request, reply }, rows, query.limit, ({ clientId }) => [clientId]);
    return withManagers(
      sql,
      { realm, kind, query },
      shown.map((wire) => ({ key: wire.clientId, wire })),
    );
  });
  bind(app, api.getAuthorizationService, async ({ params, query, reply }) => {
    const wire = await services.read(params);
    return shownWithManager({ sql, reply }, { realm: params.realm, kind, query }, { key: wire.clientId, wire });
  });
  bind(app, api.putAuthorizationService, ({ body, ...call }) =>
    services.put(call.params, callerOf(call), body as never),
  );
  bind(app, api.deleteAuthorizationService, async (call) => {
    await services.remove(call.params, callerOf(call));
    return undefined;
  });
  bind(app, api.getAuthorizationSettings, async ({ params }) => (await services.read(params)).settings);
  bind(app, api.putAuthorizationSettings, ({ body, ...call }) =>
    services.putSettings(call.params, callerOf(call), body as never),
  );
  bind(app, api.evaluateAuthorization, ({ params, body, request }) =>
    services.evaluate(params, principalOf(request), body),
  );

  /** Each list has routes with its own schemas; their handlers are the same. */
  function bindItems(list: ItemList, routes: api.ItemRoutes): void {
    bind(app, routes.list, async ({ params, query, request, reply }) => {
      const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
      const rest = (await services.read(params))[list].filter(({ name }) => name > after);
      return page({ request, reply }, rest, query.limit, ({ name }) => [name]);
    });
    bind(app, routes.create, ({ body, ...call }) =>
      services.create(call.params, callerOf(call), list, body as NamedItem),
    );
    bind(app, routes.get, async ({ params }) => itemOf(await services.read(params), list, params.name));
    bind(app, routes.put, ({ body, ...call }) =>
      services.replace(call.params, callerOf(call), list, call.params.name, body as Partial<NamedItem>),
    );
    bind(app, routes.remove, async (call) => {
      await services.removeItem(call.params, callerOf(call), list, call.params.name);
      return undefined;
    });
  }
  bindItems('resources', api.authorizationResourceRoutes);
  bindItems('scopes', api.authorizationScopeRoutes);
  bindItems('policies', api.authorizationPolicyRoutes);
  bindItems('permissions', api.authorizationPermissionRoutes);
}
