// The exchange of a workload's token for one of ours, on the protocol surface. RFC 8693; its parameters come as a form.
import type { FastifyInstance } from 'fastify';
import { JWT_TOKEN_TYPE, TOKEN_EXCHANGE, workloadTokenRoute } from '../../contract/workload-identity.ts';
import { type Attempts, inRealm } from '../../domain/attempts.ts';
import { scopeNames } from '../../domain/scopes.ts';
import type { Form } from '../../http/form.ts';
import { formOf, realmOf, sendJson } from '../../http/oauth.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { Exchange } from './exchange.ts';

function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`);
  return value;
}

export function workloadTokenRoutes(
  app: FastifyInstance,
  { exchange, attempts }: { exchange: Exchange; attempts: Pick<Attempts, 'take'> },
): void {
  app.route({
    ...workloadTokenRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      const retryAfterSeconds = attempts.take(inRealm(realm, request.ip));
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many exchanges from this address', { retryAfterSeconds });
      const form = formOf(request);
      if (required(form, 'grant_type') !== TOKEN_EXCHANGE)
        throw new OAuthError('unsupported_grant_type', 'This endpoint knows token exchange alone');
      const subjectToken = required(form, 'subject_token');
      if (required(form, 'subject_token_type') !== JWT_TOKEN_TYPE)
        throw new OAuthError('invalid_request', `subject_token_type must be ${JWT_TOKEN_TYPE}`);
      const minted = await exchange.exchange({
        realm,
        subjectToken,
        scopes: scopeNames(form.get('scope')),
        resources: form.all('resource'),
        ipAddress: request.ip,
      });
      void reply.header('pragma', 'no-cache');
      if (!minted) return sendJson(reply.code(401), '{"error":"invalid_grant"}');
      return sendJson(
        reply,
        JSON.stringify({
          access_token: minted.accessToken,
          token_type: 'Bearer',
          expires_in: minted.expiresIn,
          scope: minted.scope,
        }),
      );
    },
  });
}
