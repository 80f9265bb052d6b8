// Checks an administrator's rights beyond the permission of the route: over a whole realm, or over single groups and
// clients. A refusal is audited, and is the same whether the object exists or not. Decisions "Admin authentication".
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

  return {
    may,

    /** @throws Problem `forbidden` */
    async require(request: FastifyRequest, realm: string, permission: Permission, named?: Named): Promise<void> {
      const principal = principalOf(request);
      if (await may(principal, realm, permission, named)) return;
      const { ip, method, url } = request;
      const path = url.split('?')[0] ?? '';
      await denied({ realm, home: principal.realm, by: byPrincipal(principal, ip), permission, method, path });
      throw new Problem('forbidden', `This needs the permission ${permission} in the realm ${realm}`);
    },
  };
}
export type May = ReturnType<typeof createMay>;
