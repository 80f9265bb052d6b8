// Binds the routes of contract/invitations.ts.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import * as api from '../../../contract/invitations.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { principalOf } from '../../../domain/principal.ts';
import { siteOf } from '../../../domain/site.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import type { Invitations, Inviter } from './service.ts';

export function invitationRoutes(
  app: FastifyInstance,
  {
    invitations,
    settings,
    baseUrl,
  }: {
    invitations: Invitations;
    settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
    baseUrl: string;
  },
): void {
  async function inviter(request: FastifyRequest, by: By, realm: string): Promise<Inviter> {
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', `There is no realm ${realm}`);
    const { origin } = siteOf(request, policy, baseUrl);
    return { principal: principalOf(request), by, origin, settings: policy };
  }
  bind(app, api.listInvitations, async ({ params, query, request, reply }) => {
    const [email, id] = decodeCursor(query.cursor, 2) ?? [];
    const after = email === undefined || id === undefined ? undefined : ([email, id] as const);
    const rows = await invitations.list(params.realm, principalOf(request), {
      organization: query.organization,
      after,
      limit: query.limit + 1,
    });
    return page({ request, reply }, rows, query.limit, (row) => [row.email, row.id]);
  });
  bind(app, api.createInvitation, async ({ params, body, by, request }) =>
    invitations.invite(await inviter(request, by, params.realm), body),
  );
  bind(app, api.resendInvitation, async ({ params, body, by, request }) =>
    invitations.resend(await inviter(request, by, params.realm), params.id, body ?? {}),
  );
  bind(app, api.revokeInvitation, async ({ params, by, request }) => {
    await invitations.revoke({ principal: principalOf(request), by }, params.realm, params.id);
    return undefined;
  });
}
