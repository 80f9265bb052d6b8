// Binds the routes of contract/agents.ts that server/resource doesn't mount for the resource.
import type { FastifyInstance } from 'fastify';
import {
  type Agent,
  type AgentInReview,
  activateAgent,
  listAgentsInReview,
  listUserAgents,
  reviewAgent,
  revokeAgent,
  suspendAgent,
} from '../../../contract/agents.ts';
import { bind } from '../../../http/bind.ts';
import { decodeCursor, page } from '../../../http/paging.ts';
import { callerOf } from '../../../resource/routes.ts';
import type { Move } from './moves.ts';
import type { Agents } from './service.ts';

const moves = { activate: activateAgent, suspend: suspendAgent, revoke: revokeAgent, review: reviewAgent };

export function agentRoutes(app: FastifyInstance, agents: Agents): void {
  for (const [move, route] of Object.entries(moves) as [Move, typeof activateAgent][])
    bind(app, route, (call) => agents.move(callerOf(call), call.params.realm, call.params.id, move));
  bind(app, listUserAgents, async ({ params, query, request, reply }) => {
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await agents.ofUser(params.realm, params.userId, { after, limit: query.limit + 1 });
    const shown = page({ request, reply }, rows, query.limit, (row) => [row.key]);
    return shown.map((row) => row.wire) as unknown as Agent[];
  });
  bind(app, listAgentsInReview, async ({ params, query, request, reply }) => {
    const [after] = decodeCursor(query.cursor, 1) ?? [];
    const rows = await agents.inReview(params.realm, { after, limit: query.limit + 1 });
    const shown = page({ request, reply }, rows, query.limit, (row) => [row.key]);
    return shown.map((row) => row.wire) as unknown as (typeof AgentInReview)['_output'][];
  });
}
