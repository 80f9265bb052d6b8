// Binds the route of contract/token-preview.ts. A named user needs rights to see that user.
import type { FastifyInstance } from 'fastify';
import { previewToken } from '../../../contract/token-preview.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { May } from '../admin-access/may.ts';
import type { TokenPreviews } from './service.ts';

export function tokenPreviewRoutes(
  app: FastifyInstance,
  { previews, may }: { previews: TokenPreviews; may: May },
): void {
  bind(app, previewToken, async ({ params: { realm, id }, query, request }) => {
    if (query.userId !== undefined) await may.require(request, realm, 'users:read', { user: query.userId });
    const seesGroups = await may.may(principalOf(request), realm, 'groups:read');
    return previews.preview(realm, id, query, { seesGroups });
  });
}
