// The common part of endpoints where a client begins a request for a user without a browser: pushed requests, devices.
// It does CORS, client authentication, a rate limit for public clients, and the audit of each refusal.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import type { Refusals } from '../../../events/refusals.ts';
import type { Cors } from '../../../http/cors.ts';
import type { Form } from '../../../http/form.ts';
import { formOf, oauthErrorOf, realmOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { clientRequestOf } from '../client-authentication/request.ts';
import type { ClientAuthentication } from '../client-authentication/service.ts';
import type { Documents } from './requests.ts';

export interface ClientEndpoint {
  authentication: Pick<ClientAuthentication, 'authenticate'>;
  /** The rate limit of clients that don't authenticate. */
  attempts: Pick<RateLimit, 'take'>;
  refusals: Pick<Refusals, 'record'>;
  documents: Documents;
  cors: Cors;
}

/** @param tooMany the message for such a client after too many requests from its address */
export async function answerClient(
  { authentication, attempts, refusals, documents, cors }: ClientEndpoint,
  { request, reply, tooMany }: { request: FastifyRequest; reply: FastifyReply; tooMany: string },
  work: (asked: { by: By; realm: string; client: ClientView; form: Form }) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const realm = realmOf(request);
  const form = formOf(request);
  await documents.ensure(realm, form.get('client_id') ?? '', request.ip);
  const { client, confidential } = await authentication.authenticate(clientRequestOf(request, form));
  cors.restrict(request, reply, client);
  const retryAfterSeconds = confidential ? undefined : attempts.take(inRealm(realm, request.ip));
  if (retryAfterSeconds !== undefined) throw new OAuthError('slow_down', tooMany, { retryAfterSeconds });
  const by = { actor: { type: 'client', id: client.id, name: client.clientId }, ipAddress: request.ip } as const;
  try {
    return await work({ by, realm, client, form });
  } catch (thrown) {
    const { error, status, description } = oauthErrorOf(thrown);
    if (status < 500)
      refusals.record({
        type: 'AUTHORIZATION_REFUSED',
        realm,
        by,
        clientId: client.clientId,
        outcome: 'failure',
        data: { error, reason: description ?? null, redirectUri: null },
      });
    throw thrown;
  }
}
