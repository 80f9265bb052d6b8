import type { FastifyRequest } from 'fastify';

/** The realm of the path, if the route has one. */
export function pathRealm({ params }: FastifyRequest): string | undefined {
  return typeof params === 'object' && params !== null && 'realm' in params && typeof params.realm === 'string'
    ? params.realm
    : undefined;
}
