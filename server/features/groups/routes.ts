// Mounts the groups' routes.
import type { FastifyInstance } from 'fastify';
import * as api from '../../contract/groups.ts';
import { bind } from '../../http/bind.ts';
import { containing, decodeCursor, page } from '../../http/paging.ts';
import type { Groups } from './service.ts';

export function groupRoutes(app: FastifyInstance, { groups }: { groups: Groups }): void {
  bind(app, api.listGroups, async ({ params, query, request, reply }) => {
    const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await groups.list(params.realm, { after, limit: query.limit + 1, search: containing(query.q) });
    return page({ request, reply }, rows, query.limit, (group) => [group.path]);
  });
  bind(app, api.createGroup, ({ params, body, by }) => groups.create(by, params.realm, body));
  bind(app, api.deleteGroup, async ({ params, by, expect }) => {
    await groups.remove(by, params.realm, params.id, expect);
    return undefined;
  });
}
