// Binds the routes of contract/sessions.ts, and those of contract/offline-sessions.ts for administrators.
import type { FastifyInstance } from 'fastify';
import { endOfflineSession, listOfflineSessions } from '../../../contract/offline-sessions.ts';
import { endClientSessions, endSession, listServiceAccountSessions, listSessions } from '../../../contract/sessions.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { type Principal, principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { cursorTime, startedPage } from '../../../http/paging.ts';
import type { OfflineSessions } from './offline.ts';
import type { Sessions } from './service.ts';

/** Throws unless the caller holds all permissions that the users in `who` hold. */
type MustCover = (principal: Principal, realm: string, who: string | readonly string[], on: Sql) => Promise<void>;

export function sessionRoutes(
  app: FastifyInstance,
  { sessions, offline, mustCover }: { sessions: Sessions; offline: OfflineSessions; mustCover: MustCover },
): void {
  bind(app, listSessions, async ({ params, query, request, reply }) => {
    const { cursor, limit, ...filters } = query;
    const rows = await sessions.list(params.realm, { ...filters, limit, after: cursorTime(cursor) });
    return startedPage({ request, reply }, rows, limit);
  });
  bind(app, listServiceAccountSessions, ({ params }) => sessions.ofServiceAccounts(params.realm));
  bind(app, endClientSessions, ({ params: { realm }, query, by, request }) =>
    sessions.endOfClient(realm, by, query.clientId, (people, on) => mustCover(principalOf(request), realm, people, on)),
  );
  bind(app, endSession, async ({ params, by, request }) => {
    const { realm, id } = params;
    const may = (userId: string, on: Sql) => mustCover(principalOf(request), realm, userId, on);
    await sessions.endOne(realm, by, id, { because: 'administrator', may });
    return undefined;
  });
  bind(app, listOfflineSessions, async ({ params: { realm, userId }, query: { cursor, limit }, request, reply }) => {
    await offline.mustBeSomebody(realm, userId);
    const rows = await offline.list(realm, userId, { limit, after: cursorTime(cursor) });
    return startedPage({ request, reply }, rows, limit);
  });
  bind(app, endOfflineSession, async ({ params: { realm, ...one }, by, request }) => {
    const may = (tx: Tx) => mustCover(principalOf(request), realm, one.userId, tx.sql);
    await offline.end(realm, by, one, { because: 'administrator', may });
    return undefined;
  });
}
