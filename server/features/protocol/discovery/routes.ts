// GET below /.well-known (discovery in both forms, protected resources, UMA) and /oauth2/jwks. Public and readable from
// any origin: no cookies, no personal data. After the first response, http/ready.ts serves it until it changes.
// Specification 4.11.
import type { FastifyInstance, FastifySchema } from 'fastify';
import { discoveryRoute, jwksRoute, serverMetadataRoute } from '../../../contract/oauth.ts';
import {
  adminProtectedResourceRoute,
  insertedProtectedResourceRoute,
  protectedResourceRoute,
} from '../../../contract/protected-resources.ts';
import { umaConfigurationRoute } from '../../../contract/uma-configuration.ts';
import { whileAway } from '../../../db/stale.ts';
import { preflightForAll } from '../../../http/cors.ts';
import { parseForm, queryOf } from '../../../http/form.ts';
import { realmOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ReadyAnswer, ReadyDocument } from '../../../http/ready.ts';
import type { Discovery } from './service.ts';

interface Served extends Pick<ReadyDocument, 'ready'> {
  route: { method: 'GET'; url: string; schema: FastifySchema };
  read(realm: string): Promise<ReadyAnswer>;
  /** Another response of the address, selected by a parameter. */
  of?(realm: string, resource: string): Promise<ReadyAnswer | undefined>;
}

const routesOf = ({ document, resource, declared, uma, jwks }: Discovery): Served[] => [
  { route: discoveryRoute, ...document },
  { route: serverMetadataRoute, ...document },
  { route: protectedResourceRoute, ...resource, of: declared },
  { route: insertedProtectedResourceRoute, ...resource, of: declared },
  { route: umaConfigurationRoute, ...uma },
  { route: jwksRoute, ...jwks },
];

/** The addresses of all documents. */
export const discoveryUrls: readonly string[] = [
  discoveryRoute,
  serverMetadataRoute,
  protectedResourceRoute,
  insertedProtectedResourceRoute,
  umaConfigurationRoute,
  jwksRoute,
].map(({ url }) => url);

/** Documents that are built already. Only realms that passed the checks of the routes below have any. */
export const readyDocuments = (discovery: Discovery): ReadyDocument[] =>
  routesOf(discovery).map(({ route: { url }, ready }) => ({ url, ready }));

/**
 * Mounts the routes on the surface of the protocol endpoints, which checks the realm.
 * @param staleMs how old the documents may be while the database is away
 */
export function discoveryRoutes(app: FastifyInstance, discovery: Discovery, staleMs: number): void {
  for (const { route, read, of } of routesOf(discovery)) {
    preflightForAll(app, route.url);
    app.route({
      ...route,
      handler: async (request, reply) => {
        const realm = realmOf(request);
        const resource = of && parseForm(queryOf(request.url)).get('resource');
        const answer = await whileAway(staleMs, () =>
          of && resource !== undefined ? of(realm, resource) : read(realm),
        );
        if (!answer) throw new OAuthError('not_found', 'The realm has no such resource');
        // The headers are for successes only, so they are set here.
        return reply.headers(answer.headers).send(answer.body);
      },
    });
  }
}

/** The admin API's metadata, which belongs to no realm and so to no realm's surface. */
export function adminResourceRoute(app: FastifyInstance, discovery: Discovery): void {
  preflightForAll(app, adminProtectedResourceRoute.url);
  app.route({
    ...adminProtectedResourceRoute,
    handler: async (_, reply) => {
      const { headers, body } = await discovery.admin();
      return reply.headers(headers).send(body);
    },
  });
}
