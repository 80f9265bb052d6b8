// Mounts registration on a surface of its own (JSON requests, OAuth's errors), and provisioning on the admin API.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import * as admin from '../../../contract/provisioning.ts';
import * as api from '../../../contract/registration.ts';
import { isUuid } from '../../../crypto/ids.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import { principalOf } from '../../../domain/principal.ts';
import type { RateLimit } from '../../../domain/rate-limit.ts';
import { bind } from '../../../http/bind.ts';
import { acceptEmptyJson } from '../../../http/json-body.ts';
import { network } from '../../../http/network.ts';
import { bearerOf, realmOf, sendJson } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { cursorId, decodeCursor, page } from '../../../http/paging.ts';
import { withoutNulls } from './metadata.ts';
import type { ProvisioningService } from './provisioning.ts';
import type { Registration } from './service.ts';

/** @throws OAuthError `invalid_client_metadata` naming the field */
function bodyOf<S extends z.ZodType>(request: FastifyRequest, schema: S): z.output<S> {
  const parsed = schema.safeParse(withoutNulls(request.body));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw new OAuthError(
    'invalid_client_metadata',
    `${field === '' ? 'The body' : field}: ${issue?.message ?? 'is invalid'}`,
  );
}

export function registrationRoutes(
  app: FastifyInstance,
  { registration, attempts }: { registration: Registration; attempts: Pick<RateLimit, 'take' | 'blocked' | 'fail'> },
): void {
  acceptEmptyJson(app);
  const byOf = (request: FastifyRequest): By => ({ actor: null, ipAddress: request.ip });
  /** The client's id and its token; a malformed id is refused like an unknown one. */
  const entry = (request: FastifyRequest) => {
    const id = String(Reflect.get(Object(request.params), 'clientInternalId'));
    const token = bearerOf(request);
    if (token === undefined || !isUuid(id)) throw new OAuthError('invalid_token', 'The access token is not valid here');
    return { realm: realmOf(request), id, token };
  };
  app.route({
    ...api.registerRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      const token = bearerOf(request);
      // The uses of an initial access token are counted by themselves: of its requests only those count here that fail.
      const invited = token !== undefined && (await registration.isInvited(realm, token));
      const key = invited ? `${realm} ${sha256(token).toString('hex')}` : `${realm} ${network(request.ip)}`;
      const retryAfterSeconds = invited ? attempts.blocked(key) : attempts.take(key);
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many registrations from this address', { retryAfterSeconds });
      const registered = async () =>
        registration.register(byOf(request), realm, bodyOf(request, api.ClientMetadata), token);
      const made = await registered().catch((error: unknown) => {
        if (invited) attempts.fail(key);
        throw error;
      });
      return sendJson(reply.code(201), JSON.stringify(made));
    },
  });
  app.route({
    ...api.readRegistrationRoute,
    handler: async (request, reply) => {
      const { realm, id, token } = entry(request);
      return sendJson(reply, JSON.stringify(await registration.read(realm, id, token)));
    },
  });
  app.route({
    ...api.updateRegistrationRoute,
    handler: async (request, reply) => {
      const { realm, id, token } = entry(request);
      const metadata = bodyOf(request, api.ClientMetadataUpdate);
      return sendJson(reply, JSON.stringify(await registration.update(byOf(request), realm, id, { token, metadata })));
    },
  });
  app.route({
    ...api.deleteRegistrationRoute,
    handler: async (request, reply) => {
      const { realm, id, token } = entry(request);
      await registration.remove(byOf(request), realm, id, token);
      return reply.code(204).send();
    },
  });
}

export function provisioningRoutes(app: FastifyInstance, provisioning: ProvisioningService): void {
  bind(app, admin.getProvisioning, ({ params }) => provisioning.get(params.realm));
  bind(app, admin.putProvisioning, ({ by, params, body, expect, request }) =>
    provisioning.put({ principal: principalOf(request), by }, params.realm, body, expect),
  );
  bind(app, admin.listInitialAccessTokens, async ({ params, query, request, reply }) => {
    const rows = await provisioning.tokens(params.realm, cursorId(query.cursor), query.limit + 1);
    return page({ request, reply }, rows, query.limit, (token) => [token.id]);
  });
  bind(app, admin.listUnusedRegisteredClients, async ({ params, query, request, reply }) => {
    const { days, limit } = query;
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await provisioning.unused(params.realm, { days, after, limit: limit + 1 });
    return page({ request, reply }, rows, limit, (client) => [client.clientId]);
  });
  bind(app, admin.createInitialAccessToken, ({ by, params, body, request }) =>
    provisioning.makeToken({ principal: principalOf(request), by }, params.realm, body),
  );
  bind(app, admin.deleteInitialAccessToken, async ({ by, params }) => {
    await provisioning.removeToken(by, params.realm, params.id);
    return undefined;
  });
}
