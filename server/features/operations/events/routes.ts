// Owns: querying the audit log, one event, listing the event types, checking the log's chain.
// Does not own: the registry (contract/events.ts), writing the log (events/outbox.ts), forwarding.
// Implements: specification 6.1, 4.2 (GET /events); decisions "Webhooks" (GET /events/types).
import type { FastifyInstance } from 'fastify';
import {
  EventTypeName,
  getEvent,
  isAdminWrite,
  listEvents,
  listEventTypes,
  verifyEvents as verify,
} from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import { eventOf } from '../../../events/row.ts';
import { bind } from '../../../http/bind.ts';
import { cursorId, page } from '../../../http/paging.ts';
import * as store from './store.ts';
import { verifyEvents } from './verify.ts';

function typesOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const types = text
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
  const unknown = types.filter((type) => !EventTypeName.safeParse(type).success);
  if (unknown.length > 0) {
    const message = `unknown event type ${unknown.join(', ')}; see GET /events/types`;
    throw new Problem('invalid-request', `type: ${message}`, { errors: [{ path: 'type', message }] });
  }
  return types.includes('ADMIN_WRITE') ? [...types, ...EventTypeName.options.filter(isAdminWrite)] : types;
}

const dateOf = (ms: number | undefined): Date | undefined => (ms === undefined ? undefined : new Date(ms));

export function eventRoutes(app: FastifyInstance, { sql, seal }: { sql: Sql; seal: Seal }): void {
  bind(app, listEvents, async ({ params, query, request, reply }) => {
    const filter: store.EventFilter = {
      types: typesOf(query.type),
      clientId: query.clientId,
      userId: query.userId,
      outcome: query.outcome,
      actor: query.actor,
      subject: query.subject,
      ipAddress: query.ipAddress,
      from: dateOf(query.from),
      to: dateOf(query.to),
    };
    const { rows, until } = await store.listEvents(sql, params.realm, filter, {
      before: cursorId(query.cursor),
      limit: query.limit + 1,
    });
    const keyOf = ({ id }: { id: string }) => [id];
    return page({ request, reply }, rows.map(eventOf), query.limit, keyOf, until === undefined ? undefined : [until]);
  });
  bind(app, getEvent, async ({ params }) => {
    const row = await store.event(sql, params.realm, params.id);
    if (!row) throw new Problem('not-found', 'There is no such event, or age has deleted it');
    return eventOf(row);
  });
  bind(app, verify, ({ params, query }) => verifyEvents(sql, seal, params.realm, query));
  bind(app, listEventTypes, async () => [...EventTypeName.options]);
}
