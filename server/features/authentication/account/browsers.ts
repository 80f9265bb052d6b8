// Forgetting one of the user's known browsers on the account page, which lists them with the sessions (session-list.ts).
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { userParty } from '../../../domain/party.ts';
import type { LiveSession } from '../../people/sessions/service.ts';
import type { Browsers } from '../risk/browsers.ts';
import type { Prove } from './freshness.ts';
import type { Visit } from './section.ts';

const Params = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .catch(''),
});

export interface BrowserRouteDeps {
  browsers: Pick<Browsers, 'forget'>;
  prove: Prove;
  isFresh(session: LiveSession): boolean;
}

export function browserRoute(app: FastifyInstance, visit: Visit, { browsers, prove, isFresh }: BrowserRouteDeps): void {
  app.post('/realms/:realm/account/browsers/:id/forget', { schema: { hide: true } }, async (request, reply) => {
    const { realm, session } = await visit(request);
    if (!session) return reply.redirect(`/realms/${realm}/login?for=account`, 303);
    // Without a fresh proof, another person at an open session could forget browsers, so that their own next sign-in
    // would count as the first.
    if (!isFresh(session)) return prove(request, reply, realm, session);
    const { userId: id, username } = session;
    const by = { actor: userParty(id, username), ipAddress: request.ip };
    await browsers.forget(by, realm, { id, username }, Params.parse(request.params).id);
    return reply.redirect(`/realms/${realm}/account?said=forgotten`, 303);
  });
}
