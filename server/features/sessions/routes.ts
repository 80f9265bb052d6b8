// Binds the routes of contract/sessions.ts.
import type { FastifyInstance } from 'fastify';
import { endSession, listServiceAccountSessions, listSessions } from '../../contract/sessions.ts';
import { bind } from '../../http/bind.ts';
import { newestFirst, newestPage } from '../../http/paging.ts';
import type { Sessions } from './service.ts';

export function sessionRoutes(app: FastifyInstance, sessions: Sessions): void {
  bind(app, listSessions, async ({ params, query, request, reply }) => {
    const { cursor, limit, ...filters } = query;
    const rows = await sessions.list(params.realm, { ...filters, limit, after: newestFirst(cursor) });
    return newestPage({ request, reply }, rows, limit);
  });
  bind(app, listServiceAccountSessions, ({ params }) => sessions.ofServiceAccounts(params.realm));
  bind(app, endSession, async ({ params, by }) => {
    await sessions.endOne(params.realm, by, params.id, 'administrator');
    return undefined;
  });
}
