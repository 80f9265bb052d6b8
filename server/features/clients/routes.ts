// Mounts the clients' admin routes.
import type { FastifyInstance } from 'fastify';
import * as api from '../../contract/clients.ts';
import { managerOf } from '../../db/ownership.ts';
import type { Sql } from '../../db/sql.ts';
import { bind, principalOf } from '../../http/bind.ts';
import { markManaged } from '../../http/managed.ts';
import { containing, decodeCursor, page } from '../../http/paging.ts';
import type { Clients } from './service.ts';

export function clientRoutes(app: FastifyInstance, { clients, sql }: { clients: Clients; sql: Sql }): void {
  bind(app, api.listClients, async ({ params, query, request, reply }) => {
    const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await clients.list(params.realm, { after, limit: query.limit + 1, search: containing(query.q) });
    return page({ request, reply }, rows, query.limit, (client) => [client.clientId]);
  });
  bind(app, api.createClient, ({ params, body, by }) => clients.create(by, params.realm, body));
  bind(app, api.getClient, async ({ params, reply }) => {
    const client = await clients.get(params.realm, params.id);
    markManaged(reply, await managerOf(sql, params.realm, 'client', client.clientId));
    return client;
  });
  bind(app, api.putClient, async ({ params, body, by, expect, request, reply }) => {
    const { id: _, secretSet: __, createdAt: ___, ...input } = body;
    const change = { principal: principalOf(request), by, expect };
    const client = await clients.update(change, params.realm, params.id, input);
    markManaged(reply, await managerOf(sql, params.realm, 'client', client.clientId));
    return client;
  });
  bind(app, api.deleteClient, async ({ params, by, expect, request }) => {
    await clients.remove({ principal: principalOf(request), by, expect }, params.realm, params.id);
    return undefined;
  });
  bind(app, api.getClientSecret, async ({ params }) => {
    const { secretSet } = await clients.get(params.realm, params.id);
    return { secretSet };
  });
  bind(app, api.createClientSecret, ({ params, by, request }) =>
    clients.makeSecret(principalOf(request), by, params.realm, params.id),
  );
}
