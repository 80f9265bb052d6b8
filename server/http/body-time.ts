// How long a request's body may take. An unauthenticated client's body must arrive within a short time. The body of a
// signed-in administrator, such as an import, may take as long as a request (REQUEST_MS). It must keep arriving: the request ends if no
// byte comes for that short time and none is left to read. node:http bounds the time of headers.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

const BODY_MS = 30_000;
const TIMEOUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

/**
 * One for all applications that requests pass through: the outermost one watches bodies, and the one that authenticates
 * the caller calls `allow`.
 */
export interface BodyTime {
  /** Allows the body of this request to take longer. */
  allow(request: IncomingMessage): void;
  before(routes: RequestListener): RequestListener;
}

/** @param mostMs the limit for the whole body of an unauthenticated client, and for pauses in an administrator's */
export function createBodyTime(mostMs = BODY_MS): BodyTime {
  const patient = new WeakSet<IncomingMessage>();

  function watch(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    let arrived = socket.bytesRead;
    /**
     * Whether bytes waited for the server at the last check: then the server itself is slow, and the client can't
     * continue.
     */
    let unread = false;
    let isOver = false;
    const look = () => {
      if (isOver || request.complete) return;
      const goesOn = socket.bytesRead > arrived || unread || request.readableLength > 0;
      if (patient.has(request) && goesOn) {
        arrived = socket.bytesRead;
        unread = request.readableLength > 0;
        timer = soon();
        return;
      }
      if (!response.headersSent) socket.write(TIMEOUT);
      socket.destroySoon();
    };
    // After a pause of the process its timers run first: setImmediate lets the server read data that has arrived
    // meanwhile.
    const soon = () => setTimeout(() => setImmediate(look), mostMs).unref();
    const stop = () => {
      isOver = true;
      clearTimeout(timer);
    };
    let timer = soon();
    request.once('end', stop);
    request.once('close', stop);
  }

  // Most bodies arrive in one piece with their headers. Watching a request costs a timer, so only requests whose body
  // is still missing at the end of the event loop's turn are watched.
  let arriving: [IncomingMessage, ServerResponse][] = [];
  function watchIncomplete(): void {
    const begun = arriving;
    arriving = [];
    for (const [request, response] of begun) if (!request.complete && !request.destroyed) watch(request, response);
  }

  return {
    allow: (request) => void patient.add(request),
    before: (routes) => (request, response) => {
      const { headers } = request;
      if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
        if (arriving.length === 0) setImmediate(watchIncomplete);
        arriving.push([request, response]);
      }
      routes(request, response);
    },
  };
}
