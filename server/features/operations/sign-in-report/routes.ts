// Binds the routes of contract/sign-in-report.ts. They check the further rights: a named client, a named flow, past attempts.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { getSignInReport, simulateSignIn, simulateUnsavedFlow } from '../../../contract/sign-in-report.ts';
import { NIL_ID } from '../../../crypto/ids.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { May } from '../admin-access/may.ts';
import type { SignInReports } from './service.ts';

interface Deps {
  reports: SignInReports;
  may: May;
  clients: { view(realm: string, clientId: string): Promise<{ id: string } | undefined> };
}

export function signInReportRoutes(app: FastifyInstance, { reports, may, clients }: Deps): void {
  const clientNamed = async (realm: string, clientId: string) => ({
    client: (await clients.view(realm, clientId))?.id ?? NIL_ID,
  });

  /** The network, the browsers and the hours of the user's former sign-ins. */
  const seesPast = async (request: FastifyRequest, realm: string, userId: string): Promise<boolean> => {
    const principal = principalOf(request);
    return (
      (await may.may(principal, realm, 'events:read')) ||
      (await may.may(principal, realm, 'sessions:read', { user: userId }))
    );
  };

  bind(app, getSignInReport, async ({ params: { realm, userId }, query: { clientId, attempts }, request }) => {
    if (clientId !== undefined) await may.require(request, realm, 'clients:read', await clientNamed(realm, clientId));
    const sees = await seesPast(request, realm, userId);
    return reports.report(realm, userId, { clientId, attempts: sees ? attempts : null });
  });

  bind(app, simulateSignIn, async ({ params: { realm, userId }, query, request }) => {
    if (query.clientId !== undefined)
      await may.require(request, realm, 'clients:read', await clientNamed(realm, query.clientId));
    if (query.flow !== undefined) await may.require(request, realm, 'flows:read');
    return reports.simulate(realm, userId, query, { seesPast: await seesPast(request, realm, userId) });
  });

  bind(app, simulateUnsavedFlow, async ({ params: { realm, userId }, body, request }) => {
    await may.require(request, realm, 'users:read', { user: userId });
    if (body.clientId !== undefined)
      await may.require(request, realm, 'clients:read', await clientNamed(realm, body.clientId));
    return reports.simulateUnsaved(realm, userId, body, { seesPast: await seesPast(request, realm, userId) });
  });
}
