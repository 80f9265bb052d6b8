// A single resource that a manager owns says so in its answer (decisions "Ownership").
import type { FastifyReply } from 'fastify';

/** Several where a resource is owned field by field, as settings are. */
export function markManaged(reply: FastifyReply, ...managers: (string | undefined)[]): void {
  // a manager's name is any text, a header's value isn't
  const names = managers.filter((name) => name !== undefined).map(encodeURI);
  if (names.length > 0) void reply.header('x-svc-managed-by', names.join(', '));
}
