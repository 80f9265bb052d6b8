// Names the managers of a single resource in a response header (decisions "Ownership").
import type { FastifyReply } from 'fastify';

/** There are several if a resource is owned field by field, as settings are. */
export function markManaged(reply: FastifyReply, ...managers: (string | undefined)[]): void {
  // a manager's name is any text, a header's value isn't
  const names = managers.filter((name) => name !== undefined).map(encodeURI);
  if (names.length > 0) void reply.header('x-svc-managed-by', names.join(', '));
}
