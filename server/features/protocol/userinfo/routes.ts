// GET and POST /realms/{realm}/oauth2/userinfo.
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { userinfoPostRoute, userinfoRoute } from '../../../contract/oauth.ts';
import { realmChallenge } from '../../../http/challenge.ts';
import { certificateOf } from '../../../http/client-certificate.ts';
import type { Cors } from '../../../http/cors.ts';
import { parseForm } from '../../../http/form.ts';
import { realmOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { type PresentedToken, presentedBy } from '../../../http/presented-token.ts';
import type { Userinfo } from './service.ts';

/** RFC 6750 §2: by header or in the body, not by both. */
function tokenOf(request: FastifyRequest, reply: FastifyReply, baseUrl: string): PresentedToken {
  const byHeader = presentedBy(request);
  const inBody = typeof request.body === 'string' ? parseForm(request.body).get('access_token') : undefined;
  if (byHeader !== undefined && inBody !== undefined) {
    const challenge = realmChallenge(baseUrl, realmOf(request), { error: 'invalid_request' });
    void reply.header('www-authenticate', challenge);
    throw new OAuthError('invalid_request', 'Send the token by header or in the body, not both');
  }
  if (byHeader) return byHeader;
  if (inBody !== undefined) return { token: inBody, x5t: certificateOf(request)?.thumbprint };
  // RFC 6750 §3.1: a request without a token gets no error code.
  void reply.header('www-authenticate', realmChallenge(baseUrl, realmOf(request)));
  throw new OAuthError('invalid_token', 'An access token is needed');
}

export function userinfoRoutes(
  app: FastifyInstance,
  { userinfo, cors, baseUrl }: { userinfo: Userinfo; cors: Cors; baseUrl: string },
): void {
  cors.preflight(app, userinfoRoute.url);
  const routes: { method: 'GET' | 'POST'; url: string; schema: FastifySchema }[] = [userinfoRoute, userinfoPostRoute];
  for (const route of routes) {
    app.route({
      ...route,
      handler: async (request, reply) => {
        await cors.allow(request, reply);
        const realm = realmOf(request);
        const { answer, client } = await userinfo.of(realm, tokenOf(request, reply, baseUrl));
        cors.restrict(request, reply, client);
        return reply.header('content-type', answer.type).send(answer.body);
      },
    });
  }
}
