// POST …/users/{userId}/password/reset-mail: an administrator has the server mail the link of a forgotten password.
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { mailPasswordReset } from '../../../contract/users.ts';
import type { Sql } from '../../../db/sql.ts';
import { principalOf } from '../../../domain/principal.ts';
import { siteOf } from '../../../domain/site.ts';
import { bind } from '../../../http/bind.ts';
import type { MustCover } from '../../people/users/service.ts';
import type { Recovery } from './service.ts';

export function passwordResetRoutes(
  app: FastifyInstance,
  {
    sql,
    recovery,
    mustCover,
    settings,
    baseUrl,
  }: {
    sql: Sql;
    recovery: Pick<Recovery, 'offer'>;
    mustCover: MustCover;
    settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
    baseUrl: string;
  },
): void {
  bind(app, mailPasswordReset, async ({ params: { realm, userId }, by, request }) => {
    const policy = await settings.of(realm);
    const [user] = await sql<{ username: string }>`
      select username from realm_user where realm_id = ${realm} and id = ${userId}`;
    if (!policy || !user) throw new Problem('not-found', 'There is no such user');
    await mustCover(principalOf(request), realm, userId, sql);
    const { origin } = siteOf(request, policy, baseUrl);
    const { expiresAt } = await recovery.offer({ realm, userId, username: user.username, origin, by });
    return { expiresAt: expiresAt.getTime() };
  });
}
