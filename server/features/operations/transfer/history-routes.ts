// Binds the routes of contract/history.ts.
import type { FastifyInstance } from 'fastify';
import { getHistory, listHistory, undoHistory } from '../../../contract/history.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, notACursor, page } from '../../../http/paging.ts';
import type { History } from './history.ts';

export function historyRoutes(app: FastifyInstance, history: History): void {
  bind(app, listHistory, async ({ params, query, request, reply }) => {
    const { manager, limit } = query;
    const before = revisionIn(query.cursor);
    const rows = await history.list(principalOf(request), params.realm, { before, manager, limit: limit + 1 });
    return page({ request, reply }, rows, limit, ({ revision }) => [String(revision)]);
  });
  bind(app, getHistory, ({ params, request }) => history.detail(principalOf(request), params.realm, params.revision));
  bind(app, undoHistory, async ({ params, query, by, request, reply }) => {
    const ifMatch = request.headers['if-match'];
    const plan = await history.undo({ principal: principalOf(request), by, ...params, ...query, ifMatch });
    void reply.header('etag', `"${plan.revision}"`);
    return plan;
  });
}

function revisionIn(cursor: string | undefined): number | undefined {
  const [text] = decodeCursor(cursor, 1) ?? [];
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw notACursor();
}
