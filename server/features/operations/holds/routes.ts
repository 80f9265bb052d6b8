// Binds the routes of contract/holds.ts.
import type { FastifyInstance } from 'fastify';
import { endHold, getHold, listHolds, placeHold } from '../../../contract/holds.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { cursorTime, page } from '../../../http/paging.ts';
import type { Holds } from './service.ts';

export function holdRoutes(app: FastifyInstance, holds: Holds): void {
  bind(app, listHolds, async ({ params, query, request, reply }) => {
    const rows = await holds.list(params.realm, { after: cursorTime(query.cursor), limit: query.limit + 1 });
    return page({ request, reply }, rows, query.limit, ({ placedAt, id }) => [String(placedAt), id]);
  });
  bind(app, getHold, ({ params: { realm, id } }) => holds.get(realm, id));
  bind(app, placeHold, ({ params, body, by, request }) =>
    holds.place({ principal: principalOf(request), by }, params.realm, body),
  );
  bind(app, endHold, async ({ params: { realm, id }, by, request }) => {
    await holds.end({ principal: principalOf(request), by }, realm, id);
    return undefined;
  });
}
