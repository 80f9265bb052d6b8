// Binds the routes of contract/sessions.ts.
import type { FastifyInstance } from 'fastify';
import { endSession, listServiceAccountSessions, listSessions } from '../../contract/sessions.ts';
import type { Sql } from '../../db/sql.ts';
import { type Principal, principalOf } from '../../domain/principal.ts';
import { bind } from '../../http/bind.ts';
import { newestFirst, newestPage } from '../../http/paging.ts';
import type { Sessions } from './service.ts';

/** Whose a session is, that person's rights the caller must hold. */
type MustCover = (principal: Principal, realm: string, userId: string, on: Sql) => Promise<void>;

export function sessionRoutes(
  app: FastifyInstance,
  { sessions, mustCover }: { sessions: Sessions; mustCover: MustCover },
): void {
  bind(app, listSessions, async ({ params, query, request, reply }) => {
    const { cursor, limit, ...filters } = query;
    const rows = await sessions.list(params.realm, { ...filters, limit, after: newestFirst(cursor) });
    return newestPage({ request, reply }, rows, limit);
  });
  bind(app, listServiceAccountSessions, ({ params }) => sessions.ofServiceAccounts(params.realm));
  bind(app, endSession, async ({ params, by, request }) => {
    const { realm, id } = params;
    const may = (userId: string, on: Sql) => mustCover(principalOf(request), realm, userId, on);
    await sessions.endOne(realm, by, id, { because: 'administrator', may });
    return undefined;
  });
}
