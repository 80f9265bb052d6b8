// Binds the routes of contract/user-access.ts.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/user-access.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { cursorTime, startedPage } from '../../../http/paging.ts';
import type { UserAccess } from './access.ts';

export function userAccessRoutes(app: FastifyInstance, access: UserAccess): void {
  bind(app, api.getLockout, ({ params }) => access.lockout(params.realm, params.userId));
  bind(app, api.deleteLockout, async ({ params, by, request }) => {
    await access.unlock({ principal: principalOf(request), by }, params.realm, params.userId);
    return undefined;
  });
  bind(app, api.listUserSessions, async ({ params, query, request, reply }) => {
    const after = cursorTime(query.cursor);
    const rows = await access.sessions(params.realm, params.userId, { limit: query.limit, after });
    return startedPage({ request, reply }, rows, query.limit);
  });
  bind(app, api.endUserSessions, async ({ params, by, request }) => {
    await access.endSessions({ principal: principalOf(request), by }, params.realm, params.userId);
    return undefined;
  });
}
