// Binds the routes of contract/webhooks.ts apart from the resource's own.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/webhooks.ts';
import { bind } from '../../../http/bind.ts';
import { cursorId, cursorIds, page } from '../../../http/paging.ts';
import type { Webhooks } from './service.ts';

export function deliveryRoutes(app: FastifyInstance, webhooks: Webhooks): void {
  bind(app, api.listDeliveries, async ({ params, query, request, reply }) => {
    const after = cursorId(query.cursor);
    const rows = await webhooks.deliveries(params.realm, params.id, after, query.limit + 1, query.status);
    return page({ request, reply }, rows, query.limit, (d) => [d.eventId]);
  });
  bind(app, api.listAllDeliveries, async ({ params, query, request, reply }) => {
    const { cursor, limit, status } = query;
    const [eventId, webhookId] = cursorIds(cursor, 2) ?? [];
    const after = eventId === undefined || webhookId === undefined ? undefined : { eventId, webhookId };
    const rows = await webhooks.allDeliveries(params.realm, { after, limit: limit + 1, status });
    return page({ request, reply }, rows, limit, (d) => [d.eventId, d.webhookId]);
  });
  bind(app, api.redeliver, ({ by, params }) => webhooks.redeliver(by, params.realm, params.id, params.deliveryId));
  bind(app, api.testWebhook, ({ by, params }) => webhooks.test(by, params.realm, params.id));
}
