// The addresses of the API's documentation. The documentation is a server application of its own (openapi-document.ts),
// loaded at the first request for it: most servers get no such request, so the start doesn't load it.
// Specification 1: GET /v3/api-docs, GET /swagger-ui.html.
import type {} from '@fastify/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

export interface ApiDocumentation {
  /** The OpenAPI document of the mounted routes. */
  document(): Promise<{ paths?: Record<string, object | undefined> }>;
}

/** Call it before the routes are mounted. @param more the routes of surfaces that are applications of their own */
export function describeRoutes(
  app: FastifyInstance,
  { more, ...about }: { baseUrl: string; version: string; more: () => Promise<readonly RouteOptions[]> },
): ApiDocumentation {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    routes.push(route);
  });
  let made: Promise<FastifyInstance> | undefined;
  const make = async (): Promise<FastifyInstance> => {
    const [{ documentationOf }, others] = await Promise.all([import('./openapi-document.ts'), more()]);
    return documentationOf([...routes, ...others], about);
  };
  const documentation = (): Promise<FastifyInstance> => {
    const making = made ?? make();
    made = making;
    // the next request tries again
    making.catch(() => {
      if (made === making) made = undefined;
    });
    return making;
  };
  const show = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { routing } = await documentation();
    routing(request.raw, reply.hijack().raw);
    return reply;
  };
  const schema = { hide: true };
  for (const url of ['/v3/api-docs', '/swagger-ui', '/swagger-ui/*']) app.get(url, { schema }, show);
  app.get('/swagger-ui.html', { schema }, async (_, reply) => reply.redirect('/swagger-ui/'));
  return { document: async () => (await documentation()).swagger() };
}
