// GET and POST /realms/{realm}/oauth2/authorize, the return from the sign-in, and the consent page's form.

import type { FastifyInstance } from 'fastify';
import { authorizePostRoute, authorizeRoute } from '../../../contract/oauth.ts';
import { formOf, paramsOf, realmOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { text } from '../../../http/texts.ts';
import type { Finished } from '../../authentication/sign-in/continuation.ts';
import { type Authorization, Kept, requestPath, resumePath } from './service.ts';

const LONGEST_QUERY = 12_000;

export function authorizeRoutes(
  app: FastifyInstance,
  { authorization, signIns }: { authorization: Authorization; signIns: Finished },
): void {
  app.route({
    ...authorizeRoute,
    handler: (request, reply) => authorization.begin(request, reply, realmOf(request), paramsOf(request)),
  });

  // Redirects to GET: a browser sends the session's cookie (SameSite=Lax) with a link from another site, but not with a
  // post.
  app.route({
    ...authorizePostRoute,
    handler: async (request, reply) => {
      const { text } = formOf(request);
      if (text.length > LONGEST_QUERY) throw new OAuthError('invalid_request', 'The request is too long');
      return reply.redirect(requestPath(realmOf(request), text), 303);
    },
  });

  app.get('/realms/:realm/oauth2/authorize/resume', { schema: { hide: true } }, async (request, reply) => {
    const realm = realmOf(request);
    // Valid once: a repeated request has to meet the demands again.
    const finished = await signIns.take(reply, request, realm, resumePath(realm));
    const kept = Kept.safeParse(finished?.request);
    if (!finished || !kept.success) {
      throw new OAuthError('invalid_request', 'The sign-in has expired', {
        page: { told: text('said.expired') },
      });
    }
    return authorization.resume(request, reply, realm, { ...kept.data, signedIn: finished.done });
  });

  app.post('/realms/:realm/oauth2/consent', { schema: { hide: true } }, (request, reply) =>
    authorization.consent(request, reply, realmOf(request), formOf(request)),
  );
}
