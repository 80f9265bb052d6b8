// Owns: surfaces that are loaded and created with the first request to one of their addresses: applications behind the server's own.
// Does not own: their routes (server/compose/administration.ts, server/compose/later.ts), their guards.
// Implements: a start, and a server that is never asked, do without them (performance, "start" and "memory").
import type { FastifyInstance, RouteOptions } from 'fastify';
import { once } from '../schedule/once.ts';
import { addressesOf, pathOf } from './not-found.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for a request that was passed on: the surface counts it. */
    handedOver?: true;
  }
}

export interface Surface {
  app: FastifyInstance;
  /** The mounted routes, for the API's documentation. */
  routes: readonly RouteOptions[];
}

/**
 * Passes requests below the prefixes on to the surface, unread, if the server's own router doesn't know the address.
 * The surface answers all methods of such an address. Call it before routes are mounted.
 */
export function onDemand(http: FastifyInstance, prefixes: readonly string[], make: () => Promise<Surface>) {
  const surface = once(make);
  const addresses = addressesOf(http);
  const isOfSurface = (path: string): boolean =>
    prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)) && !addresses.know(path);
  http.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || !isOfSurface(pathOf(request.url))) return done();
    surface
      .get()
      .then(({ app }) => {
        request.handedOver = true;
        app.routing(request.raw, reply.hijack().raw);
      })
      .catch(done);
  });
  return {
    surface: surface.get,
    async close(): Promise<void> {
      await (await surface.settled())?.app.close();
    },
  };
}
