// Binds the routes of contract/webhooks.ts.
import type { FastifyInstance } from 'fastify';
import * as api from '../../contract/webhooks.ts';
import { managerOf } from '../../db/ownership.ts';
import type { Sql } from '../../db/sql.ts';
import { bind } from '../../http/bind.ts';
import { markManaged } from '../../http/managed.ts';
import { cursorId, decodeCursor, page } from '../../http/paging.ts';
import type { Webhooks } from './service.ts';

export function webhookRoutes(app: FastifyInstance, { webhooks, sql }: { webhooks: Webhooks; sql: Sql }): void {
  bind(app, api.listWebhooks, async ({ params, query, request, reply }) => {
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await webhooks.list(params.realm, after, query.limit + 1);
    return page({ request, reply }, rows, query.limit, (w) => [w.name]);
  });
  bind(app, api.createWebhook, ({ by, params, body }) => webhooks.create(by, params.realm, body));
  bind(app, api.getWebhook, async ({ params, reply }) => {
    const webhook = await webhooks.get(params.realm, params.id);
    markManaged(reply, await managerOf(sql, params.realm, 'webhook', webhook.name));
    return webhook;
  });
  bind(app, api.putWebhook, async ({ by, params, body, expect, reply }) => {
    const webhook = await webhooks.update(by, params.realm, params.id, body, expect);
    markManaged(reply, await managerOf(sql, params.realm, 'webhook', webhook.name));
    return webhook;
  });
  bind(app, api.deleteWebhook, async ({ by, params, expect }) => {
    await webhooks.remove(by, params.realm, params.id, expect);
    return undefined;
  });
  bind(app, api.listDeliveries, async ({ params, query, request, reply }) => {
    const after = cursorId(query.cursor);
    const rows = await webhooks.deliveries(params.realm, params.id, after, query.limit + 1);
    return page({ request, reply }, rows, query.limit, (d) => [d.eventId]);
  });
  bind(app, api.redeliver, ({ by, params }) => webhooks.redeliver(by, params.realm, params.id, params.deliveryId));
  bind(app, api.testWebhook, ({ by, params }) => webhooks.test(by, params.realm, params.id));
}
