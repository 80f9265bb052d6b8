// Binds the routes of contract/gdpr.ts: for administrators, and for people on the account surface.
import type { FastifyInstance } from 'fastify';
import * as api from '../../../contract/gdpr.ts';
import { holderOf, principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { Gdpr } from './service.ts';

export function gdprAdminRoutes(app: FastifyInstance, gdpr: Gdpr): void {
  bind(app, api.exportUserData, ({ params, by }) => gdpr.export(by, params.realm, params.userId));
  bind(app, api.listUserConsents, ({ params }) => gdpr.consents(params.realm, params.userId));
  bind(app, api.revokeUserConsent, async ({ params: { realm, ...of }, by, request }) => {
    await gdpr.revokeConsentOf({ principal: principalOf(request), by }, realm, of);
    return undefined;
  });
  bind(app, api.eraseUser, async ({ params, by, expect, request }) => {
    await gdpr.erase({ principal: principalOf(request), by, expect }, params.realm, params.userId);
    return undefined;
  });
}

export function gdprAccountRoutes(app: FastifyInstance, gdpr: Gdpr): void {
  bind(app, api.exportOwnData, async ({ params, by, request, reply }) => {
    const { userId } = holderOf(request);
    void reply.header('content-disposition', `attachment; filename="${params.realm}-${userId}.json"`);
    return gdpr.export(by, params.realm, userId);
  });
  bind(app, api.listOwnConsents, ({ params, request }) => gdpr.consents(params.realm, holderOf(request).userId));
  bind(app, api.revokeOwnConsent, async ({ params, by, request }) => {
    await gdpr.revokeConsent(by, params.realm, { userId: holderOf(request).userId, clientId: params.clientId });
    return undefined;
  });
}
