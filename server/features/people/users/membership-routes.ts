// Mounts the routes of users' roles and of groups' members.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/memberships.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import type { Memberships } from './memberships.ts';

export function membershipRoutes(app: FastifyInstance, memberships: Memberships): void {
  bind(app, api.listUserRoles, async ({ params, query, request, reply }) => {
    const { limit, effective = false } = query;
    const after = decodeCursor(query.cursor, 2);
    const rows = await memberships.roles(params.realm, params.userId, { effective, after, limit: limit + 1 });
    return page({ request, reply }, rows, limit, ({ clientId, name }) => [clientId ?? '', name]);
  });
  bind(app, api.addUserRole, async ({ params, body, by, request }) => {
    const caller = { principal: principalOf(request), by };
    await memberships.role(caller, params.realm, params.userId, { id: body.roleId, has: true });
    return undefined;
  });
  bind(app, api.removeUserRole, async ({ params, by, request }) => {
    const caller = { principal: principalOf(request), by };
    await memberships.role(caller, params.realm, params.userId, { id: params.roleId, has: false });
    return undefined;
  });
  bind(app, api.listGroupMembers, async ({ params, query, request, reply }) => {
    const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await memberships.members(params.realm, params.id, { after, limit: query.limit + 1 });
    return page({ request, reply }, rows, query.limit, (user) => [user.username]);
  });
  for (const [route, has] of [
    [api.addGroupMember, true],
    [api.removeGroupMember, false],
  ] as const)
    bind(app, route, async ({ params, by, request }) => {
      const caller = { principal: principalOf(request), by };
      await memberships.member(caller, params.realm, params.userId, { id: params.id, has });
      return undefined;
    });
}
