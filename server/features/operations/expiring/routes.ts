// Binds the routes of contract/expiring.ts. Each kind of ending thing needs its own permission.
import type { FastifyInstance } from 'fastify';
import { expiringKinds, listExpiring, listUnusedClients } from '../../../contract/expiring.ts';
import { Problem } from '../../../contract/problem.ts';
import { hasPermission, principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import type { May } from '../admin-access/may.ts';
import { type Lists, readsOf } from './service.ts';

interface Deps {
  lists: Lists;
  may: May;
  realmExists(realm: string): Promise<boolean>;
}

export function listRoutes(app: FastifyInstance, { lists, may, realmExists }: Deps): void {
  bind(app, listExpiring, async ({ params: { realm }, query, request }) => {
    const principal = principalOf(request);
    const kinds = expiringKinds.filter((kind) => hasPermission(principal, realm, readsOf[kind]));
    // refused and audited as any other request
    if (kinds.length === 0) await may.require(request, realm, 'clients:read');
    if (!(await realmExists(realm))) throw new Problem('not-found', `There is no realm ${realm}`);
    return lists.expiring(realm, kinds, query);
  });
  bind(app, listUnusedClients, async ({ params: { realm }, query: { days, limit, cursor }, request, reply }) => {
    const [after = ''] = decodeCursor(cursor, 1) ?? [];
    const rows = await lists.unusedClients(realm, { days, after, limit: limit + 1, reach: request.reach });
    return page({ request, reply }, rows, limit, ({ clientId }) => [clientId]);
  });
}
