// Owns: a surface that is loaded and made when its addresses are first asked for: an application behind the server's own.
// Does not own: what is mounted there (server/admin-api.ts), its guards.
// Implements: a start, and a server that is never asked, do without it (performance, "start" and "memory").
import type { FastifyInstance, RouteOptions } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** It is a surface's own request by now, which counts it. */
    handedOver?: true;
  }
}

export interface Surface {
  app: FastifyInstance;
  /** As they are mounted, for the API's documentation. */
  routes: readonly RouteOptions[];
}

/**
 * Hands every request below `prefix` to the surface, unread. Nothing else may be mounted there: to the server's own router
 * these addresses are unknown, so that whatever the method is, the surface answers.
 */
export async function onDemand(http: FastifyInstance, prefix: string, make: () => Promise<Surface>) {
  let made: Promise<Surface> | undefined;
  const surface = (): Promise<Surface> => {
    if (made) return made;
    const making = make();
    made = making;
    // the next request tries again
    making.catch(() => {
      made = undefined;
    });
    return making;
  };
  await http.register(
    async (scope) => {
      scope.addHook('onRequest', (request, reply, done) => {
        surface().then(({ app }) => {
          request.handedOver = true;
          app.routing(request.raw, reply.hijack().raw);
        }, done);
      });
      scope.setNotFoundHandler(() => {
        throw new Error(`${prefix} was not handed over`);
      });
    },
    { prefix },
  );
  return {
    surface,
    async close(): Promise<void> {
      await (await made?.catch(() => undefined))?.app.close();
    },
  };
}
