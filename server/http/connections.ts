// Owns: closing connections when the server stops, so that no client can delay it.
// Does not own: finishing requests, which Fastify's `close` does.
// Implements: "stop is graceful: readiness off, requests finished, jobs handed back".
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Less than the 30 seconds that Kubernetes gives a pod to end. */
const GRACE_MS = 20_000;

/**
 * Node closes idle connections with the server, but a connection counts as idle only after its first request. Browsers
 * open some in advance, and an unused one would delay the stop for a minute.
 * @param opened the event with the socket that requests name
 */
export function trackConnections(
  server: Server,
  { graceMs = GRACE_MS, opened = 'connection' }: { graceMs?: number; opened?: 'connection' | 'secureConnection' } = {},
) {
  const unused = new Set<Socket>();
  let draining = false;
  let closing = false;
  server.on(opened, (socket: Socket) => {
    if (closing) return socket.destroy();
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  // before all other listeners, because some of them send the response at once
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    if (draining) response.setHeader('connection', 'close');
  });
  return {
    /**
     * From now on each response ends its connection. Load balancers choose another server only for new connections, so
     * clients move over, and no connection is cut while a request arrives.
     */
    drain(): void {
      draining = true;
    },
    /** Waits for `close`, which finishes requests; a client that doesn't read its response in time is cut off. */
    async during(close: () => PromiseLike<unknown>): Promise<void> {
      closing = true;
      const closed = close();
      for (const socket of unused) socket.destroy();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
