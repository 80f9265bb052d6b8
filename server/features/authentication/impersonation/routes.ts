// POST …/users/{userId}/impersonate, and the page on which the administrator's browser gets the impersonated session.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { impersonateUser } from '../../../contract/user-access.ts';
import { principalOf } from '../../../domain/principal.ts';
import { isFromElsewhere, siteOf } from '../../../domain/site.ts';
import { bind } from '../../../http/bind.ts';
import { html, isolated } from '../../../http/html.ts';
import { sendPage } from '../../../http/pages.ts';
import { text, textHtml } from '../../../http/texts.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { type ArrivalDeps, arrivalPath, type Impersonation, redeemImpersonationToken } from './service.ts';

export function impersonationRoutes(admin: FastifyInstance, impersonation: Impersonation): void {
  bind(admin, impersonateUser, ({ params, by, request }) =>
    impersonation.begin({ principal: principalOf(request), by }, params.realm, params.userId),
  );
}

const Params = z.object({ realm: z.string() });
const Token = z.object({ token: z.string().max(200).catch('') });

export interface ImpersonationPageDeps extends ArrivalDeps {
  sessions: Pick<Sessions, 'arrive' | 'setCookie'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  baseUrl: string;
}

export function impersonationPages(pages: FastifyInstance, deps: ImpersonationPageDeps): void {
  const at = arrivalPath(':realm');

  async function brandOf(params: unknown) {
    const { realm } = Params.parse(params);
    const brand = await deps.settings.of(realm);
    if (!brand) throw new Problem('not-found', phrase('noRealm'));
    return { realm, brand };
  }
  // A form instead of a link: neither a link alone nor another site's form can start the session.
  pages.get(at, { schema: { hide: true } }, async (request, reply) => {
    const { realm, brand } = await brandOf(request.params);
    const { token } = Token.parse(request.query);
    const body = html`<p class="lead">${textHtml('impersonation.lead', { realm: isolated(brand.displayName) })}</p>
<form method="post" action="${arrivalPath(realm)}"><input type="hidden" name="token" value="${token}">
<div class="actions"><button class="full">${text('impersonation.goOn')}</button></div></form>`;
    return sendPage(reply, { realm, brand, title: text('impersonation.title'), body, plain: true });
  });
  pages.post(at, { schema: { hide: true } }, async (request, reply): Promise<FastifyReply> => {
    const { realm, brand } = await brandOf(request.params);
    if (isFromElsewhere(request, siteOf(request, brand, deps.baseUrl)))
      throw new Problem('csrf-mismatch', text('impersonation.elsewhere'));
    const arrived = await redeemImpersonationToken(deps, request, realm, Token.parse(request.body ?? {}).token);
    if (!arrived) {
      const body = html`<div class="error" role="alert"><p>${text('impersonation.late')}</p></div>`;
      return sendPage(reply, { realm, brand, title: text('impersonation.lateTitle'), body }, { status: 400 });
    }
    deps.sessions.setCookie(reply, arrived.session, arrived.token);
    return reply.redirect(`/realms/${realm}/account`, 303);
  });
}
