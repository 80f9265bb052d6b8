// Checks an administrator's rights beyond the permission of the route: over the whole server, over a whole realm, or over single
// groups and clients. A refusal is audited, and is the same whether the object exists or not. Decisions "Admin authentication".
import type { FastifyRequest } from 'fastify';
import type { Permission } from '../../../contract/permissions.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { byPrincipal, hasPermission, type Principal, principalOf, reachOf } from '../../../domain/principal.ts';
import { isReached, type Named } from '../../../domain/reach.ts';
import type { Denied } from '../../../events/denials.ts';

export function createMay({ sql, denied }: { sql: Sql; denied: Denied }) {
  /** @param named the object, if the permission may be limited to single groups or clients */
  async function may(principal: Principal, realm: string, permission: Permission, named?: Named): Promise<boolean> {
    if (hasPermission(principal, realm, permission)) return true;
    const reach = named && reachOf(principal, realm, permission);
    return reach !== undefined && named !== undefined && isReached(sql, realm, reach, named, { writes: false });
  }

  async function refuse(request: FastifyRequest, realm: string, permission: Permission, over: string): Promise<never> {
    const principal = principalOf(request);
    const { ip, method, url } = request;
    const path = url.split('?')[0] ?? '';
    await denied({ realm, home: principal.realm, by: byPrincipal(principal, ip), permission, method, path });
    throw new Problem('forbidden', `This needs the permission ${permission} ${over}`);
  }

  return {
    may,

    /** @throws Problem `forbidden` */
    async require(request: FastifyRequest, realm: string, permission: Permission, named?: Named): Promise<void> {
      if (!(await may(principalOf(request), realm, permission, named)))
        await refuse(request, realm, permission, `in the realm ${realm}`);
    },

    /** For what concerns the whole server: a permission over one realm is not enough. @throws Problem `forbidden` */
    async requireEverywhere(request: FastifyRequest, permission: Permission): Promise<void> {
      const { realm, permissions } = principalOf(request);
      if (!permissions.get('*')?.has(permission)) await refuse(request, realm, permission, 'over every realm');
    },
  };
}
export type May = ReturnType<typeof createMay>;
