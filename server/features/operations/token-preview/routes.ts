// Binds the route of contract/token-preview.ts. A named user needs rights to see that user.
import type { FastifyInstance } from 'fastify';
import { previewToken } from '../../../contract/token-preview.ts';
import { hasPermission, principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { May } from '../admin-access/may.ts';
import type { TokenPreviews } from './service.ts';

export function tokenPreviewRoutes(
  app: FastifyInstance,
  { previews, may }: { previews: TokenPreviews; may: May },
): void {
  bind(app, previewToken, async ({ params: { realm, id }, query, request }) => {
    if (query.userId !== undefined) await may.require(request, realm, 'users:read', { user: query.userId });
    const principal = principalOf(request);
    return previews.preview(realm, id, query, {
      seesGroups: hasPermission(principal, realm, 'groups:read'),
      seesOrganizations: hasPermission(principal, realm, 'organizations:read'),
    });
  });
}
