// Owns: surfaces that are loaded and created with the first request to one of their addresses: applications behind the server's own.
// Does not own: their routes (server/compose/administration.ts, server/compose/later.ts), their guards.
// Implements: a start, and a server that is never asked, do without them (performance, "start" and "memory").
import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify';
import { once } from '../schedule/once.ts';
import { withTimeLimit } from '../schedule/time-limit.ts';
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

/** The answer to requests that would wait for the surface longer than `afterMs`. */
export interface Meanwhile {
  afterMs: number;
  answer(reply: FastifyReply): void | Promise<void>;
}

/**
 * Passes requests below the prefixes on to the surface, unread, if the server's own router doesn't know the address.
 * The surface answers all methods of such an address. Call it before routes are mounted.
 * @param meanwhile absent: each request waits until the surface is there
 */
export function onDemand(
  http: FastifyInstance,
  prefixes: readonly string[],
  make: () => Promise<Surface>,
  meanwhile?: Meanwhile,
) {
  const surface = once(make);
  const addresses = addressesOf(http);
  const isOfSurface = (path: string): boolean =>
    prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)) && !addresses.know(path);
  /** Why the surface could not be made, if no request waited for it any more: the next request gets the failure. */
  let unseen: { error: Error } | undefined;
  /** @returns undefined: it takes longer than a request should wait */
  async function wanted(): Promise<Surface | undefined> {
    if (!meanwhile) return surface.get();
    const { error } = unseen ?? {};
    unseen = undefined;
    if (error) throw error;
    const making = surface.get();
    const found = await withTimeLimit(making, meanwhile.afterMs, () => undefined);
    if (!found)
      making.catch((cause) => {
        unseen = { error: cause };
      });
    return found;
  }
  http.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || !isOfSurface(pathOf(request.url))) return done();
    wanted()
      .then((found) => {
        if (!found) return meanwhile?.answer(reply);
        request.handedOver = true;
        found.app.routing(request.raw, reply.hijack().raw);
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
