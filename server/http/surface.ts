// A surface: the phases of its routes before their handlers. This file owns the phases, so that no surface can forget one: the route
// belongs to the surface → the caller is authenticated → the caller is authorized. Each surface has its own way to do the last two
// (features/operations/admin-access, features/authentication/account).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../contract/problem.ts';
import type { Route } from '../contract/route.ts';
import { type Served, type SurfaceName, surfaces } from '../contract/surface.ts';

/** The most bytes of a body whose sender is authenticated: an administrator's resources, a SCIM client's bulk. */
const BODY_BYTES = 1024 * 1024;

declare module 'fastify' {
  interface FastifyInstance {
    /** The surface that routes are mounted on. */
    surface?: SurfaceName;
  }
}

export interface Surface {
  name: SurfaceName;
  /** Fastify's error handler, for the surface's form of errors. */
  failed(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply>;
  /** Checks of every request, before authentication. */
  arrive?(request: FastifyRequest, reply: FastifyReply): Promise<void> | void;
  /** Authenticates the caller and sets `request.party`; not called for routes open to anybody. @throws if it fails */
  identify(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** @throws if the caller may not use the route */
  permit?(request: FastifyRequest, route: Route): Promise<void>;
}

/** Hooks for every route of `app` (an encapsulated plugin). */
export function mountSurface(app: FastifyInstance, { name, failed, arrive, identify, permit }: Surface): void {
  app.decorate('surface', name);
  app.setErrorHandler(failed);
  // Only JSON (415): another site's form could be posted with cookies and without a preflight.
  app.removeContentTypeParser(['text/plain', 'application/x-www-form-urlencoded']);
  // The caller is identified before the body is read.
  if (name === 'admin' || name === 'scim')
    app.addHook('onRoute', (route) => {
      const { contract } = route.config ?? {};
      if (contract && contract.principal !== 'anonymous') route.bodyLimit ??= BODY_BYTES;
    });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    const { contract } = request.routeOptions.config;
    if (!contract) throw new Problem('not-found');
    await arrive?.(request, reply);
    if (contract.principal === 'anonymous') return;
    await identify(request, reply);
    await permit?.(request, contract);
  });
}

/** @throws if a route is mounted on another surface than its contract says, so that the start fails */
export function refuseMisplaced(
  { surface: name }: FastifyInstance,
  { method, path, principal, surface }: Served & { method: string; path: string },
): void {
  const route = `${method} ${path}`;
  if (name !== surface) throw new Error(`${route} is of the surface ${surface}, and not of ${name ?? 'none'}`);
  if (!surfaces[surface].principals.includes(principal))
    throw new Error(`${route} is for the principal ${principal}, whom the surface ${surface} doesn't know`);
}
