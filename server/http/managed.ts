// A single resource that a manager owns says so in its answer (decisions "Ownership").
import type { FastifyReply } from 'fastify';

export function markManaged(reply: FastifyReply, manager: string | undefined): void {
  // a manager's name is any text, a header's value isn't
  if (manager !== undefined) void reply.header('x-svc-managed-by', encodeURI(manager));
}
