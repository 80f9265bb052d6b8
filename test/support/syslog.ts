// Owns: a syslog receiver over TLS (RFC 5425) of a test's own: frames by octet counting, as they come.
// Does not own: its certificate; that is a receiver's of the same test (receiver.ts).
import net from 'node:net';
import tls from 'node:tls';

export interface SyslogReceiver {
  port: number;
  messages: string[];
  /** The next connection is reset when so many bytes have come, those of the handshake among them. */
  resetAfter: number | undefined;
  /** Each connection is reset as it comes. */
  away: boolean;
  /** How many were reset in the middle. */
  resets: number;
  stop(): Promise<void>;
}

/** The frames that are there as a whole, and the rest. */
export function framesOf(bytes: Buffer): { frames: string[]; rest: Buffer } {
  const frames: string[] = [];
  let at = 0;
  for (;;) {
    const blank = bytes.indexOf(0x20, at);
    if (blank < 0) break;
    const count = bytes.subarray(at, blank).toString();
    if (!/^[1-9]\d*$/.test(count)) throw new Error(`no octet count: ${count.slice(0, 40)}`);
    const end = blank + 1 + Number(count);
    if (end > bytes.length) break;
    frames.push(bytes.subarray(blank + 1, end).toString());
    at = end;
  }
  return { frames, rest: bytes.subarray(at) };
}

export async function startSyslog(options: tls.TlsOptions): Promise<SyslogReceiver> {
  const messages: string[] = [];
  const receiver: Omit<SyslogReceiver, 'port' | 'stop'> = { messages, resetAfter: undefined, away: false, resets: 0 };
  const inner = tls.createServer(options, (socket) => {
    let rest: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      const found = framesOf(Buffer.concat([rest, chunk]));
      rest = found.rest;
      messages.push(...found.frames);
    });
    socket.on('end', () => socket.end());
  });
  const sockets = new Set<net.Socket>();
  const outer = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (receiver.away) {
      socket.resetAndDestroy();
      return;
    }
    const onwards = net.connect({ port: portOf(inner), host: '127.0.0.1', allowHalfOpen: true });
    sockets.add(onwards);
    onwards.on('error', () => {});
    socket.pipe(onwards).pipe(socket);
    const { resetAfter } = receiver;
    receiver.resetAfter = undefined;
    let read = 0;
    if (resetAfter !== undefined)
      socket.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read <= resetAfter || socket.destroyed) return;
        receiver.resets += 1;
        socket.resetAndDestroy();
      });
  });
  for (const server of [inner, outer]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(receiver, {
    port: portOf(outer),
    async stop() {
      for (const socket of sockets) socket.destroy();
      for (const server of [outer, inner]) await new Promise((resolve) => server.close(resolve));
    },
  });
}

function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
