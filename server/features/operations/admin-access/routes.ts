// Binds the routes for admin sign-in, the caller's own rights, and grants of admin roles. pages.ts has the browser's
// pages.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/admin-access.ts';
import { permissions } from '../../../contract/permissions.ts';
import { isUuid } from '../../../crypto/ids.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, notACursor, page } from '../../../http/paging.ts';
import { forgetSession, setSession } from './cookies.ts';
import type { AdminGrants } from './grants.ts';
import type { AdminSignIn } from './sign-in.ts';
import { ADMIN_SESSION_COOKIE, setCsrf } from './surface.ts';

export function adminAccessRoutes(
  app: FastifyInstance,
  { signIn, grants, baseUrl }: { signIn: AdminSignIn; grants: AdminGrants; baseUrl: string },
): void {
  bind(app, api.adminLogin, async ({ body, request, reply }) => {
    const { cookie } = await signIn.login(body, request, request.cookies[ADMIN_SESSION_COOKIE]);
    setSession(reply, baseUrl, cookie);
    setCsrf(reply, baseUrl, cookie);
    return undefined;
  });
  bind(app, api.stepUpAdminSession, async ({ body, request, reply }) => {
    const { cookie } = await signIn.stepUp(principalOf(request), body.otp, request);
    setSession(reply, baseUrl, cookie);
    setCsrf(reply, baseUrl, cookie);
    return undefined;
  });
  bind(app, api.adminLogout, async ({ by, request, reply }) => {
    await signIn.logout(principalOf(request).realm, by, request.cookies[ADMIN_SESSION_COOKIE]);
    forgetSession(reply, baseUrl);
    return undefined;
  });
  bind(app, api.getAdminSession, async ({ request }) => {
    const { type, id, name, realm, permissions: granted, limited, expiresAt } = principalOf(request);
    return {
      type,
      id,
      name,
      realm,
      permissions: Object.fromEntries([...granted].map(([k, v]) => [k, [...v]])),
      limited: limited.map(({ permissions: some, groups, clients }) => ({
        permissions: [...some],
        groups: [...groups],
        clients: [...clients],
      })),
      expiresAt,
    };
  });
  bind(app, api.listPermissions, async () => [...permissions]);
  bind(app, api.listRoleHolders, async ({ params, query, request, reply }) => {
    const [id, target] = decodeCursor(query.cursor, 2) ?? [];
    if (id !== undefined && !isUuid(id)) throw notACursor();
    const after = id === undefined || target === undefined ? undefined : { id, target };
    const rows = await grants.holders(params.realm, params.id, { after, limit: query.limit + 1 });
    return page({ request, reply }, rows, query.limit, ({ holder, realm }) => [holder.id, realm]);
  });
  bind(app, api.getUserAdminRoles, ({ params }) => grants.of(params.realm, { userId: params.userId }));
  bind(app, api.putUserAdminRoles, ({ params, body, by, expect, request }) =>
    grants.put({ principal: principalOf(request), by, expect }, params.realm, { userId: params.userId }, body.grants),
  );
  bind(app, api.getClientAdminRoles, ({ params }) => grants.of(params.realm, { clientUuid: params.id }));
  bind(app, api.putClientAdminRoles, ({ params, body, by, expect, request }) =>
    grants.put({ principal: principalOf(request), by, expect }, params.realm, { clientUuid: params.id }, body.grants),
  );
}
