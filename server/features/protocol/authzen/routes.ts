// Mounts the Authorization API (contract/authzen.ts): JSON requests, OAuth's errors. The caller is a resource server, by its secret or
// with a token for the protection API.
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import * as api from '../../../contract/authzen.ts';
import { preflightForAll } from '../../../http/cors.ts';
import { parseForm } from '../../../http/form.ts';
import { acceptEmptyJson, jsonBodyOf } from '../../../http/json-body.ts';
import { realmOf, sendJson } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { type PresentedToken, presentedBy } from '../../../http/presented-token.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { clientRequestOf } from '../client-authentication/request.ts';
import type { ClientAuthentication } from '../client-authentication/service.ts';
import type { Searches } from './search.ts';
import type { Access, Caller } from './service.ts';

const REQUEST_ID = 'x-request-id';

type Route = Pick<RouteOptions, 'url' | 'method' | 'schema' | 'config'>;

export interface AuthzenRoutesDeps {
  access: Access;
  searches: Searches;
  authentication: Pick<ClientAuthentication, 'authenticate'>;
  byToken(realm: string, presented: PresentedToken): Promise<{ client: ClientView }>;
  baseUrl: string;
}

export function authzenRoutes(app: FastifyInstance, deps: AuthzenRoutesDeps): void {
  const { access, searches, authentication, byToken } = deps;
  acceptEmptyJson(app);
  // §10.1.2: the caller recognizes its request by this
  app.addHook('onRequest', (request, reply, done) => {
    const id = request.headers[REQUEST_ID];
    if (typeof id === 'string') void reply.header(REQUEST_ID, id);
    done();
  });

  async function callerOf(request: FastifyRequest): Promise<Caller> {
    const realm = realmOf(request);
    const presented = presentedBy(request);
    const { client, confidential } = presented
      ? { ...(await byToken(realm, presented)), confidential: true }
      : await authentication.authenticate(clientRequestOf(request, parseForm('')));
    if (!confidential) throw new OAuthError('invalid_client', 'The client could not be authenticated');
    return { realm, server: client, ipAddress: request.ip };
  }

  const post = (route: Route, answer: (caller: Caller, request: FastifyRequest) => Promise<object>) =>
    app.route({
      ...route,
      handler: async (request, reply) =>
        sendJson(reply, JSON.stringify(await answer(await callerOf(request), request))),
    });
  post(api.evaluationRoute, (caller, request) => access.evaluate(caller, jsonBodyOf(request, api.Evaluation)));
  post(api.evaluationsRoute, (caller, request) => {
    const asked = jsonBodyOf(request, api.Evaluations);
    // §7.1: without a list, the body is a single request
    return (asked.evaluations?.length ?? 0) === 0
      ? access.evaluate(caller, jsonBodyOf(request, api.Evaluation))
      : access.evaluations(caller, asked);
  });
  post(api.subjectSearchRoute, (caller, request) => searches.subjects(caller, jsonBodyOf(request, api.SubjectSearch)));
  post(api.resourceSearchRoute, (caller, request) =>
    searches.resources(caller, jsonBodyOf(request, api.ResourceSearch)),
  );
  post(api.actionSearchRoute, (caller, request) => searches.actions(caller, jsonBodyOf(request, api.ActionSearch)));
}

/** Where everything is: public, readable from any origin. */
export function authzenMetadataRoutes(app: FastifyInstance, { baseUrl }: { baseUrl: string }): void {
  const routes: Route[] = [api.authzenConfigurationRoute, api.insertedAuthzenConfigurationRoute];
  for (const route of routes) {
    preflightForAll(app, route.url);
    app.route({
      ...route,
      handler: async (request, reply) => {
        const at = endpointsOf(baseUrl, realmOf(request));
        const document: api.AuthzenConfiguration = {
          policy_decision_point: at.realm,
          access_evaluation_endpoint: `${at.access}/evaluation`,
          access_evaluations_endpoint: `${at.access}/evaluations`,
          search_subject_endpoint: `${at.access}/search/subject`,
          search_resource_endpoint: `${at.access}/search/resource`,
          search_action_endpoint: `${at.access}/search/action`,
        };
        void reply.header('access-control-allow-origin', '*').header('cache-control', 'no-cache');
        return sendJson(reply, JSON.stringify(document));
      },
    });
  }
}
