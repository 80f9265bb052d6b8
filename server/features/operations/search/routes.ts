// Binds the route of contract/search.ts.
import type { FastifyInstance } from 'fastify';
import { search } from '../../../contract/search.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { Search } from './service.ts';

export function searchRoutes(app: FastifyInstance, { find }: Search): void {
  bind(app, search, ({ query, request }) => find(principalOf(request), query));
}
