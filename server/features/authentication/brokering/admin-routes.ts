// A user's identities at identity providers, as administrators list and remove them.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/identity-links.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { KnownUser } from '../../people/credentials/service.ts';
import type { MustCover } from '../../people/users/service.ts';
import type { Links } from './links.ts';

export interface IdentityLinkDeps {
  sql: Sql;
  transact: Transact;
  links: Pick<Links, 'list' | 'remove'>;
  mustCover: MustCover;
}

export function identityLinkRoutes(app: FastifyInstance, { sql, transact, links, mustCover }: IdentityLinkDeps): void {
  async function load(on: Sql, realm: string, userId: string): Promise<KnownUser> {
    const [row] = await on<KnownUser>`
      select id, username from realm_user where realm_id = ${realm} and id = ${userId}`;
    if (!row) throw new Problem('not-found', 'There is no such user');
    return row;
  }

  bind(app, api.listIdentityLinks, async ({ params: { realm, userId } }) => {
    await load(sql, realm, userId);
    return links.list(realm, userId);
  });
  bind(app, api.deleteIdentityLink, async ({ params: { realm, userId, id }, by, request }) => {
    await transact(realm, async (tx) => {
      const user = await load(tx.sql, realm, userId);
      await mustCover(principalOf(request), realm, userId, tx.sql);
      if (!(await links.remove(tx, by, realm, user, { id })))
        throw new Problem('not-found', 'The user has no such identity');
    });
    return undefined;
  });
}
