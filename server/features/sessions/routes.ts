// Binds the routes of contract/sessions.ts.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Problem } from '../../contract/problem.ts';
import { endSession, listSessions } from '../../contract/sessions.ts';
import { bind } from '../../http/bind.ts';
import { decodeCursor, page } from '../../http/paging.ts';
import type { Sessions } from './service.ts';

export function sessionRoutes(app: FastifyInstance, sessions: Sessions): void {
  bind(app, listSessions, async ({ params, query, request, reply }) => {
    const after = placeOf(decodeCursor(query.cursor, 2));
    const rows = await sessions.list(params.realm, { userId: query.userId, limit: query.limit, after });
    return page({ request, reply }, rows, query.limit, (s) => [String(s.startedAt), s.id]);
  });
  bind(app, endSession, async ({ params, by }) => {
    await sessions.endOne(params.realm, by, params.id, 'administrator');
    return undefined;
  });
}

const Place = z.tuple([z.coerce.number().int().min(0).max(8.64e15), z.uuid()]);

/** A cursor is text that anybody can make up. */
function placeOf(parts: string[] | undefined): { startedAt: Date; id: string } | undefined {
  if (!parts) return undefined;
  const place = Place.safeParse(parts);
  if (!place.success) throw new Problem('invalid-request', 'That is not a cursor of this list');
  return { startedAt: new Date(place.data[0]), id: place.data[1] };
}
