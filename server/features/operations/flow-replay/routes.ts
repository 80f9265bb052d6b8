// Binds the route of contract/flow-replay.ts. Sign-ins of the past need `events:read`, their users `users:read`.
import type { FastifyInstance } from 'fastify';
import { replayFlow } from '../../../contract/flow-replay.ts';
import { hasPermission, principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { May } from '../admin-access/may.ts';
import type { FlowReplays } from './service.ts';

export function flowReplayRoutes(app: FastifyInstance, { replays, may }: { replays: FlowReplays; may: May }): void {
  bind(app, replayFlow, async ({ params: { realm, alias }, body, request }) => {
    await may.require(request, realm, 'events:read');
    const seesUsers = hasPermission(principalOf(request), realm, 'users:read');
    return replays.replay(realm, alias, body, { seesUsers });
  });
}
