// How long a request's body may take: a stranger's, and whatever is small anyway, a short while; an import by somebody who is
// signed in to the admin API as long as the connection may last. Headers are node:http's to bound.
import type { IncomingMessage, RequestListener } from 'node:http';

const TIMEOUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

export function createBodyTime(mostMs: number) {
  const patient = new WeakSet<IncomingMessage>();
  return {
    /** This one may take its time. */
    allow: (request: IncomingMessage): void => void patient.add(request),
    before:
      (routes: RequestListener): RequestListener =>
      (request, response) => {
        const { headers, socket } = request;
        if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
          const timer = setTimeout(() => {
            if (request.complete || patient.has(request)) return;
            if (!response.headersSent) socket.write(TIMEOUT);
            socket.destroySoon();
          }, mostMs).unref();
          request.once('end', () => clearTimeout(timer));
          request.once('close', () => clearTimeout(timer));
        }
        routes(request, response);
      },
  };
}
