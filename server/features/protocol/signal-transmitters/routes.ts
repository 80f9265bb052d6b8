// Mounts the endpoint to which trusted transmitters push (contract/ssf.ts): a token as the body, and RFC 8935's answers.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  connectSignalTransmitter,
  disconnectSignalTransmitter,
  getSignalConnection,
} from '../../../contract/signal-transmitters.ts';
import { SET_TYPE } from '../../../contract/signals.ts';
import { pushedEventRoute } from '../../../contract/ssf.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { bind } from '../../../http/bind.ts';
import { realmOf, sendJson } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Connecting } from './connecting.ts';
import type { Receiving } from './receiving.ts';
import { SetRefusal } from './token.ts';

const BODY_LIMIT = 64 * 1024;

export function signalRoutes(
  app: FastifyInstance,
  { receiving, attempts }: { receiving: Receiving; attempts: Pick<RateLimit, 'take'> },
): void {
  app.addContentTypeParser(SET_TYPE, { parseAs: 'string', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
    done(null, body),
  );
  const nameOf = ({ params }: FastifyRequest): string => String(Reflect.get(Object(params), 'name'));
  app.route({
    ...pushedEventRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      const retryAfterSeconds = attempts.take(inRealm(realm, request.ip));
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many events from this address', { retryAfterSeconds });
      const transmitter = await receiving.pushing(realm, nameOf(request));
      if (!transmitter) throw new OAuthError('not_found', 'There is no such transmitter');
      try {
        receiving.authenticate(realm, transmitter, request.headers.authorization);
        if (typeof request.body !== 'string' || request.headers['content-type']?.split(';')[0]?.trim() !== SET_TYPE)
          throw new SetRefusal('invalid_request', `Send a token as ${SET_TYPE}`);
        await receiving.receive(realm, transmitter, request.body.trim(), request.ip);
      } catch (error) {
        if (!(error instanceof SetRefusal)) throw error;
        const status = error.err === 'authentication_failed' ? 401 : 400;
        void reply.code(status).header('content-language', 'en');
        return sendJson(reply, JSON.stringify({ err: error.err, description: error.message }));
      }
      return reply.code(202).send();
    },
  });
}

/** The realm's stream at a transmitter, below the admin API. */
export function connectionRoutes(app: FastifyInstance, connecting: Connecting): void {
  bind(app, getSignalConnection, ({ params }) => connecting.read(params.realm, params.id));
  bind(app, connectSignalTransmitter, ({ by, params }) => connecting.connect(by, params.realm, params.id));
  bind(app, disconnectSignalTransmitter, async ({ by, params }) => {
    await connecting.disconnect(by, params.realm, params.id);
    return undefined;
  });
}
