// The receivers of events: HTTP, syslog over TLS, a file. Each knows when the other end has received a whole batch.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import type { Outbound } from '../../../http/outbound.ts';
import { retryAfterMs } from '../../../http/retry-after.ts';
import { type Forwarded, NotTaken, type Receiver, Refused, type Shape, shapes } from './event.ts';

export interface ForwardingTarget {
  url: URL;
  shape: Shape;
  /** The Authorization header of requests. */
  authorization?: string | undefined;
  /** PEM files of a client certificate, for syslog. */
  certificate?: { certFile: string; keyFile: string } | undefined;
}
export interface ReceiverDeps {
  outbound: Pick<Outbound, 'fetch' | 'connect'>;
  /** A PEM file of further certificate authorities to trust. */
  caFile?: string | undefined;
  /** This server's host name in syslog messages. */
  host: string;
}

export const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 16 * 1024;

export function createReceiver(target: ForwardingTarget, deps: ReceiverDeps): Receiver {
  const shape = shapes[target.shape];
  if (target.url.protocol === 'file:') return fileReceiver(target.url, shape);
  return target.url.protocol === 'https:' ? httpReceiver(target, shape, deps) : syslogReceiver(target, shape, deps);
}
type ShapeOf = (event: Forwarded) => object;

/** Status codes that reject the sent events themselves. Other codes concern the sender or are temporary. */
const REFUSALS = [400, 413, 422];

/** A JSON array with each request. */
const httpReceiver = (
  { url, authorization }: ForwardingTarget,
  shape: ShapeOf,
  { outbound }: ReceiverDeps,
): Receiver => ({
  async send(events) {
    const { status, headers } = await outbound.fetch(url.href, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      body: JSON.stringify(events.map(shape)),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      excess: 'cut',
    });
    if (status >= 200 && status < 300) return;
    const How = REFUSALS.includes(status) ? Refused : NotTaken;
    throw new How(`answered ${status}`, retryAfterMs(headers.get('retry-after')));
  },
});

const LOG_AUDIT = 13;
const SEVERITY = { success: 6, failure: 4, denied: 4 };

/** RFC 5424 in the octet counting of RFC 5425. */
function syslogFrame(event: Forwarded, shape: ShapeOf, host: string): Buffer {
  const priority = LOG_AUDIT * 8 + SEVERITY[event.outcome];
  const at = new Date(event.occurredAt).toISOString();
  const header = `<${priority}>1 ${at} ${host} realmkeeper - ${event.type.slice(0, 32)} - `;
  // §6.4: a BOM says that it is UTF-8
  const message = Buffer.from(`${header}\ufeff${JSON.stringify(shape(event))}`);
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}

/**
 * Syslog has no acknowledgement. So each batch has a connection of its own, and counts as received once the receiver has read
 * to its end and closed it. If a receiver dies before it has read all, the connection is reset.
 */
function syslogReceiver(
  { url, certificate }: ForwardingTarget,
  shape: ShapeOf,
  { outbound, caFile, host }: ReceiverDeps,
): Receiver {
  const servername = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || 6514;
  const secureContext = tls.createSecureContext({
    ca: [...tls.getCACertificates('default'), ...(caFile === undefined ? [] : [readFileSync(caFile, 'utf8')])],
    minVersion: 'TLSv1.2',
    ...(certificate && { cert: readFileSync(certificate.certFile), key: readFileSync(certificate.keyFile) }),
  });
  return {
    async send(events) {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const connection = await outbound.connect({ host: url.hostname, port, timeoutMs: TIMEOUT_MS });
      const socket = tls.connect({ socket: connection, servername, secureContext });
      try {
        await once(socket, 'secureConnect', { signal });
        const closed = once(socket, 'close', { signal });
        socket.resume();
        const written = writtenTo(socket, Buffer.concat(events.map((event) => syslogFrame(event, shape, host))));
        await Promise.race([written, closed.then(tooEarly)]);
        await endOf(socket);
        await closed;
      } catch (error) {
        const late = signal.aborted && `${url.host} did not read to the end and close within ${TIMEOUT_MS} ms`;
        throw new NotTaken(late || `${url.host}: ${error instanceof Error ? error.message : 'the connection failed'}`);
      } finally {
        socket.destroy();
      }
    },
  };
}

const tooEarly = (): never => {
  throw new Error('it closed the connection before it had everything');
};

const writtenTo = (socket: tls.TLSSocket, bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

/**
 * Sends the end of the data (close_notify). If the connection was reset just before, Node drops that fault, and the
 * following read seems to reach an orderly end. So this checks that the other end still exists before it sends our own
 * end: until then only a reset removes it.
 */
async function endOf(socket: tls.TLSSocket): Promise<void> {
  if (socket.readableEnded) tooEarly();
  socket.end();
  await new Promise<void>((resolve) => process.nextTick(resolve));
  if (socket.remoteAddress === undefined) throw new Error('the connection was reset');
}

const NEWLINE = 10;

/** A line for each event; a line that a full disk cut is ended first. */
const fileReceiver = (url: URL, shape: ShapeOf): Receiver => ({
  async send(events) {
    const file = await open(fileURLToPath(url), 'a+', 0o640);
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
      const cut = bytesRead > 0 && buffer[0] !== NEWLINE ? '\n' : '';
      await file.appendFile(cut + events.map((event) => `${JSON.stringify(shape(event))}\n`).join(''));
      await file.datasync();
    } finally {
      await file.close();
    }
  },
});
