// GET and POST /realms/{realm}/oauth2/logout, and the confirmation page's form.
import type { FastifyInstance } from 'fastify';
import { logoutPostRoute, logoutRoute } from '../../../contract/oauth.ts';
import { parseForm } from '../../../http/form.ts';
import { formOf, paramsOf, realmOf } from '../../../http/oauth.ts';
import type { Logouts } from './service.ts';

export function logoutRoutes(app: FastifyInstance, logout: Logouts): void {
  app.route({
    ...logoutRoute,
    handler: (request, reply) => logout.begin(request, reply, realmOf(request), paramsOf(request)),
  });
  // Redirects to GET, with which the browser sends the session's cookie (SameSite=Lax) even after a post from another
  // site. A long hint stays short enough.
  app.route({
    ...logoutPostRoute,
    handler: async (request, reply) =>
      reply.redirect(`/realms/${realmOf(request)}/oauth2/logout?${new URLSearchParams(formOf(request).text)}`, 303),
  });
  app.post('/realms/:realm/oauth2/logout/confirm', { schema: { hide: true } }, (request, reply) => {
    const form = formOf(request);
    const original = parseForm(form.get('request') ?? '');
    return logout.confirm(request, reply, realmOf(request), { proof: form.get('proof'), original });
  });
}
