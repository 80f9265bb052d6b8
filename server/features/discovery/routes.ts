// GET discovery (both forms) and JWKS. Public, so readable from any origin (no cookie, nothing of anybody's).
// What has passed here once is ready: http/ready.ts answers it from then on, until it changes. Specification 4.11.
import type { FastifyInstance, FastifySchema } from 'fastify';
import {
  discoveryRoute,
  insertedProtectedResourceRoute,
  jwksRoute,
  protectedResourceRoute,
  serverMetadataRoute,
} from '../../contract/oauth.ts';
import { umaConfigurationRoute } from '../../contract/uma.ts';
import { realmOf } from '../../http/oauth.ts';
import type { ReadyAnswer, ReadyDocument } from '../../http/ready.ts';
import type { Discovery } from './service.ts';

interface Served extends Pick<ReadyDocument, 'ready'> {
  route: { method: 'GET'; url: string; schema: FastifySchema };
  read(realm: string): Promise<ReadyAnswer>;
}

const routesOf = ({ document, resource, uma, jwks }: Discovery): Served[] => [
  { route: discoveryRoute, ...document },
  { route: serverMetadataRoute, ...document },
  { route: protectedResourceRoute, ...resource },
  { route: insertedProtectedResourceRoute, ...resource },
  { route: umaConfigurationRoute, ...uma },
  { route: jwksRoute, ...jwks },
];

/** Only a realm that passed the checks of the routes below has anything ready. */
export const readyDocuments = (discovery: Discovery): ReadyDocument[] =>
  routesOf(discovery).map(({ route: { url }, ready }) => ({ url, ready }));

/** On the surface of the protocol endpoints, which checks the realm. */
export function discoveryRoutes(app: FastifyInstance, discovery: Discovery): void {
  for (const { route, read } of routesOf(discovery))
    app.route({
      ...route,
      handler: async (request, reply) => {
        const { headers, body } = await read(realmOf(request));
        // of an answer, not of a failure
        return reply.headers(headers).send(body);
      },
    });
}
