// Binds the routes of contract/scim-tokens.ts.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/scim-tokens.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { cursorId, page } from '../../../http/paging.ts';
import type { ScimTokens } from './tokens.ts';

export function scimTokenRoutes(app: FastifyInstance, tokens: ScimTokens): void {
  bind(app, api.listScimTokens, async ({ params, query, request, reply }) => {
    const rows = await tokens.list(params.realm, cursorId(query.cursor), query.limit + 1);
    return page({ request, reply }, rows, query.limit, (token) => [token.id]);
  });
  bind(app, api.createScimToken, ({ by, params, body, request }) =>
    tokens.create(principalOf(request), by, params.realm, body),
  );
  bind(app, api.deleteScimToken, async ({ by, params }) => {
    await tokens.remove(by, params.realm, params.id);
    return undefined;
  });
}
