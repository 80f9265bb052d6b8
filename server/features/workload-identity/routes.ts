// Binds the admin routes of contract/workload-identity.ts; the exchange is exchange-routes.ts.
import type { FastifyInstance } from 'fastify';
import * as api from '../../contract/workload-identity.ts';
import { managerOf } from '../../db/ownership.ts';
import type { Sql } from '../../db/sql.ts';
import { bind, principalOf } from '../../http/bind.ts';
import { markManaged } from '../../http/managed.ts';
import { decodeCursor, page } from '../../http/paging.ts';
import type { WorkloadIdentities } from './service.ts';

export function workloadIdentityRoutes(
  app: FastifyInstance,
  { identities, sql }: { identities: WorkloadIdentities; sql: Sql },
): void {
  bind(app, api.listWorkloadIdentities, async ({ params, query, request, reply }) => {
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await identities.list(params.realm, after, query.limit + 1);
    return page({ request, reply }, rows, query.limit, (w) => [w.name]);
  });
  bind(app, api.createWorkloadIdentity, ({ by, params, body, request }) =>
    identities.create(principalOf(request), by, params.realm, body),
  );
  bind(app, api.getWorkloadIdentity, async ({ params, reply }) => {
    const credential = await identities.get(params.realm, params.id);
    markManaged(reply, await managerOf(sql, params.realm, 'workloadIdentity', credential.name));
    return credential;
  });
  bind(app, api.putWorkloadIdentity, async ({ by, params, body, expect, request, reply }) => {
    const credential = await identities.update(principalOf(request), by, params.realm, params.id, body, expect);
    markManaged(reply, await managerOf(sql, params.realm, 'workloadIdentity', credential.name));
    return credential;
  });
  bind(app, api.deleteWorkloadIdentity, async ({ by, params, expect, request }) => {
    await identities.remove(principalOf(request), by, params.realm, params.id, expect);
    return undefined;
  });
}
