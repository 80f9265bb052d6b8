// Binds the route of contract/page-preview.ts.
import type { FastifyInstance } from 'fastify';
import { previewPage } from '../../../contract/page-preview.ts';
import { bind } from '../../../http/bind.ts';
import type { PagePreviews } from './service.ts';

export function pagePreviewRoutes(app: FastifyInstance, previews: PagePreviews): void {
  bind(app, previewPage, ({ params, body, request }) => previews.preview(request, params.realm, body));
}
