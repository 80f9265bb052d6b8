// Mounts the transmitter's endpoints (contract/ssf.ts): JSON requests, OAuth's errors.
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { deleteSignalStream, listSignalStreams } from '../../../contract/signal-receivers.ts';
import { POLL, PUSH } from '../../../contract/signals.ts';
import * as api from '../../../contract/ssf.ts';
import { bind } from '../../../http/bind.ts';
import { preflightForAll } from '../../../http/cors.ts';
import { parseForm, queryOf } from '../../../http/form.ts';
import { acceptEmptyJson, jsonBodyOf } from '../../../http/json-body.ts';
import { realmOf, sendJson } from '../../../http/oauth.ts';
import { cursorId, page } from '../../../http/paging.ts';
import { presentedBy } from '../../../http/presented-token.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import type { Receiver, Streams } from './service.ts';
import type { StreamSubjects } from './subjects.ts';

type Route = Pick<RouteOptions, 'url' | 'method' | 'schema' | 'config'>;

export function ssfRoutes(
  app: FastifyInstance,
  { streams, subjects }: { streams: Streams; subjects: StreamSubjects },
): void {
  acceptEmptyJson(app);
  const streamIn = (request: FastifyRequest) => parseForm(queryOf(request.url)).get('stream_id');

  /** @param answer its result is sent as JSON; undefined: an empty body */
  const serve = (
    route: Route,
    answer: (receiver: Receiver, request: FastifyRequest) => Promise<object | undefined>,
    status = 200,
  ) =>
    app.route({
      ...route,
      handler: async (request, reply) => {
        const options = { ipAddress: request.ip, reads: request.method === 'GET' };
        const receiver = await streams.caller(realmOf(request), presentedBy(request), options);
        const body = await answer(receiver, request);
        void reply.code(status);
        return body === undefined ? reply.send() : sendJson(reply, JSON.stringify(body));
      },
    });
  const nothing = (work: Promise<void>): Promise<undefined> => work.then(() => undefined);

  serve(api.createStreamRoute, (by, request) => streams.create(by, jsonBodyOf(request, api.StreamInput)), 201);
  serve(api.readStreamRoute, (by, request) => {
    const id = streamIn(request);
    return id === undefined ? streams.list(by) : streams.read(by, id);
  });
  serve(api.updateStreamRoute, (by, request) =>
    streams.change(by, jsonBodyOf(request, api.StreamUpdate), { whole: false }),
  );
  serve(api.replaceStreamRoute, (by, request) =>
    streams.change(by, jsonBodyOf(request, api.StreamReplacement), { whole: true }),
  );
  serve(api.deleteStreamRoute, (by, request) => nothing(streams.remove(by, streamIn(request))), 204);
  serve(api.readStatusRoute, (by, request) => streams.status(by, streamIn(request)));
  serve(api.updateStatusRoute, (by, request) => streams.setStatus(by, jsonBodyOf(request, api.StatusInput)));
  const subject = (added: boolean) => (by: Receiver, request: FastifyRequest) => {
    const { stream_id: id, subject: named } = jsonBodyOf(request, api.SubjectInput);
    return nothing(subjects.set(by, id, named, added));
  };
  serve(api.addSubjectRoute, subject(true));
  serve(api.removeSubjectRoute, subject(false), 204);
  serve(
    api.verificationRoute,
    (by, request) => {
      const { stream_id: id, state } = jsonBodyOf(request, api.VerificationInput);
      return nothing(streams.verify(by, id, state));
    },
    204,
  );
  serve(api.pollRoute, (by, request) =>
    streams.poll(
      by,
      String(Reflect.get(Object(request.params), 'id')),
      jsonBodyOf(request, api.PollInput),
      () => request.raw.socket.destroyed,
    ),
  );
}

/** Where everything is: public, readable from any origin. */
export function ssfMetadataRoutes(
  app: FastifyInstance,
  { baseUrl, settings }: { baseUrl: string; settings: { issuer(realm: string): Promise<string> } },
): void {
  const routes: Route[] = [api.ssfConfigurationRoute, api.insertedSsfConfigurationRoute];
  for (const route of routes) {
    preflightForAll(app, route.url);
    app.route({
      ...route,
      handler: async (request, reply) => {
        const realm = realmOf(request);
        const at = endpointsOf(baseUrl, realm);
        const document: api.SsfConfiguration = {
          spec_version: '1_0',
          issuer: await settings.issuer(realm),
          jwks_uri: at.jwks,
          delivery_methods_supported: [PUSH, POLL],
          configuration_endpoint: `${at.signals}/streams`,
          status_endpoint: `${at.signals}/status`,
          add_subject_endpoint: `${at.signals}/subjects/add`,
          remove_subject_endpoint: `${at.signals}/subjects/remove`,
          verification_endpoint: `${at.signals}/verification`,
          authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
        };
        void reply.header('access-control-allow-origin', '*').header('cache-control', 'no-cache');
        return sendJson(reply, JSON.stringify(document));
      },
    });
  }
}

/** The streams of a receiver below the admin API. */
export function streamAdminRoutes(app: FastifyInstance, streams: Streams): void {
  bind(app, listSignalStreams, async ({ params, query, request, reply }) => {
    const after = cursorId(query.cursor);
    const rows = await streams.shown(params.realm, params.id, { after, limit: query.limit + 1 });
    return page({ request, reply }, rows, query.limit, ({ id }) => [id]);
  });
  bind(app, deleteSignalStream, async ({ by, params }) => {
    await streams.end(by, params.realm, params.id, params.streamId);
    return undefined;
  });
}
