// Binds the routes of messaging apart from those of providers and templates.
import type { FastifyInstance } from 'fastify';
import { previewMessageTemplate } from '../../../contract/message-templates.ts';
import * as api from '../../../contract/messages.ts';
import type { Sql } from '../../../db/sql.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { cursorId, page } from '../../../http/paging.ts';
import type { createAgain } from './again.ts';
import type { Gateways } from './gateways.ts';
import type { createPreview } from './preview.ts';
import type { PushTokens } from './push-tokens.ts';
import * as store from './store.ts';
import type { createTemplateTest } from './template-test.ts';

export interface MessagingRoutes {
  sql: Sql;
  preview: ReturnType<typeof createPreview>;
  gateways: Gateways;
  pushTokens: PushTokens;
  again: ReturnType<typeof createAgain>;
  testTemplate: ReturnType<typeof createTemplateTest>;
  now: () => Date;
}

const toWire = (row: store.MessageRow, now: Date): api.Message => ({
  id: row.id,
  channel: row.channel,
  templateKey: row.template_key,
  userId: row.user_id,
  recipient: row.recipient,
  status: row.status,
  attempts: row.attempts,
  error: row.error,
  createdAt: row.created_at.getTime(),
  lastAttemptAt: row.last_attempt_at?.getTime() ?? null,
  expiresAt: row.expires_at.getTime(),
  retryable: row.kept && row.expires_at > now,
});

export function messagingRoutes(
  app: FastifyInstance,
  { sql, preview, gateways, pushTokens, again, testTemplate, now }: MessagingRoutes,
): void {
  bind(app, previewMessageTemplate, ({ params, body }) => preview(params.realm, body));
  bind(app, api.testMessageTemplate, ({ by, params, body }) => testTemplate(by, params.realm, body));
  bind(app, api.testMessagingProvider, ({ by, params, body }) => gateways.test(by, params.realm, params.channel, body));
  bind(app, api.listMessages, async ({ params, query, request, reply }) => {
    const { cursor, limit, ...filter } = query;
    const rows = await store.messagesOf(sql, params.realm, { ...filter, after: cursorId(cursor), limit: limit + 1 });
    return page({ request, reply }, rows, limit, ({ id }) => [id]).map((row) => toWire(row, now()));
  });
  bind(app, api.retryMessage, async ({ by, params }) => toWire(await again(by, params.realm, params.id), now()));
  bind(app, api.listPushTokens, async ({ params, query, request, reply }) => {
    const { cursor, limit, userId } = query;
    const rows = await pushTokens.list(params.realm, { after: cursorId(cursor), limit: limit + 1, userId });
    return page({ request, reply }, rows, limit, ({ id }) => [id]);
  });
  bind(app, api.registerPushToken, ({ by, params, body, request }) =>
    pushTokens.register({ principal: principalOf(request), by }, params.realm, body),
  );
  bind(app, api.deletePushToken, async ({ by, params, request }) => {
    await pushTokens.remove({ principal: principalOf(request), by }, params.realm, params.id);
    return undefined;
  });
}
