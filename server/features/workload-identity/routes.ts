// Binds the admin routes of contract/workload-identity.ts, and the exchange.
import type { FastifyInstance } from 'fastify';
import * as api from '../../contract/workload-identity.ts';
import { managerOf } from '../../db/ownership.ts';
import type { Sql } from '../../db/sql.ts';
import { type Attempts, network } from '../../http/attempts.ts';
import { bind, principalOf } from '../../http/bind.ts';
import type { Form } from '../../http/form.ts';
import { markManaged } from '../../http/managed.ts';
import { formOf, realmOf, sendJson } from '../../http/oauth.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import { decodeCursor, page } from '../../http/paging.ts';
import { scopeNames } from '../../http/scopes.ts';
import type { Exchange } from './exchange.ts';
import type { WorkloadIdentities } from './service.ts';

export function workloadIdentityRoutes(
  app: FastifyInstance,
  { identities, sql }: { identities: WorkloadIdentities; sql: Sql },
): void {
  bind(app, api.listWorkloadIdentities, async ({ params, query, request, reply }) => {
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await identities.list(params.realm, after, query.limit + 1);
    return page({ request, reply }, rows, query.limit, (w) => [w.name]);
  });
  bind(app, api.createWorkloadIdentity, ({ by, params, body, request }) =>
    identities.create(principalOf(request), by, params.realm, body),
  );
  bind(app, api.getWorkloadIdentity, async ({ params, reply }) => {
    const credential = await identities.get(params.realm, params.id);
    markManaged(reply, await managerOf(sql, params.realm, 'workloadIdentity', credential.name));
    return credential;
  });
  bind(app, api.putWorkloadIdentity, async ({ by, params, body, expect, request, reply }) => {
    const credential = await identities.update(principalOf(request), by, params.realm, params.id, body, expect);
    markManaged(reply, await managerOf(sql, params.realm, 'workloadIdentity', credential.name));
    return credential;
  });
  bind(app, api.deleteWorkloadIdentity, async ({ by, params, expect, request }) => {
    await identities.remove(principalOf(request), by, params.realm, params.id, expect);
    return undefined;
  });
}

function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`);
  return value;
}

/** On the protocol surface. */
export function workloadTokenRoutes(
  app: FastifyInstance,
  { exchange, attempts }: { exchange: Exchange; attempts: Pick<Attempts, 'take'> },
): void {
  app.route({
    ...api.workloadTokenRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      const retryAfterSeconds = attempts.take(`${realm} ${network(request.ip)}`);
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many exchanges from this address', { retryAfterSeconds });
      const form = formOf(request);
      if (required(form, 'grant_type') !== api.TOKEN_EXCHANGE)
        throw new OAuthError('unsupported_grant_type', 'This endpoint knows token exchange alone');
      const subjectToken = required(form, 'subject_token');
      if (required(form, 'subject_token_type') !== api.JWT_TOKEN_TYPE)
        throw new OAuthError('invalid_request', `subject_token_type must be ${api.JWT_TOKEN_TYPE}`);
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
