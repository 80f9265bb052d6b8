// Binds the routes of messaging that are beside those of providers and templates themselves.
import type { FastifyInstance } from 'fastify';
import { previewMessageTemplate } from '../../contract/message-templates.ts';
import { bind } from '../../http/bind.ts';
import type { createPreview } from './preview.ts';

export interface MessagingRoutes {
  preview: ReturnType<typeof createPreview>;
}

export function messagingRoutes(app: FastifyInstance, { preview }: MessagingRoutes): void {
  bind(app, previewMessageTemplate, ({ params, body }) => preview(params.realm, body));
}
