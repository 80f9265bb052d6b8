// Binds the routes of contract/scim-targets.ts for a target's status and its reconciliation.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { listScimTargetObjects, reconcileScimTarget } from '../../../contract/scim-targets.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { principalOf, requirePermission } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import { dryRun, listObjects, reconcile } from './provision-status.ts';

function refuseUnseen(request: FastifyRequest, realm: string): void {
  const caller = principalOf(request);
  for (const permission of ['users:read', 'groups:read'] as const)
    requirePermission(caller, realm, permission, `It names people and groups: you need the permission ${permission}`);
}

export function scimTargetRoutes(app: FastifyInstance, deps: { sql: Sql; transact: Transact; now: () => Date }): void {
  bind(app, listScimTargetObjects, async ({ params, query, request, reply }) => {
    refuseUnseen(request, params.realm);
    const [kind, id] = decodeCursor(query.cursor, 2) ?? [];
    const after = kind === undefined || id === undefined ? undefined : { kind, id };
    const rows = await listObjects(deps.sql, params, { after, wanted: query.state, limit: query.limit + 1 });
    return page({ request, reply }, rows, query.limit, (row) => [row.kind, row.id]);
  });
  bind(app, reconcileScimTarget, ({ by, params, query, request }) => {
    if (!query.dryRun) return reconcile(deps, by, params);
    refuseUnseen(request, params.realm);
    return dryRun(deps.sql, params);
  });
}
