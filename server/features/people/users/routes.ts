// Mounts the users' admin routes.
import type { FastifyInstance } from 'fastify';
import type { User } from '../../../contract/users.ts';
import * as api from '../../../contract/users.ts';
import type { Sql } from '../../../db/sql.ts';
import { managerOf } from '../../../domain/ownership.ts';
import { principalOf, requirePermission } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { markManaged } from '../../../http/managed.ts';
import { containsPattern, decodeCursor, page } from '../../../http/paging.ts';
import type { Users } from './service.ts';

const MEMBERS_UNSEEN = 'Finding the members of an organization needs the permission organizations:read';
const actionsOf = ({ requiredActions }: User) => ({ requiredActions });

export function userRoutes(app: FastifyInstance, { users, sql }: { users: Users; sql: Sql }): void {
  bind(app, api.listUsers, async ({ params, query, request, reply }) => {
    const [after = ''] = decodeCursor(query.cursor, 1) ?? [];
    const { q, enabled, locked, email, role, group, organization } = query;
    if (organization !== undefined)
      requirePermission(principalOf(request), params.realm, 'organizations:read', MEMBERS_UNSEEN);
    const attributes = api.attributesIn(query);
    const wanted = {
      text: containsPattern(q),
      enabled,
      locked,
      email,
      role,
      group,
      organization,
      attributes,
      reach: request.reach,
    };
    const rows = await users.list(params.realm, wanted, { after, limit: query.limit + 1 });
    const shown = page({ request, reply }, rows, query.limit, (user) => [user.username]);
    return query.with === 'locked' ? users.withLocked(params.realm, shown) : shown;
  });
  bind(app, api.createUser, ({ params, body, by, request: { reach } }) =>
    users.create({ by, reach }, params.realm, body),
  );
  bind(app, api.getUser, async ({ params, reply }) => {
    const user = await users.get(params.realm, params.userId);
    markManaged(reply, await managerOf(sql, params.realm, 'user', user.username));
    return user;
  });
  bind(app, api.putUser, async ({ params, body, by, expect, request, reply }) => {
    const { id: _, createdAt: __, ...input } = body;
    const change = { principal: principalOf(request), by, expect, reach: request.reach };
    const user = await users.update(change, params.realm, params.userId, input);
    markManaged(reply, await managerOf(sql, params.realm, 'user', user.username));
    return user;
  });
  bind(app, api.deleteUser, async ({ params, by, expect, request }) => {
    await users.remove({ principal: principalOf(request), by, expect }, params.realm, params.userId);
    return undefined;
  });
  bind(app, api.setPassword, async ({ params, body, by, request }) => {
    await users.setPassword({ principal: principalOf(request), by }, params.realm, params.userId, body);
    return undefined;
  });
  bind(app, api.getRequiredActions, async ({ params }) => actionsOf(await users.get(params.realm, params.userId)));
  bind(app, api.putRequiredActions, async ({ params, body, by, expect, request }) => {
    const expected = (user: User) => expect(actionsOf(user));
    const change = { principal: principalOf(request), by, expect: expected, reach: request.reach };
    return actionsOf(await users.update(change, params.realm, params.userId, body));
  });
  bind(app, api.listCredentials, ({ params }) => users.credentials(params.realm, params.userId));
  bind(app, api.deleteCredential, async ({ params, by, request }) => {
    await users.removeCredential({ principal: principalOf(request), by }, params.realm, params);
    return undefined;
  });
}
