// POST /realms/{realm}/oauth2/introspect: for confidential clients. The answer is JSON, or a signed JWT (RFC 9701).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { introspectRoute } from '../../../contract/oauth.ts';
import { whileAway } from '../../../db/stale.ts';
import { formOf, realmOf, sendJson } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { type PresentedToken, presentedBy } from '../../../http/presented-token.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { clientRequestOf } from '../client-authentication/request.ts';
import type { ClientAuthentication } from '../client-authentication/service.ts';
import type { Introspection } from './service.ts';
import { INTROSPECTION_JWT, type SignedIntrospection, wantsJwt } from './signed.ts';

export function introspectRoutes(
  app: FastifyInstance,
  {
    authentication,
    introspection,
    signed,
    byToken,
    staleMs,
  }: {
    authentication: Pick<ClientAuthentication, 'authenticate'>;
    introspection: Introspection;
    signed: SignedIntrospection;
    /**
     * A resource server may send a token for the protection API instead of its secret (Federated Authorization for UMA
     * §5).
     */
    byToken(realm: string, presented: PresentedToken): Promise<{ client: ClientView }>;
    /** How old what it answers may be while the database is away. */
    staleMs: number;
  },
): void {
  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const realm = realmOf(request);
    const form = formOf(request);
    const presented = presentedBy(request);
    const { client, confidential } = presented
      ? { ...(await byToken(realm, presented)), confidential: true }
      : await authentication.authenticate(clientRequestOf(request, form));
    // A caller without authentication could probe for valid tokens (RFC 7662 §2.1).
    if (!confidential) throw new OAuthError('invalid_client', 'The client could not be authenticated');
    const token = form.get('token');
    if (token === undefined) throw new OAuthError('invalid_request', 'token is missing');
    const asJwt = wantsJwt(request.headers.accept);
    if (client.requireSignedResponse && !asJwt)
      throw new OAuthError('invalid_request', `This client has to ask for the answer as ${INTROSPECTION_JWT}`);
    const found = await introspection.of(realm, client, token);
    if (!asJwt) return sendJson(reply.header('vary', 'accept'), JSON.stringify(found));
    return reply
      .header('vary', 'accept')
      .type(INTROSPECTION_JWT)
      .send(await signed(realm, client, found));
  }
  app.route({ ...introspectRoute, handler: (request, reply) => whileAway(staleMs, () => answer(request, reply)) });
}
