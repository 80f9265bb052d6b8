// Binds the routes of contract/sessions.ts.
import type { FastifyInstance } from 'fastify';
import { endSession, listSessions } from '../../contract/sessions.ts';
import { bind } from '../../http/bind.ts';
import { decodeCursor, page } from '../../http/paging.ts';
import type { Sessions } from './service.ts';

export function sessionRoutes(app: FastifyInstance, sessions: Sessions): void {
  bind(app, listSessions, async ({ params, query, request, reply }) => {
    const [startedAt, id] = decodeCursor(query.cursor, 2) ?? [];
    const after = startedAt && id ? { startedAt: new Date(Number(startedAt)), id } : undefined;
    const rows = await sessions.list(params.realm, { userId: query.userId, limit: query.limit, after });
    return page({ request, reply }, rows, query.limit, (s) => [String(s.startedAt), s.id]);
  });
  bind(app, endSession, async ({ params, by }) => {
    await sessions.endOne(params.realm, by, params.id, 'administrator');
    return undefined;
  });
}
