// Binds the routes of contract/organizations.ts apart from the resource's own.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/organizations.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import type { Organizations } from './service.ts';

export function organizationRoutes(app: FastifyInstance, organizations: Organizations): void {
  bind(app, api.listMembers, async ({ params: { realm, id }, query, request, reply }) => {
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await organizations.members(realm, id, after, query.limit + 1);
    return page({ request, reply }, rows, query.limit, (member) => [member.username]);
  });
  bind(app, api.listUserOrganizations, async ({ params: { realm, userId }, query, request, reply }) => {
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await organizations.ofUser(realm, userId, after, query.limit + 1);
    return page({ request, reply }, rows, query.limit, ({ name }) => [name]);
  });
  bind(app, api.addMember, async ({ by, params: { realm, ...at } }) => {
    await organizations.add(by, realm, at);
    return undefined;
  });
  bind(app, api.removeMember, async ({ by, params: { realm, ...at } }) => {
    await organizations.remove(by, realm, at);
    return undefined;
  });
  bind(app, api.verifyDomain, ({ by, expect, request, params: { realm, id, domain } }) =>
    organizations.verify({ principal: principalOf(request), by, expect }, realm, id, domain),
  );
}
